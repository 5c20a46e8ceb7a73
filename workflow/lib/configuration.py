"""The configuration of a run: checked against the schema and filled in with its defaults.

Runs whose data or model differ cannot share a results folder; ``origin`` is what must not change.

python -m workflow.lib.configuration config/paper.yaml    check that Snakemake can read a file
"""

from __future__ import annotations

import contextlib
import copy
import difflib
import functools
import hashlib
import json
import math
import operator
import sys
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, cast

import jsonschema
import yaml

from darksecrets.run import analyses
from darksecrets.run.errors import InputError
from darksecrets.run.files import read_yaml, write_json
from workflow.lib import constants, tasks

SCHEMA = Path(__file__).parents[1] / "schemas" / "config.schema.yaml"

# Keys that a source uses besides `source` itself; other keys do not distinguish runs.
_ORIGIN: dict[str, dict[str | None, tuple[str, ...]]] = {
    "data": {None: (), "builtin": (), "tsv": ("folder",), "hub": ("repository", "revision")},
    "model": {"builtin": (), "folder": ("folder",), "hub": ("id", "revision")},
}

_IN_WORDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "minItems": "at least {} in the list",
    "maxItems": "at most {} in the list",
    "enum": "one of {}",
}
"""What keywords of the schema expect, where the keyword itself is no plain English."""

_BUILTIN_RATE = 3e-4  # a model of 2.4 million parameters takes larger steps than BERT

# Keys of earlier versions, and what became of them.
_MOVED = {
    "look": "now `inspect`, with the same keys",
    "measures": "now `attention_measures.measures`, without `weights`",
    "treebank": "now `syntax`, with the same keys",
    "coreference": "now `syntax.coreference`, with the same keys",
    "data.train": "now `data.size`, both numbers: [training, validation]",
    "data.validation": "now `data.size`, both numbers: [training, validation]",
    "framenet.folder": "now `framenet.path`",
    "framenet.file": "now `framenet.path`",
    "inspect.drawn": "no longer a setting: the first ten examples are drawn",
    **{
        f"compression.{name}": f"now `compression.amounts.{name}`"
        for name in ("heads", "heads_and_mlps", "weights", "layers", "rank")
    },
    "landscape.surface.training": "now `landscape.surface.examples`, of both splits",
    "importance.nodes": "no longer a setting: remove it",
    "landscape.surface.radius": "no longer a setting: remove it",
    "landscape.surface.precision": "no longer a setting: remove it",
    "landscape.flatness.splits": "no longer a setting: the training examples are measured",
    "landscape.flatness.radius": "no longer a setting: remove it",
    "landscape.flatness.epsilon": "no longer a setting: remove it",
    "landscape.flatness.filter_epsilon": "no longer a setting: remove it",
}

_DEEPEST, _MOST_VALUES = 50, 1_000_000
_DIGEST = "sha256"  # key of `origin.json`
_LONGEST_FOUND = 200  # characters of a value that a message shows

# Local sources, and the key that holds their path.
_LOCAL = (
    *(("data", "tsv", "folder"), ("model", "folder", "folder")),
    *(("framenet", "tsv", "path"), ("syntax", "conllu", "path")),
)
_SECTIONS = tuple(section for section, _, _ in _LOCAL)


def load_schema() -> dict[str, Any]:
    """The schema as a dictionary, with the sections of all analyses beyond the paper."""
    schema: dict[str, Any] = read_yaml(SCHEMA)
    known = analyses.find()
    schema["properties"]["analyses"]["items"] = {"enum": [analyses.PAPER, *known, analyses.ALL]}
    for one in known.values():
        if one.settings:
            schema["properties"][one.name] = one.settings.schema()
    return schema


class _Loader(yaml.SafeLoader):
    """Reads YAML in which every key occurs once; PyYAML itself takes the last without a word."""

    def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
        lines: dict[tuple[str, str], int] = {}
        for key, _ in node.value:
            line, name = key.start_mark.line + 1, (key.tag, str(key.value))
            if name in lines:
                raise InputError(
                    f"line {line}: found the key '{key.value}', which is already in line "
                    f"{lines[name]}, expected it once. Remove one of them."
                )
            lines[name] = line
        return super().construct_mapping(node, deep)

    def construct_object(self, node: yaml.Node, deep: bool = False) -> Any:  # noqa: ANN401
        try:
            return super().construct_object(node, deep)
        except (ValueError, OverflowError) as error:  # a date or a number that does not exist
            raise InputError(
                f"line {node.start_mark.line + 1}: found {_short(node.value)}, which YAML reads as "
                f"a date or a number ({error}), expected a value that exists. Correct it, or put "
                "it in quotes."
            ) from None


