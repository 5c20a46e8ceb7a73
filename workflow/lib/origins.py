"""Where the data and the model of a run come from: in its records, and in words.

Runs whose data or model differ cannot share a results folder; ``origin`` is what must not change.
"""

from __future__ import annotations

import copy
import hashlib
import itertools
import json
from collections import ChainMap
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import write_json
from workflow.lib import tasks

# Keys that a source uses besides `source` itself; other keys do not distinguish runs.
_ORIGIN: dict[str, dict[str | None, tuple[str, ...]]] = {
    "data": {None: (), "tsv": ("folder",), "hub": ("repository", "revision")},
    "model": {"folder": ("folder",), "hub": ("id", "revision")},
}

_DIGEST = "sha256"  # key of `origin.json`


def leave_out_other_origins(
    config: Mapping[str, Any],
    written: Sequence[Mapping[str, Any]],
    asked: Mapping[str, Any],
    *,
    demonstration: bool,
) -> tuple[dict[str, Any], list[str]]:
    """Leave out what configuration files say of data or a model that the command line replaces.

    Snakemake merges ``--config 'model={source: folder, folder: my-bert}'`` into the section of a
    file, so that a model would keep the name of another one in every figure.

    Args:
        config: The configuration, merged, without defaults.
        written: What stands in the configuration files; later ones replace earlier ones.
        asked: What the command line gives by ``--config``.
        demonstration: Whether the file is the demonstration's, which trains as its model needs.

    Returns:
        The configuration, and the keys left out, such as ``model.name``.
    """
    left = copy.deepcopy(dict(config))
    gone = []
    for section in _ORIGIN:
        given, merged = asked.get(section), left.get(section)
        sections = [file.get(section) for file in reversed(written)]
        before = ChainMap(*(each for each in sections if isinstance(each, dict)))
        if not isinstance(given, Mapping) or not isinstance(merged, dict):
            continue
        if not _is_another_origin(section, given, merged, before):
            continue
        for key in set(merged) - set(given) - {"source"}:
            del merged[key]
            gone.append(f"{section}.{key}")
        training = left.get("fine_tuning")
        if section == "model" and demonstration and isinstance(training, dict):
            for key in set(training) - set(asked.get("fine_tuning", ())):
                del training[key]
                gone.append(f"fine_tuning.{key}")
    return left, sorted(gone)


def _is_another_origin(
    section: str,
    given: Mapping[str, Any],
    merged: Mapping[str, Any],
    before: Mapping[str, Any],
) -> bool:
    """Whether the command line gives another place than the files do, and it was merged."""
    if any(merged.get(key) != value for key, value in given.items()):
        return False  # this workflow is a module of one whose section of that name is another
    places = {"source", *itertools.chain(*_ORIGIN[section].values())} - {"revision"}
    return any(before.get(key) not in (None, given[key]) for key in places & set(given))


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
        problem = f"its content has the digest {found}, not {expected}"
    except (ValueError, AttributeError, KeyError, TypeError) as error:
        problem = f"it is not an origin with a digest in JSON ({error!r})"
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
                f"run: the file {path} is where the folder of the results should be. Give this "
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
            f"{results} holds a run of another configuration:\n  there    {json.dumps(found)}\n"
            f"  asked for {json.dumps(expected)}\nGive this run another name (`run:`), or move "
            "that folder away."
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


def describe(config: Mapping[str, Any]) -> str:
    """Short description of a run's model and data, for figures and tables."""
    data, own = config["data"], own_data(config)
    data_origin = {
        None: "",
        "tsv": f"{Path(data['folder'] or '').name or 'TSV'} (TSV)",
        "hub": data["repository"],
    }
    shared = data["name"] or data_origin[data["source"]]
    parts = [shared if len(own) < len(config["tasks"]) else "", ", ".join(own)]
    return f"{describe_model(config)} · {' and '.join(filter(None, parts))}"


def describe_model(config: Mapping[str, Any]) -> str:
    """Short description of a run's pre-trained model."""
    model = config["model"]
    if model["name"]:
        return str(model["name"])
    if model["source"] == "folder":
        return "/".join(Path(model["folder"] or "").parts[-2:])
    return str(model["id"])


def describe_sources(config: Mapping[str, Any]) -> dict[str, str]:
    """Where the model, the data and the frame-semantic links of a run come from, with revisions."""
    model, data, links = (config[name] for name in ("model", "data", "framenet"))
    place = {"folder": f" in {model['folder']}", "hub": f", revision {model['revision']}"}
    data_origin = {
        None: "",
        "tsv": f"files in {data['folder']}",
        "hub": f"{data['repository']}, revision {data['revision']}",
    }
    own = own_data(config)
    shared = [data_origin[data["source"]]] if len(own) < len(config["tasks"]) else []
    return {
        "Model": describe_model(config) + place[model["source"]],
        "Data": "; ".join([*shared, *(f"{name}: {_place(config['tasks'][name])}" for name in own)]),
        "Links": "FrameNet 1.7" if links["source"] == "nltk" else str(links["path"]),
    }


def _place(entry: Mapping[str, Any]) -> str:
    """Where a task of one's own comes from."""
    if "hub" in entry:
        return f"{entry['hub']['repository']}, revision {entry['hub']['revision']}"
    return f"{entry['files']['train']} and {entry['files']['validation']}"
