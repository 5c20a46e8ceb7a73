"""The labelled maps that the classifier is trained on: one or several sets, checked."""

from __future__ import annotations

import unicodedata
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.core.arrays import Halves, Integers
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.states import FROM_NORMAL, RANDOM
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps.mapset import LABELS, MAPS, TABLE, MapSet

SHIPPED = RESOURCES / "patterns"
"""The labelled set that ships with the project."""
SHIPPED_FOLDS = 121
"""Examples of its rarest class, and so the most folds: a set that is known need not be read."""
BORDERLINE = SHIPPED / "borderline"
"""A few border-line maps with the answers that the rules give, for annotators to see first."""


@dataclass(frozen=True)
class Annotations:
    """Maps with a settled label, of one or several sets.

    Attributes:
        table: A row per map: the columns of a set's table; the settled answers ``label``,
            ``columns``, ``number``, ``diagonal``; and ``strict``, the class under the strict
            definition, empty if unknown.
        maps: [maps] arrays [query, key] in half precision; rows sum to 1.
    """

    table: pd.DataFrame
    maps: Sequence[Halves]

    @property
    def labels(self) -> list[str]:
        """[maps] name of each map's class."""
        return list(self.table["label"])

    @property
    def encoders(self) -> npt.NDArray[np.object_]:
        """[maps] encoder of each map, see `encoder_of`; one is left out of training as a whole."""
        pairs = zip(self.table["model"], self.table["state"].fillna(""), strict=True)
        return np.array([encoder_of(*pair) for pair in pairs], dtype=object)

    @property
    def groups(self) -> Integers:
        """[maps] group of each map, for cross-validation: examples that share a sentence are one.

        Two maps are in one group if they are of the same example (whatever the layer, head and
        state), if they share a sentence (whatever the task and model), or if a chain of such maps
        connects them. Sentences are compared by their letters and digits, because models differ in
        word pieces, case and accents.
        """
        members: dict[Hashable, list[int]] = {}
        for row, one in enumerate(self.table.to_dict("records")):
            for key in ((one["model"], one["task"], one["idx"]), *_sentences(one)):
                members.setdefault(key, []).append(row)
        group = np.arange(len(self.table))
        while True:
            before = group.copy()
            for rows in members.values():
                group[rows] = group[rows].min()
            if (group == before).all():
                return np.asarray(np.unique(group, return_inverse=True)[1], dtype=np.int64)


def encoder_of(model: str, state: str) -> str:
    """Name of the encoder that maps are of.

    A model's states share weights, except randomly initialized ones, which are encoders of their
    own.
    """
    return f"{model}, {state}" if state in (RANDOM, FROM_NORMAL) else model


def _sentences(row: Mapping[Hashable, Any]) -> list[str]:
    """The letters and digits of the sentences of a map's example."""
    words: dict[str, list[str]] = {}
    marks = zip(row["tokens"].split(" "), row["segments"], row["special"], strict=True)
    for token, segment, special in marks:
        if special == "0":
            words.setdefault(segment, []).append(token)
    return list(filter(None, (_letters("".join(some)) for some in words.values())))


def _letters(pieces: str) -> str:
    """Letters and digits of word pieces, without accents and the mark of spaces of RoBERTa."""
    plain = unicodedata.normalize("NFKD", pieces.replace("Ġ", "")).casefold()
    return "".join(letter for letter in plain if letter.isalnum())


def folders(names: Sequence[str]) -> list[Path]:
    """The folders that a configuration lists; the shipped set if the list is empty."""
    return [Path(name) for name in names] or [SHIPPED]


def files(folder: Path) -> list[Path]:
    """The files of a set, for a workflow to watch."""
    return [folder / name for name in (MAPS, TABLE, LABELS)]


def load(sources: Sequence[Path]) -> Annotations:
    """Read sets of labelled maps, and keep the maps with a settled label.

    Args:
        sources: Folders, each a set as `MapSet` writes it.

    Raises:
        InputError: A set is missing or damaged, or a map is in two of them.
    """
    sets = [_read(source) for source in sources]
    tables = [one.table.merge(one.settled(), on="map", validate="one_to_one") for one in sets]
    maps = {
        name: values
        for one in sets
        for name, values in zip(one.table["map"], one.maps, strict=True)
    }
    table = pd.concat(tables, ignore_index=True)
    if not table["map"].is_unique:
        twice = table.loc[table["map"].duplicated(), "map"].iloc[0]
        raise InputError(
            f"{', '.join(map(str, sources))}: the map {twice} is in two sets. Rename one."
        )
    return Annotations(table, [maps[name] for name in table["map"]])


def labels(sources: Sequence[Path]) -> pd.DataFrame:
    """All labels given to the maps of sets, with their passes and annotators.

    Raises:
        InputError: A set is missing or damaged.
    """
    return pd.concat([_read(source).labels for source in sources], ignore_index=True)


def _read(source: Path) -> MapSet:
    if not source.is_dir():
        raise InputError(
            f"patterns.annotations: {source} is not a folder; expected a set of labelled maps."
        )
    if not (source / LABELS).is_file():
        raise InputError(f"{source}: {LABELS} is missing. Label the maps first.")
    return MapSet.load(source)


def check(names: Sequence[str], folds: int) -> None:
    """Check that the classifier can be trained and cross-validated.

    Raises:
        InputError: A set cannot be read, there are fewer than two classes, or a class has maps of
            fewer examples than there are folds.
    """
    if not names and folds <= SHIPPED_FOLDS:
        return
    sources = folders(names)
    found = load(sources)
    where = ", ".join(map(str, sources))
    examples = found.table.assign(group=found.groups).groupby("label")["group"].nunique()
    counts = {name: int(examples[name]) for name in PATTERNS if name in examples}
    if len(counts) < 2:
        raise InputError(
            f"{where}: the maps have {', '.join(counts) or 'no label'}; at least two "
            "classes are needed."
        )
    few = [f"{name} ({count})" for name, count in counts.items() if count < folds]
    if few:
        raise InputError(
            f"{where}: too few examples of {', '.join(few)} for {folds} folds "
            "(patterns.folds). Label more maps of these classes, or lower the number of folds."
        )