def read(file: Path) -> dict[str, Any]:
    """Read a configuration file, YAML or JSON.

    Raises:
        InputError: If it is not there, or is not YAML whose keys occur once; the message names the
            line.
    """
    expected = "expected a YAML file with the keys of a run, such as config/config.yaml"
    if not file.is_file():
        found = "a folder" if file.is_dir() else "no such file"
        raise InputError(f"{file}: found {found}, {expected}. Correct the path.")
    content = b""
    try:
        content = file.read_bytes()
        text = content.decode("utf-8-sig")
        config = yaml.load(text, _Loader)
        _check_depth(config)
    except UnicodeDecodeError as error:
        line = content[: error.start].count(b"\n") + 1
        found = f"found the byte 0x{content[error.start]:02x}, expected UTF-8"
        raise InputError(f"{file}, line {line}: {found}. Save the file as UTF-8.") from None
    except InputError as error:
        raise InputError(f"{file}, {error}") from None
    except RecursionError:
        raise InputError(
            f"{file}: found keys nested without end, {expected}. Correct the aliases (*name)."
        ) from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}).") from None
    except yaml.YAMLError as error:
        with contextlib.suppress(ValueError):  # JSON may be indented with tabs
            return cast("dict[str, Any]", json.loads(text))
        raise InputError(f"{file}{_problem(error)}, {expected}. Correct that line.") from None
    if not isinstance(config, dict):
        raise InputError(f"{file}: found no keys, {expected}.")
    return config


def _check_depth(value: object, depth: int = 0) -> int:
    """Number of values in a tree of YAML, aliases written out.

    Raises:
        RecursionError: There is no end to it, or it would not fit into memory.
    """
    parts: Iterable[object] = ()
    if isinstance(value, Mapping):
        parts = value.values()
    elif isinstance(value, list):
        parts = value
    count = 1
    for part in parts:
        count += _check_depth(part, depth + 1)
        if depth > _DEEPEST or count > _MOST_VALUES:
            raise RecursionError
    return count


