"""Pairs of a right and a wrong sentence, from the layouts in which they are published."""

from __future__ import annotations

import csv
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from darksecrets.core.run.errors import InputError

_MASKS = ("[MASK]", "***mask***")
_GOOD, _BAD, _NAME = "sentence_good", "sentence_bad", "UID"
_ATTRACTORS = "attractors"


@dataclass(frozen=True)
class Pair:
    """A right and a wrong sentence.

    Attributes:
        right: The right one.
        wrong: The wrong one.
        phenomenon: What is wrong with it.
        attractors: Nouns of the other number before the verb; None where not counted.
    """

    right: str
    wrong: str
    phenomenon: str
    attractors: int | None = None


def read_pairs(path: Path) -> list[Pair]:
    """Read the pairs of a file, or of all files of a folder.

    Args:
        path: A file of JSON lines (BLiMP), or of tab-separated values (Goldberg; Linzen et al.),
            or a folder of such files.

    Raises:
        InputError: There are none, or a line is malformed; the message names it.
    """
    files = sorted(each for each in path.glob("*") if each.suffix in (".jsonl", ".tsv"))
    files = files if path.is_dir() else [path]
    if not files or not all(file.is_file() for file in files):
        raise InputError(
            f"{path}: expected a file of pairs (.jsonl or .tsv), or a folder of such files. "
            "Correct predictions.pairs."
        )
    found = [pair for file in files for pair in _read(file)]
    if not found:
        raise InputError(f"{path} has no pairs. Correct predictions.pairs.")
    return found


def _read(file: Path) -> Iterator[Pair]:
    with file.open(encoding="utf-8", newline="") as stream:
        try:
            if file.suffix == ".tsv":
                rows = enumerate(csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE), 2)
                yield from (
                    _masked(row, f"{file}, line {number}", file.stem) for number, row in rows
                )
                return
            for number, line in enumerate(stream, 1):
                if line.strip():
                    yield _spelled(line, f"{file}, line {number}")
        except UnicodeDecodeError as error:
            raise InputError(f"{file} is not in UTF-8 ({error}). Save it so.") from error


def _spelled(line: str, where: str) -> Pair:
    """A pair of two sentences, as BLiMP has them."""
    try:
        fields = json.loads(line)
        right, wrong, name = (str(fields[key]).strip() for key in (_GOOD, _BAD, _NAME))
        attractors = fields.get(_ATTRACTORS)
    except (json.JSONDecodeError, KeyError, TypeError, AttributeError) as error:
        raise InputError(
            f"{where}: expected a JSON object with {_GOOD}, {_BAD} and {_NAME} ({error})."
        ) from error
    return _checked(Pair(right, wrong, name, _number(attractors, where)), where)


def _masked(row: Mapping[str, str | None], where: str, name: str) -> Pair:
    """A sentence with a gap, and two words of which one is right."""
    sentence, right, wrong = (row.get(key) for key in ("sentence", "right", "wrong"))
    if not sentence or not right or not wrong:
        raise InputError(
            f"{where}: expected the columns sentence, right and wrong, with a value in each."
        )
    mask = next((mask for mask in _MASKS if sentence.count(mask) == 1), None)
    if mask is None:
        raise InputError(f"{where}: the sentence must have {_MASKS[0]} once, where the words go.")
    good, bad = (sentence.replace(mask, word).strip() for word in (right, wrong))
    return _checked(Pair(good, bad, name, _number(row.get(_ATTRACTORS), where)), where)


def _number(value: object, where: str) -> int | None:
    if value in (None, ""):
        return None
    if not str(value).isdecimal():
        raise InputError(f"{where}: {_ATTRACTORS} is {value!r}; expected a number from 0.")
    return int(str(value))


def _checked(pair: Pair, where: str) -> Pair:
    if not pair.right or not pair.wrong:
        raise InputError(f"{where}: a sentence is empty.")
    if pair.right == pair.wrong:
        raise InputError(f"{where}: both sentences are the same: {pair.right!r}.")
    return pair
