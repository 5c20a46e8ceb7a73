"""Where the keys of a configuration are written: names file and line in messages about them."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import yaml

from darksecrets.run.errors import InputError
from workflow.lib import configuration

_MISTAKE = re.compile(r"(?P<bullet> *- )?(?P<key>[^\s:]+)(?: in the configuration| level)?: ")
_UNKNOWN = re.compile(r"found the unknown key '(?P<key>.+?)'")


def name_lines(message: str, given: Mapping[str, Any], files: Iterable[Path]) -> str:
    """Name the file and the line of every key that a message is about.

    A value that the command line has changed since (``--config``) is in no file.

    Args:
        message: Of an `InputError`; its lines may begin with the name of a key, ``a.b.c: …``.
        given: The configuration as given, without defaults.
        files: Its files; later ones override earlier ones.
    """
    places: dict[str, str] = {}
    for file in files:
        places |= dict(_places(file, given))
    return "\n".join(_with_place(line, places) for line in message.split("\n"))


def _with_place(line: str, places: Mapping[str, str]) -> str:
    if not (match := _MISTAKE.match(line)):
        return line
    key = match["key"]
    if unknown := _UNKNOWN.search(line):
        key = unknown["key"] if key == "top" else f"{key}.{unknown['key']}"
    while key not in places and "." in key:
        key = key.rpartition(".")[0]
    start = len(match["bullet"] or "")
    return f"{line[:start]}{places[key]}: {line[start:]}" if key in places else line


def _places(file: Path, given: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """File and line of every key whose value is that of the configuration."""
    try:
        content = configuration.read(file)
        tree = yaml.compose(file.read_text(encoding="utf-8-sig"), yaml.SafeLoader)
    except (InputError, yaml.YAMLError):  # JSON with tabs
        return
    for path, line in _lines(tree):
        if _value(content, path) == _value(given, path):
            yield ".".join(path), f"{file}, line {line}"


def _lines(node: Any, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], int]]:  # noqa: ANN401
    """Path and line, from 1, of every key and every entry of a list."""
    entries: list[tuple[str, Any, Any]] = []
    if isinstance(node, yaml.MappingNode):
        entries = [(str(key.value), key, value) for key, value in node.value]
    elif isinstance(node, yaml.SequenceNode):
        entries = [(str(place), value, value) for place, value in enumerate(node.value)]
    for name, start, value in entries:
        yield (*path, name), start.start_mark.line + 1
        yield from _lines(value, (*path, name))


def _value(config: object, path: tuple[str, ...]) -> object:
    """The value at a path; None if there is none."""
    for name in path:
        if isinstance(config, Mapping):
            config = next((value for key, value in config.items() if str(key) == name), None)
        elif isinstance(config, list) and int(name) < len(config):
            config = config[int(name)]
        else:
            return None
    return config
