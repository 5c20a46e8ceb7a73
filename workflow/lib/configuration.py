"""The configuration of a run: checked against the schema and filled in with its defaults."""

from __future__ import annotations

import contextlib
import copy
import difflib
import functools
import json
import math
import operator
import os
import re
from collections.abc import Iterable, Iterator, Mapping, Set
from pathlib import Path
from typing import Any, cast

import jsonschema

from darksecrets.beyond import analyses
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import PACKAGE, PROJECT, read_yaml
from workflow.lib import constants, tasks

SCHEMA = Path(__file__).parents[1] / "schemas" / "config.schema.yaml"

SHIPPED_LINKS = "darksecrets/resources/corpus/frames.tsv"
"""Frame-semantic links of runs that name no others."""

_IN_WORDS = {
    "minimum": "at least {}",
    "exclusiveMinimum": "more than {}",
    "exclusiveMaximum": "less than {}",
    "maximum": "at most {}",
    "maxLength": "at most {} characters",
    "minItems": "a list of at least {}",
    "maxItems": "a list of at most {}",
    "enum": "one of {}",
}
"""What keywords of the schema ask for, where the keyword itself is no plain English."""

_TYPES = {
    "null": "null",
    "boolean": "true or false",
    "integer": "a whole number",
    "number": "a number",
    "string": "a text (in quotes, where YAML would read something else)",
    "array": "a list",
    "object": "a mapping",
}
"""Types of the schema in words."""

_PROJECT = "<project>/"
"""Beginning of paths in a configuration that are within the project's folder."""

_LONGEST_FOUND = 200  # characters of a value that a message shows
_HUB_NAME = re.compile(r"([A-Za-z0-9_][\w.-]*/)?[A-Za-z0-9_][\w.-]{0,95}", re.ASCII)
_REVISION = re.compile(r"[A-Za-z0-9_][\w./-]*", re.ASCII)
_NAME_IN_WORDS = "a repository on the Hub: owner/name, in letters, digits and . _ -"
_REVISION_IN_WORDS = "a revision on the Hub: a commit, a tag or a branch"

# Local sources, and the key that holds their path.
_LOCAL = (
    ("data", "tsv", "folder"),
    ("model", "folder", "folder"),
    ("annotation", "conllu", "conllu"),
)
_SECTIONS = tuple(section for section, _, _ in _LOCAL)

_PATHS = {"folder", "path", "pipeline", "conllu", "annotations", "files"}
"""Keys whose values are paths."""


def load_schema() -> dict[str, Any]:
    """The schema as a dictionary, with the sections of all analyses beyond the paper."""
    schema: dict[str, Any] = read_yaml(SCHEMA)
    known = analyses.find()
    schema["properties"]["analyses"]["items"] = {"enum": [analyses.PAPER, *known, analyses.ALL]}
    for one in known.values():
        if one.settings:
            schema["properties"][one.name] = one.settings.schema()
    return schema


def _short(value: object) -> str:
    """A value as it is written in Python, cut if it is long."""
    text = repr(value)
    return text if len(text) <= _LONGEST_FOUND else f"{text[: _LONGEST_FOUND - 1]}…"


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
    config = constants.remove_constants(_as_meant(config, schema), seed)
    errors = _validator()(schema).iter_errors(config)
    mistakes = sorted({line for error in errors for line in _explain(error)})
    if mistakes:
        lines = "\n".join(f"  - {line}" for line in mistakes)
        raise InputError(
            f"The configuration is not valid:\n{lines}\nconfig/README.md explains every key."
        )
    resolved: dict[str, Any] = _within_project(_fill_defaults(config, schema))
    if resolved["framenet"]["source"] == "tsv" and not resolved["framenet"]["path"]:
        resolved["framenet"]["path"] = _relative(SHIPPED_LINKS)
    constants.add(resolved)
    check_places(resolved, _SECTIONS if needs_data else ("model",))
    _refuse_braces(resolved)
    resolved["tasks"] = tasks.resolve(resolved["tasks"], resolved["data"])
    _add_seeds(resolved["tasks"], resolved["seeds"])
    for entry in resolved["tasks"].values():
        entry.setdefault("epochs", resolved["fine_tuning"]["epochs"])
    _choose_tasks(resolved)
    resolved["analyses"], _ = analyses.switch_on(resolved["analyses"])
    return resolved


def _within_project(value: Any) -> Any:  # noqa: ANN401 - a tree of YAML
    """Copy a configuration with paths that begin with ``<project>/`` as paths from this folder.

    So a file of the project is found in whatever folder a run is started.
    """
    if isinstance(value, Mapping):
        return {key: _within_project(entry) for key, entry in value.items()}
    if isinstance(value, list):
        return [_within_project(entry) for entry in value]
    if isinstance(value, str) and value.startswith(_PROJECT):
        return _relative(value.removeprefix(_PROJECT))
    return value


def _relative(path: str) -> str:
    """A path within the project as one from this folder."""
    is_of_package = Path(path).parts[:1] == (PACKAGE.name,)
    folder = PACKAGE.parent if is_of_package else PROJECT
    return str(Path(os.path.relpath(folder)) / path)


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
        f"  - tasks.{name}.seeds is {entry['seeds']} and lacks {seeds[0]}, the "
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
                f"The configuration is not valid:\n  - {section}.{key} is missing, and needed "
                f"because {section}.source is '{source}'."
            )
    for section, key in (("model", "id"), ("data", "repository")):
        if section in sections and config[section]["source"] == "hub":
            _check_hub_name(f"{section}.{key}", config[section][key], _HUB_NAME, _NAME_IN_WORDS)
            revision = config[section]["revision"]
            _check_hub_name(f"{section}.revision", revision, _REVISION, _REVISION_IN_WORDS)


