"""The labelled maps that the follow-up published (Prasanna, Rogers, Rumshisky 2020).

The unpacked archive is a folder with one ``.npy`` file per map and a text file of lines such as
``single_vertical = 12, 57, 103``, where the numbers are names of files.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.arrays import Halves
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.mapset import COLUMNS, SETTLED, MapSet, label_table
from darksecrets.run.errors import InputError

VERTICAL = "vertical"
MERGED = {"mix": "vertical+diagonal", "other": "heterogeneous"}
"""The follow-up's names of two classes. All its vertical classes end in that word."""
ROW_SUM_TOLERANCE = 0.01
UNKNOWN_TOKEN = "·"


def is_archive(folder: Path) -> bool:
    """Whether a folder looks like the unpacked archive."""
    return next(folder.rglob("*.npy"), None) is not None


def read(folder: Path) -> MapSet:
    """Read the archive as a set of maps with settled labels, whose second answers are unknown.

    The archive does not give a map's origin. Every map is therefore taken as its own example with
    unknown tokens, of which the first and the last are special, as in BERT.

    Raises:
        InputError: There is no text file or more than one, a line of it cannot be read, it names an
            unknown class or a map twice, a map is missing, or an array is not an attention map.
    """
    labels = _read_labels(_text_file(folder))
    files = {path.stem: path for path in sorted(folder.rglob("*.npy"))}
    missing = [name for name in labels if name not in files]
    if missing:
        raise InputError(
            f"{folder}: {len(missing)} labelled maps have no array, such as {missing[0]}.npy. "
            "Unpack the whole archive."
        )
    maps = [_read_map(files[name]) for name in labels]
    rows = [
        _describe(folder.name, number, name, len(one))
        for number, (name, one) in enumerate(zip(labels, maps, strict=True), start=1)
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"seed": "Int64"})
    given = [(row["map"], label) for row, label in zip(rows, labels.values(), strict=True)]
    settled = [(name, label, "", None, None, "archive", SETTLED, "", "") for name, label in given]
    return MapSet(table, maps, label_table(settled))


def _text_file(folder: Path) -> Path:
    texts = sorted(folder.rglob("*.txt"))
    if len(texts) != 1:
        found = ", ".join(path.name for path in texts) or "none"
        raise InputError(
            f"{folder}: expected one text file with lines `label = id, id, …`, found {found}."
        )
    return texts[0]


def _read_labels(path: Path) -> dict[str, str]:
    """Class by name of the map."""
    labels: dict[str, str] = {}
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if not line.strip():
            continue
        where = f"{path}, line {number}"
        name, equals, identities = line.partition("=")
        if not equals:
            raise InputError(f"{where}: found {line.strip()!r}, expected `label = id, id, …`.")
        label = _merge(name.strip(), where)
        for identity in filter(None, (part.strip() for part in identities.split(","))):
            if identity in labels:
                raise InputError(f"{where}: the map {identity} already has a label.")
            labels[identity] = label
    return labels


def _merge(name: str, where: str) -> str:
    """The class that a label of the archive stands for."""
    label = VERTICAL if name.endswith(VERTICAL) else MERGED.get(name, name)
    if label not in PATTERNS:
        known = [*PATTERNS, *MERGED, f"…_{VERTICAL}"]
        raise InputError(
            f"{where}: found the unknown class {name!r}, expected one of {', '.join(known)}."
        )
    return label


def _read_map(path: Path) -> Halves:
    """Read one array and crop its padding: last columns that no token attends to."""
    try:
        array = np.load(path, allow_pickle=False)
    except ValueError as error:
        raise InputError(f"{path}: cannot be read as a plain array: {error}") from None
    square = array.ndim == 2 and array.shape[0] == array.shape[1] and array.dtype.kind == "f"
    if not square:
        raise InputError(
            f"{path}: found an array of shape {array.shape} and type {array.dtype}, expected a "
            "square one of weights."
        )
    attended = np.flatnonzero(array.any(axis=0))
    length = int(attended[-1]) + 1 if len(attended) else 0
    weights = array[:length, :length]
    sums = weights.sum(axis=1, dtype=np.float64)
    # Written so that NaN also fails.
    if not (length and weights.min() >= 0 and np.abs(sums - 1).max() <= ROW_SUM_TOLERANCE):
        raise InputError(
            f"{path}: found weights below 0 or rows that do not sum to 1; expected an attention "
            "map after softmax."
        )
    return weights.astype(np.float16)


def _describe(model: str, number: int, name: str, length: int) -> dict[str, object]:
    special = "".join("1" if place in (0, length - 1) else "0" for place in range(length))
    return {
        "map": f"{model}-{name}",
        "model": model,
        "task": "",
        "state": "",
        "seed": None,
        "idx": number,
        "layer": 0,
        "head": 0,
        "tokens": " ".join([UNKNOWN_TOKEN] * length),
        "segments": "0" * length,
        "special": special,
        "earlier": "",
    }
