"""Rows of local files: TSV, CSV and JSON lines, each read as its format means it.

All are UTF-8. TSV is that of the classic GLUE download: every line is a row, and quotes are
ordinary characters. CSV is that of RFC 4180: a quoted field may contain commas, quotes (doubled)
and line breaks. JSON lines are one object a line. No heavy library is needed, so that files are
checked before any job.
"""

from __future__ import annotations

import csv
import gzip
import io
import json
import sys
import unicodedata
import zlib
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple

from darksecrets.core.run.errors import InputError

SUFFIXES = (".tsv", ".csv", ".jsonl")
HEADERLESS = "or, if the file has no header, list them in the task's entry (`columns:`)"

_INVISIBLE = ("Cc", "Cf", "Zl", "Zp", "Zs")  # Unicode's categories
_BLANK_LETTERS = "\u115f\u1160\u2800\u3164\uffa0"  # Hangul's fillers and Braille's empty cell


class Row(NamedTuple):
    """A row of a file, or what is wrong with it.

    Attributes:
        line: Line on which it begins, from 1.
        values: Values of the columns asked for; empty if the row is malformed.
        flaw: What was found and expected, if the row is malformed; else empty.
    """

    line: int
    values: tuple[str, ...]
    flaw: str = ""


def read(path: Path, columns: Sequence[str], named: Sequence[str] = ()) -> list[Row]:
    """Read some columns of a file; its suffix tells the format.

    Args:
        path: The file: one of `SUFFIXES`.
        columns: Names of the columns to return.
        named: Names of all columns, for TSV and CSV files without a header row.

    Raises:
        InputError: The file is missing, is not UTF-8, has no rows or no such column, or cannot be
            parsed any further; the message says where. Other malformed rows have a ``flaw``.
    """
    text = text_of(path)
    match path.suffix:
        case ".csv":
            rows = _table(_csv(text, path), path, columns, named, "comma")
        case ".tsv":
            rows = _table(_tsv(text), path, columns, named, "tab")
        case _:
            rows = _json(text, columns)
    if not (found := list(rows)):
        raise InputError(f"{path}: no examples after the header. Download the file again.")
    return found


def lines(path: Path) -> int:
    """Number of lines after the header, for estimates."""
    with path.open("rb") as stream:
        return sum(1 for _ in stream) - (path.suffix != ".jsonl")


def text_of(path: Path) -> str:
    """Content of a file without byte-order mark and empty lines at its end.

    A file whose name ends in ``.gz`` is decompressed.

    Raises:
        InputError: The file is missing, cannot be read, is not UTF-8, or is empty.
    """
    if not path.is_file():
        raise InputError(f"No file {path}. Correct the path in the configuration.")
    try:
        content = path.read_bytes()
    except OSError as error:
        raise InputError(
            f"{path}: cannot be read ({error.strerror}). Correct its permissions."
        ) from None
    if path.suffix == ".gz":
        content = _decompressed(content, path)
    try:
        text = content.decode("utf-8-sig").rstrip("\r\n")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise InputError(
            f"{path}, line {number}: not UTF-8 text ({error.reason}). Save it as UTF-8."
        ) from None
    if not text:
        raise InputError(f"{path}: the file is empty. Download it again.")
    return text


def _decompressed(content: bytes, path: Path) -> bytes:
    try:
        return gzip.decompress(content)
    except (OSError, EOFError, zlib.error) as error:
        raise InputError(
            f"{path} ends in .gz, but gzip cannot decompress it ({error}). Copy it again, or "
            "rename it."
        ) from None


def _tsv(text: str) -> Iterator[tuple[int, list[str]]]:
    # Not splitlines(): it would also split at carriage returns and other separators in a text.
    for number, line in enumerate(text.split("\n"), start=1):
        yield number, line.removesuffix("\r").replace("\r", " ").split("\t")


def _csv(text: str, path: Path) -> Iterator[tuple[int, list[str]]]:
    csv.field_size_limit(sys.maxsize)
    reader = csv.reader(io.StringIO(text, newline=""), strict=True)
    while True:
        number = reader.line_num + 1
        try:
            fields = next(reader, None)
        except csv.Error as error:
            raise InputError(
                f"{path}, line {number}: not valid CSV ({error}). A field with a comma, a quote or "
                "a line break must be in double quotes, and quotes inside it doubled."
            ) from error
        if fields is None:
            return
        if fields:  # not an empty line
            yield number, fields


def _table(
    records: Iterator[tuple[int, list[str]]],
    path: Path,
    columns: Sequence[str],
    named: Sequence[str],
    separator: str,
) -> Iterator[Row]:
    names = list(named) or next(records)[1]
    places = [_place(names, column, path, separator) for column in columns]
    where = "listed in `columns`" if named else "in the header"
    for number, fields in records:
        if len(fields) == len(names):
            yield Row(number, tuple(fields[place] for place in places))
        else:
            yield Row(
                number,
                (),
                f"{len(fields)} {separator}-separated fields instead of {len(names)} as {where} "
                f"({', '.join(names)}): {short(' | '.join(fields))}",
            )


def _place(names: list[str], column: str, path: Path, separator: str) -> int:
    if names.count(column) != 1:
        found = ", ".join(map(repr, names))
        problem = "more than one" if column in names else "no"
        raise InputError(
            f"{path}, line 1: {problem} column {column!r} among {found}. The first line must name "
            f"the columns, separated by {separator}s; correct the names in the task's entry, "
            f"{HEADERLESS}."
        )
    return names.index(column)


def _json(text: str, columns: Sequence[str]) -> Iterator[Row]:
    *texts, label = columns
    for number, line in enumerate(text.split("\n"), start=1):
        try:
            values = json.loads(line, object_pairs_hook=_read_object)
        except (ValueError, RecursionError) as error:
            yield Row(number, (), f"not valid JSON ({error}): {short(line)}")
            continue
        if not isinstance(values, dict):
            yield Row(number, (), f"{short(line)} is not an object: {{...}}")
        elif missing := [column for column in columns if column not in values]:
            found = ", ".join(map(repr, values))
            yield Row(number, (), f"no column {', '.join(map(repr, missing))} among {found}")
        elif wrong := [column for column in texts if not isinstance(values[column], str)]:
            value = json.dumps(values[wrong[0]])
            yield Row(number, (), f"column {wrong[0]!r} is {short(value)}, expected a text")
        else:
            value = values[label]
            written = value if isinstance(value, str) else json.dumps(value)
            given = (*(values[column] for column in texts), written)
            yield Row(number, given, _half_character(given))


def _read_object(pairs: Sequence[tuple[str, Any]]) -> dict[str, Any]:
    """An object of JSON; Python's own reader keeps the last of several values of a key."""
    content = dict(pairs)
    if len(content) < len(pairs):
        names = [name for name, _ in pairs]
        twice = next(name for name in names if names.count(name) > 1)
        raise ValueError(f"the key {twice!r} has several values")
    return content


def _half_character(values: Sequence[str]) -> str:
    """What is wrong if JSON's escapes name half of a character, which no file can hold."""
    for value in values:
        try:
            value.encode()
        except UnicodeEncodeError:
            return f"half of a character (a lone surrogate) in {short(value)}, expected Unicode"
    return ""


def short(text: str) -> str:
    """A text in quotes, cut if it is long."""
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def is_blank(text: str) -> bool:
    """Whether a text has no visible character: only spaces, control characters and fillers."""
    return all(
        unicodedata.category(character) in _INVISIBLE or character in _BLANK_LETTERS
        for character in text
    )