def _short(value: object) -> str:
    """A value as it is written in Python, cut if it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_FOUND else f"{text[: _LONGEST_FOUND - 1]}…"


def _problem(error: yaml.YAMLError) -> str:
    """Line of an error in YAML, and what is wrong there."""
    if not isinstance(error, yaml.MarkedYAMLError) or error.problem_mark is None:
        return f": found no valid YAML ({error})"
    context, start, line = error.context, error.context_mark, error.problem_mark.line + 1
    begun = f"{context} from line {start.line + 1}, " if context and start else ""
    return f", line {line}: found no valid YAML ({begun}{error.problem})"


def resolve(config: Mapping[str, Any], *, needs_data: bool = True) -> dict[str, Any]:
    """Check ``config`` against the schema and return a copy with every default filled in.

    ``tasks`` becomes a mapping from the names to complete entries (`workflow.lib.tasks`).

    Numbers may be given as text, because Snakemake's ``--config 'samples={size: 40}'`` passes them
    that way, and YAML reads ``5e-4`` as text. YAML also reads ``on`` and ``off`` without quotes as
    true and false; where they are among the allowed values, they are converted back.

    Args:
        config: The configuration as given.
        needs_data: Whether data and links must be there, or only a model.

    Raises:
        InputError: Names every key that is unknown, missing or of a wrong type.
    """
    schema = load_schema()
    seed = schema["properties"][constants.SEED]["default"]
    config = constants.without(_as_meant(config, schema), seed)
    _check_moved(config)
    errors = _validator()(schema).iter_errors(config)
    mistakes = sorted({line for error in errors for line in _explain(error)})
    if mistakes:
        lines = "\n".join(f"  - {line}" for line in mistakes)
        raise InputError(
            f"The configuration is not valid:\n{lines}\nconfig/README.md explains every key."
        )
    resolved = _with_defaults(config, schema)
    if resolved["model"]["source"] == "builtin":
        given = config.get("fine_tuning") or {}
        resolved["fine_tuning"]["learning_rate"] = given.get("learning_rate", _BUILTIN_RATE)
    constants.add(resolved)
    check_places(resolved, _SECTIONS if needs_data else ("model",))
    resolved["tasks"] = tasks.resolve(resolved["tasks"], resolved["data"])
    _add_seeds(resolved["tasks"], resolved["seeds"])
    for entry in resolved["tasks"].values():
        entry.setdefault("epochs", resolved["fine_tuning"]["epochs"])
    _choose_tasks(resolved)
    resolved["analyses"], _ = analyses.switch_on(resolved["analyses"])
    return resolved


def _check_moved(config: Mapping[str, Any]) -> None:
    """Check that no key has a place that it had in earlier versions.

    Raises:
        InputError: Names each such key, and where it is now.
    """
    lines = [
        f"  - {key}: this key is {place}"
        for key, place in _MOVED.items()
        if _has(config, key.split("."))
    ]
    if lines:
        raise InputError(
            "\n".join(["The configuration is of an earlier version:", *lines])
            + "\nconfig/README.md explains every key."
        )


def _has(config: object, path: list[str]) -> bool:
    """Whether a key is given."""
    if not path:
        return True
    return isinstance(config, Mapping) and path[0] in config and _has(config[path[0]], path[1:])


def _choose_tasks(config: dict[str, Any]) -> None:
    """Put the names of tasks where a part of the run is for some tasks only.

    Raises:
        InputError: A name is not among those that it can be chosen from.
    """
    names = {"tasks": list(config["tasks"])}
    choices = [
        ("ablation.tasks", "tasks", ""),
        *(
            choice
            for one in analyses.find().values()
            if one.settings
            for choice in one.settings.choices(one.name)
        ),
    ]
    for key, among, like in choices:
        *path, last = key.split(".")
        part = functools.reduce(operator.getitem, path, config)
        given = names[like] if part[last] is None and like else part[last]
        part[last] = names[key] = tasks.chosen(key, given, names[among], config["tasks"])


def _add_seeds(entries: Mapping[str, dict[str, Any]], seeds: list[int]) -> None:
    """Give tasks without seeds those of the run.

    Raises:
        InputError: Tasks lack the run's first seed, whose models are compared between tasks.
    """
    wrong = [
        f"  - tasks.{name}.seeds: found {entry['seeds']}, expected {seeds[0]} among them, the "
        "first of `seeds`: models of that seed are compared between tasks"
        for name, entry in entries.items()
        if seeds[0] not in entry.setdefault("seeds", list(seeds))
    ]
    if wrong:
        raise InputError("\n".join(["The configuration is not valid:", *wrong]))


def check_places(config: Mapping[str, Any], sections: Iterable[str] = _SECTIONS) -> None:
    """Check that the folders and files of local sources are given.

    Raises:
        InputError: Names the key that is missing.
    """
    for section, source, key in _LOCAL:
        missing = config[section]["source"] == source and not config[section][key]
        if missing and section in sections:
            raise InputError(
                f"The configuration is not valid:\n  - {section}.{key}: found nothing, expected a "
                f"{key}, because {section}.source is '{source}'."
            )


def _as_meant(value: Any, schema: Mapping[str, Any]) -> Any:  # noqa: ANN401 - a tree of YAML
    """Copy ``value``, converting text to numbers and booleans to words where the schema says so."""
    if isinstance(value, Mapping):
        parts, others = schema.get("properties", {}), schema.get("additionalProperties") or {}
        return {key: _as_meant(entry, parts.get(key, others)) for key, entry in value.items()}
    if isinstance(value, list):
        return [_as_meant(entry, schema.get("items", {})) for entry in value]
    if isinstance(value, bool) and {"on", "off"} <= set(schema.get("enum", ())):
        return "on" if value else "off"
    kinds = schema.get("type", ())
    kinds = {kinds} if isinstance(kinds, str) else set(kinds) - {"null"}
    convert = {"integer": int, "number": float}.get(min(kinds)) if len(kinds) == 1 else None
    if convert and isinstance(value, str):
        with contextlib.suppress(ValueError):
            return convert(value)
    return value


def _validator() -> Any:  # noqa: ANN401 - a class that jsonschema makes
    """A validator that takes 1.0 for no integer, and NaN and infinity for no number.

    A seed of 1.0 would be another folder than one of 1, and no bound excludes NaN.
    """
    draft = jsonschema.Draft202012Validator

    def is_integer(_: object, value: object) -> bool:
        return isinstance(value, int) and not isinstance(value, bool)

    def is_number(_: object, value: object) -> bool:
        return is_integer(_, value) or (isinstance(value, float) and math.isfinite(value))

    types = draft.TYPE_CHECKER.redefine_many({"integer": is_integer, "number": is_number})
    return jsonschema.validators.extend(draft, type_checker=types)  # type: ignore[no-untyped-call]


def _explain(error: jsonschema.ValidationError) -> Iterator[str]:
    """Yield a line per mistake: where, what was found, what was expected."""
    where = ".".join(str(part) for part in error.path) or "top level"
    instance, schema = cast("Any", error.instance), cast("dict[str, Any]", error.schema)
    if error.validator == "additionalProperties":
        known = list(schema["properties"])
        for key in sorted(set(instance) - set(known), key=str):
            close = difflib.get_close_matches(str(key), known, n=1)
            hint = f"did you mean '{close[0]}'?" if close else f"known keys: {', '.join(known)}"
            yield f"{where}: found the unknown key '{key}'; {hint}"
    elif error.validator == "required":
        missing = [key for key in schema["required"] if key not in instance]
        yield f"{where}: expected the key{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    elif error.validator == "uniqueItems":
        twice = sorted({str(each) for each in instance if instance.count(each) > 1})
        yield f"{where}: found {', '.join(twice)} more than once, expected each once"
    else:
        kind = type(instance).__name__
        finite = " that is finite" if kind == "float" and not math.isfinite(instance) else ""
        found = f"{_short(instance)} ({kind})"
        close = []
        if error.validator == "enum":
            close = difflib.get_close_matches(str(instance), map(str, schema["enum"]), n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        yield f"{where}: found {found}; {hint}expected {_expected(error)}{finite}"


def _expected(error: jsonschema.ValidationError) -> str:
    """What the schema expects where it found a mistake."""
    schema, name = cast("dict[str, Any]", error.schema), str(error.validator)
    if name in ("pattern", "anyOf") and "$comment" in schema:
        return str(schema["$comment"])
    if name == "type" and error.validator_value in ("array", ["null", "array"]):
        return f"a list: [{_short(error.instance)}]".replace("'", "")
    words = _IN_WORDS.get(name, f"{name} {{}}")
    return words.format(json.dumps(error.validator_value))


def _with_defaults(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in the defaults of an object and of its nested objects."""
    filled = {}
    for key, part in schema["properties"].items():
        if key not in value and "default" not in part:
            continue
        entry = copy.deepcopy(value[key] if key in value else part["default"])
        filled[key] = _with_defaults(entry, part) if "properties" in part else entry
    return filled


