"""Sentences with a masked word and its right answer, maybe under two conditions."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darksecrets.core.run.errors import InputError

MASK = "[MASK]"


@dataclass(frozen=True)
class Item:
    """A sentence with a gap.

    Attributes:
        sentence: With `MASK` once.
        right: The word that belongs there.
        group: The set of the item: a relation, a phenomenon.
        condition: What distinguishes it from other items of the same number; empty if nothing.
        number: Items of a set with the same number differ in their condition alone.
    """

    sentence: str
    right: str
    group: str
    condition: str
    number: str


def read_items(path: Path) -> list[Item]:
    """Read the items of a file of JSON lines, or of all such files of a folder, each once.

    A line has ``sentence`` and ``right``; ``set``, else the name of the file; and, where an item
    has conditions, ``condition`` and ``item``. Lines of LAMA (``masked_sentences``, ``obj_label``,
    ``predicate_id``) are read, too.

    Args:
        path: The file, or the folder.

    Raises:
        InputError: There are none, or a line is malformed; the message names it.
    """
    files = sorted(path.glob("*.jsonl")) if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise InputError(
            f"{path}: expected a file of JSON lines (.jsonl) with sentences that have a masked "
            "word, or a folder of such files. Correct predictions.cloze."
        )
    found = []
    for file in files:
        try:
            lines = file.read_text(encoding="utf-8").split("\n")
        except UnicodeDecodeError as error:
            raise InputError(f"{file} is not in UTF-8 ({error}). Save it so.") from error
        for number, line in enumerate(lines, 1):
            if line.strip():
                found.append(_item(line, file, number))
    if not found:
        raise InputError(f"{path} has no sentences. Correct predictions.cloze.")
    _check_conditions(found, path)
    different = {(item.group, item.condition, item.sentence): item for item in reversed(found)}
    return list(reversed(different.values()))


def _item(line: str, file: Path, number: int) -> Item:
    where = f"{file}, line {number}"
    try:
        fields: Mapping[str, Any] = json.loads(line)
        sentence = fields["sentence"] if "sentence" in fields else fields["masked_sentences"][0]
        right = fields["right"] if "right" in fields else fields["obj_label"]
    except (json.JSONDecodeError, KeyError, IndexError, TypeError) as error:
        raise InputError(
            f"{where}: expected a JSON object with sentence and right, or with masked_sentences "
            f"and obj_label ({error})."
        ) from error
    if str(sentence).count(MASK) != 1 or not str(right).strip():
        raise InputError(
            f"{where}: the sentence must have {MASK} once, and right the word that belongs there."
        )
    return Item(
        sentence=str(sentence).strip(),
        right=str(right).strip(),
        group=str(fields.get("set") or fields.get("predicate_id") or file.stem),
        condition=str(fields.get("condition") or ""),
        number=str(fields.get("item") or f"{file.name} {number}"),
    )


def _check_conditions(items: list[Item], path: Path) -> None:
    """Check that no item stands twice under one condition."""
    seen: dict[tuple[str, str, str], Item] = {}
    for item in items:
        key = (item.group, item.number, item.condition)
        if key in seen:
            raise InputError(
                f"{path}: item {item.number} of the set {item.group} stands twice under the "
                f"condition {item.condition or 'none'!r}. Give each a condition of its own."
            )
        seen[key] = item