def _check_hub_name(key: str, value: str, pattern: re.Pattern[str], wanted: str) -> None:
    """Check that a repository on the Hub, or a revision of one, has a name that can be one.

    Raises:
        InputError: Names the key.
    """
    if not pattern.fullmatch(value) or ".." in value or "--" in value:
        raise InputError(
            f"The configuration is not valid:\n  - {key} is {_short(value)}, not {wanted}."
        )


def _refuse_braces(value: Any, key: str = "") -> None:  # noqa: ANN401 - a tree of YAML
    """Refuse paths with braces, in which Snakemake would look for the names of wildcards.

    Raises:
        InputError: Names the key.
    """
    if isinstance(value, Mapping):
        for name, entry in value.items():
            _refuse_braces(entry, f"{key}.{name}" if key else str(name))
    elif isinstance(value, list):
        for entry in value:
            _refuse_braces(entry, key)
    elif isinstance(value, str):
        is_path = not _PATHS.isdisjoint(key.split(".")[-2:])
        if not is_path or ("{" not in value and "}" not in value):
            return
        raise InputError(
            f"{key}: the path {value!r} has a brace, which Snakemake reads as the beginning or "
            "end of a wildcard. Rename the folder or file."
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
    if not isinstance(value, str):
        return value
    named = {str(each): each for each in schema.get("enum", ())}
    return named[value] if value in named else _read_text(value, _kinds(schema))


def _kinds(schema: Mapping[str, Any]) -> set[str]:
    """The types that a schema allows, by their names in it."""
    given = schema.get("type", ())
    kinds = {given} if isinstance(given, str) else set(given)
    return kinds.union(*(_kinds(part) for part in schema.get("anyOf", ())))


def _read_text(text: str, kinds: Set[str]) -> Any:  # noqa: ANN401 - a value of YAML
    """The number, truth value or null that a text means, where no text is allowed.

    Where a text is allowed, too, only ``null`` is read: no file and no name is meant by it.
    """
    if "null" in kinds and text in ("null", "~"):
        return None
    if "string" in kinds:
        return text
    if "boolean" in kinds and text.lower() in ("true", "false"):
        return text.lower() == "true"
    for kind, convert in (("integer", int), ("number", float)):
        if kind in kinds:
            with contextlib.suppress(ValueError):
                return convert(text)
    return text


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
    """Yield a line per mistake: where, what is there, what must be."""
    where = ".".join(str(part) for part in error.path) or "top level"
    instance, schema = cast("Any", error.instance), cast("dict[str, Any]", error.schema)
    if error.validator == "additionalProperties":
        known = list(schema["properties"])
        for key in sorted(set(instance) - set(known), key=str):
            close = difflib.get_close_matches(str(key), known, n=1) or _keys_within(schema, key)
            hint = f"did you mean '{close[0]}'?" if close else f"known keys: {', '.join(known)}"
            yield f"{where}: unknown key '{key}'; {hint}"
    elif error.validator == "required":
        missing = [key for key in schema["required"] if key not in instance]
        yield f"{where}: missing key{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    elif error.validator == "uniqueItems":
        twice = sorted({str(each) for each in instance if instance.count(each) > 1})
        yield f"{where}: {', '.join(twice)} stands there more than once"
    else:
        is_endless = isinstance(instance, float) and not math.isfinite(instance)
        finite = " that is finite" if is_endless else ""
        close = []
        if error.validator == "enum":
            close = difflib.get_close_matches(str(instance), map(str, schema["enum"]), n=1)
        hint = f"did you mean '{close[0]}'? " if close else ""
        yield f"{where} is {_short(instance)}; {hint}it must be {_expected(error)}{finite}"


def _keys_within(schema: Mapping[str, Any], key: object) -> list[str]:
    """Sections with a key of this name, which may be the one that is meant."""
    return [
        f"{section}.{key}"
        for section, part in schema["properties"].items()
        if key in part.get("properties", {})
    ]


def _expected(error: jsonschema.ValidationError) -> str:
    """What the schema asks for where there is a mistake."""
    schema, name = cast("dict[str, Any]", error.schema), str(error.validator)
    if name in ("pattern", "anyOf") and "$comment" in schema:
        return str(schema["$comment"])
    if name == "type":
        return _expected_type(error)
    words = _IN_WORDS.get(name, f"{name} {{}}")
    return words.format(json.dumps(error.validator_value))


def _expected_type(error: jsonschema.ValidationError) -> str:
    """The types that the schema allows, with an example of a list or a mapping."""
    schema = cast("dict[str, Any]", error.schema)
    types = [schema["type"]] if isinstance(schema["type"], str) else schema["type"]
    words = " or ".join(_TYPES[each] for each in types)
    keys = list(schema.get("properties", ()))
    if "array" in types:
        words += f", such as [{_short(error.instance)}]".replace("'", "")
    elif "object" in types and keys:
        words += f", such as {{{keys[0]}: …}}"
    return words


def _fill_defaults(value: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """Fill in the defaults of an object and of its nested objects."""
    filled = {}
    for key, part in schema["properties"].items():
        if key not in value and "default" not in part:
            continue
        entry = copy.deepcopy(value[key] if key in value else part["default"])
        filled[key] = _fill_defaults(entry, part) if "properties" in part else entry
    return filled


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
