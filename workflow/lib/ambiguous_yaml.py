"""What YAML takes without a word, but not as it seems to be meant."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path

import yaml

from darksecrets.core.run.errors import InputError

_NUMERIC = ("tag:yaml.org,2002:int", "tag:yaml.org,2002:float")


def refuse(paths: Iterable[Path]) -> None:
    """Refuse what YAML takes without a word, but not as it seems to be meant.

    Args:
        paths: Files of a configuration, in YAML or JSON.

    Raises:
        InputError: A key stands twice in a mapping, of which YAML keeps the last value; or a number
            is ``010``, which is 8, or ``1:30``, which is 90. The message names the line.
    """
    for path in paths:
        text = path.read_text(encoding="utf-8")
        try:
            document = yaml.compose(text, yaml.SafeLoader)
        except yaml.YAMLError:
            continue  # JSON with tabs, which Snakemake has read
        for node in _nodes(document):
            if isinstance(node, yaml.MappingNode):
                _refuse_keys(path, node)
            elif isinstance(node, yaml.ScalarNode):
                _refuse_other_base(path, node)


def _refuse_other_base(path: Path, node: yaml.ScalarNode) -> None:
    """Refuse a number that is not decimal, although it looks so."""
    if node.tag in _NUMERIC and re.search(r"^[-+]?0[\d_]+$|:", node.value):
        raise InputError(
            f"{path}, line {node.start_mark.line + 1}: YAML reads {node.value} in another "
            "base than 10. Write a decimal number, or put a text in quotes."
        )


def _refuse_keys(path: Path, mapping: yaml.MappingNode) -> None:
    """Refuse a mapping of YAML in which a key stands twice; ``1`` and ``"1"`` are one."""
    lines: dict[str, int] = {}
    for key, _ in mapping.value:
        if isinstance(key, yaml.ScalarNode):
            line = key.start_mark.line + 1
            if first := lines.get(key.value):
                raise InputError(
                    f"{path}, line {line}: the key '{key.value}' stands there twice (first in line "
                    f"{first}), of which only the last value would be used. Join the two, or "
                    "remove one."
                )
            lines[key.value] = line


def _nodes(node: yaml.Node | None) -> Iterator[yaml.Node]:
    """The nodes of a document, each once; anchors may be used several times."""
    left, seen = [node], set()
    while left:
        each = left.pop()
        if each is None or id(each) in seen:
            continue
        seen.add(id(each))
        yield each
        if isinstance(each, yaml.SequenceNode):
            left += each.value
        elif isinstance(each, yaml.MappingNode):
            left += [part for pair in each.value for part in pair]