def origin(config: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """Where the data and model of a resolved configuration come from."""
    return {
        section: {
            key: config[section][key] for key in ("source", *sources[config[section]["source"]])
        }
        for section, sources in _ORIGIN.items()
    }


def record_origin(content: Mapping[str, Any], record: Path) -> None:
    """Write an origin, or its part of the model, with a digest that tells if it is damaged."""
    write_json({**content, _DIGEST: _digest(content)}, record)


def _read_origin(record: Path) -> dict[str, Any]:
    try:
        content = json.loads(record.read_bytes())
        expected = content.pop(_DIGEST)
        if (found := _digest(content)) == expected:
            return dict(content)
        problem = f"found content with the digest {found}, expected {expected}"
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        problem = f"found no origin with a digest in JSON ({error!r}), expected one"
    raise InputError(
        f"{record}: {problem}. The file says where the data and the model of this run came from. "
        "Remove the file if they are those of the configuration: the next run writes it again. "
        "If you do not know, remove the folder."
    )


def _digest(content: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()


def check_results_folder(
    config: Mapping[str, Any], results: Path, *, needs_data: bool = True
) -> None:
    """Stop if ``results`` holds a run whose data or model have another origin.

    The data are not compared if they are not needed, or if only text was looked at until now.

    Raises:
        InputError: Names what differs, or a file that is where a folder should be.
    """
    for path in (results, *results.parents):
        if path.exists() and not path.is_dir():
            raise InputError(
                f"run: found the file {path} where the folder of the results should be. Give this "
                "run another name (`run:`), or move that file away."
            )
    record = results / "origin.json"
    if not record.is_file():
        return
    found, expected = _read_origin(record), origin(config)
    for content in (found, expected):
        if "data" not in found or not needs_data:
            content.pop("data", None)
    if found != expected:
        raise InputError(
            f"{results} holds a run of another configuration:\n  found    {json.dumps(found)}\n"
            f"  expected {json.dumps(expected)}\nGive this run another name (`run:`), or move that "
            "folder away."
        )


def is_paper_run(config: Mapping[str, Any]) -> bool:
    """Whether the paper's numbers are comparable: bert-base-uncased on GLUE from the Hub."""
    return bool(
        config["model"]["source"] == "hub"
        and config["model"]["id"].split("/")[-1] == "bert-base-uncased"
        and config["data"]["source"] == "hub"
        and config["data"]["repository"].split("/")[-1] == "glue"
        and not set(own_data(config)) & set(tasks.shipped())
    )


def own_data(config: Mapping[str, Any]) -> list[str]:
    """Tasks of a resolved configuration whose data are not those of section ``data``."""
    return [
        name
        for name, entry in config["tasks"].items()
        if tasks.has_own_data(name, entry, config["data"])
    ]


def annotated_by(config: Mapping[str, Any]) -> list[str]:
    """What annotates the words: ``gold``, for the built-in corpus, ``pipeline``, or both."""
    own = ["files" in entry or "hub" in entry for entry in config["tasks"].values()]
    return [*(["gold"] if not all(own) else []), *(["pipeline"] if any(own) else [])]


def describe(config: Mapping[str, Any]) -> str:
    """Short description of a run's model and data, for figures and tables."""
    data, own = config["data"], own_data(config)
    of_data = {
        None: "",
        "builtin": "built-in corpus (not comparable with the paper)",
        "tsv": f"{Path(data['folder'] or '').name or 'TSV'} (TSV)",
        "hub": data["repository"],
    }
    parts = [of_data[data["source"]] if len(own) < len(config["tasks"]) else "", ", ".join(own)]
    return f"{describe_model(config)} · {' and '.join(filter(None, parts))}"


def describe_model(config: Mapping[str, Any]) -> str:
    """Short description of a run's pre-trained model."""
    model = config["model"]
    of_model: dict[str, str] = {
        "builtin": "tiny BERT",
        "folder": "/".join(Path(model["folder"] or "").parts[-2:]),
        "hub": model["id"],
    }
    return of_model[model["source"]]


def origins(config: Mapping[str, Any]) -> dict[str, str]:
    """Where the model, the data and the frame-semantic links of a run come from, with revisions."""
    model, data, links = (config[name] for name in ("model", "data", "framenet"))
    on_hub = {"hub": f", revision {model['revision']}"}
    of_data = {
        None: "",
        "builtin": f"built-in corpus, seed {data['seed']}",
        "tsv": f"files in {data['folder']}",
        "hub": f"{data['repository']}, revision {data['revision']}",
    }
    own = own_data(config)
    shared = [of_data[data["source"]]] if len(own) < len(config["tasks"]) else []
    return {
        "Model": describe_model(config) + on_hub.get(model["source"], ""),
        "Data": "; ".join([*shared, *(f"{name}: {_place(config['tasks'][name])}" for name in own)]),
        "Links": {
            "builtin": f"built-in, seed {links['seed']}",
            "nltk": "FrameNet 1.7",
            "tsv": str(links["path"]),
        }.get(links["source"], ""),
    }


def _place(entry: Mapping[str, Any]) -> str:
    """Where a task of one's own comes from."""
    if "hub" in entry:
        return f"{entry['hub']['repository']}, revision {entry['hub']['revision']}"
    return f"{entry['files']['train']} and {entry['files']['validation']}"


def seeds_in_words(config: Mapping[str, Any]) -> str:
    """The fine-tuning seeds of a run; with the tasks that have them, unless all have the same."""
    tasks: dict[tuple[int, ...], list[str]] = {}
    for name, entry in config["tasks"].items():
        tasks.setdefault(tuple(entry["seeds"]), []).append(name)
    parts = [(", ".join(map(str, seeds)), ", ".join(names)) for seeds, names in tasks.items()]
    return parts[0][0] if len(parts) == 1 else "; ".join(f"{s} ({names})" for s, names in parts)


def results_folder(config: Mapping[str, Any]) -> Path:
    """Folder of all outputs of the run, relative to the working directory."""
    return Path("results") / str(config["run"])


def main(files: Iterable[str]) -> None:
    """Check that configuration files can be read, or end with a message that names the line."""
    try:
        for file in files:
            read(Path(file))
    except InputError as error:
        sys.exit(str(error))


if __name__ == "__main__":
    main(sys.argv[1:])
