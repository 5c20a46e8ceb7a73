"""What a case is, and how an input is checked: as a run does before its first job, in-process."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from shipped import DATA, MODEL
from snakemake.common.configfile import load_configfile

from darksecrets.core.run.errors import InputError
from workflow.lib import ambiguous_yaml, configuration, preflight

Config = dict[str, Any]
Make = Callable[[Path], Config | Path]
"""Writes files into an empty folder, and returns the configuration of a run, or its file."""


@dataclass(frozen=True)
class Case:
    """An input.

    Attributes:
        name: What is special about it.
        make: See `Make`.
        words: What the message says besides; empty for input that is right.
        looking: Whether only text is looked at.
    """

    name: str
    make: Make
    words: tuple[str, ...] = ()
    looking: bool = False


def run(**keys: object) -> Config:
    """A configuration of a run of the demonstration's kind, with other keys."""
    return {"run": "r", "data": DATA, "model": MODEL, **keys}


def nested(path: str, value: object) -> Config:
    """A configuration with one key, whose path has dots, set to a value."""
    config: Config = run()
    part: Any = config
    *sections, last = path.split(".")
    for section in sections:
        part[section] = dict(part.get(section, {}))
        part = part[section]
    part[last] = value
    return config


def key(path: str, value: object, *words: str) -> Case:
    """A wrong value of one key; the message names the key."""
    shown = repr(value) if len(repr(value)) < 40 else f"{repr(value)[:36]}…"
    return Case(f"{path}={shown}", lambda _: nested(path, value), (path, *words))


def message_of(config: Mapping[str, Any] | Path, *, looking: bool = False) -> str:
    """The message that refuses a configuration, or a file of one; empty if it is right."""
    try:
        given = config
        if isinstance(config, Path):
            given = load_configfile(config)
            ambiguous_yaml.refuse([config])
        resolved = configuration.resolve(given, needs_data=not looking)
        preflight.check(resolved, looking=looking)
        if looking:
            preflight.text.check_tokens(resolved)
        preflight.left_out(resolved)
        preflight.check_surroundings(resolved, looking=looking)
    except InputError as error:
        return str(error)
    return ""


def write(folder: Path, name: str, content: str | bytes) -> Path:
    """Write a file and return its path."""
    file = folder / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(content if isinstance(content, bytes) else content.encode())
    return file


def edit_json(file: Path, **keys: object) -> None:
    """Change keys of a JSON file."""
    content = json.loads(file.read_text(encoding="utf-8")) | keys
    file.write_text(json.dumps(content), encoding="utf-8")
