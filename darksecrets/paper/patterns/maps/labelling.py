"""Labelling a set of maps: its folder, its page, and labels that the page has written.

An annotation folder is a set of maps (`paper.patterns.maps.mapset`). It is a copy of a sample, so
that labels are kept when the results that the sample was drawn from are removed.
"""

from __future__ import annotations

import shutil
from pathlib import Path
from urllib.parse import urlencode

import numpy as np
import pandas as pd

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, write_text
from darksecrets.paper.patterns.maps.mapset import (
    LABELS,
    MAPS,
    SETTLED,
    TABLE,
    MapSet,
    read_labels,
)
from darksecrets.paper.patterns.tables import LABELS as LABELS_TABLE

PAGE = "label.html"
"""Name of the page in an annotation folder."""
_RATER = ["map", "annotator", "pass"]


def prepare(folder: Path, sample: Path | None = None) -> None:
    """Make an annotation folder: a copy of a sample of maps, without its labels.

    Args:
        folder: The annotation folder; if it exists, it is left unchanged.
        sample: The set of maps to label. If None, the folder must exist.

    Raises:
        InputError: The folder holds something other than this sample.
    """
    if sample is None:
        return
    drawn = MapSet.load(sample)
    if (folder / TABLE).is_file():
        known = MapSet.load(folder)
        same = all(map(np.array_equal, known.maps, drawn.maps))
        if not (same and known.table.equals(drawn.table)):
            raise InputError(
                f"{folder} holds other maps than {sample}. Label the new sample in a new folder; "
                "to continue with the old one, make the page without --maps."
            )
        return
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise InputError(f"{folder} holds something other than a set of maps. Use a new folder.")
    with atomic(folder) as temporary:
        temporary.mkdir()
        for name in (MAPS, TABLE):
            if (sample / name).is_file():
                shutil.copyfile(sample / name, temporary / name)


def write_page(folder: Path, annotator: str, number: int) -> str:
    """Write the page of an annotation folder.

    Args:
        folder: The annotation folder.
        annotator: Name of the annotator.
        number: Number of the pass.

    Returns:
        The address to open, which names annotator and pass.

    Raises:
        InputError: The name cannot be used, or there is nothing to settle in pass ``SETTLED``.
    """
    from darksecrets.paper.patterns.maps.page.building import build

    rater = check_annotator(annotator)
    mapset = MapSet.load(folder)
    if number == SETTLED and not mapset.disputed():
        raise InputError(
            f"There is nothing to settle in pass {SETTLED}: earlier passes agree on the class of "
            "every map, under both definitions."
        )
    write_text(build(mapset), folder / PAGE)
    asked = urlencode({"annotator": rater, "pass": number})
    return f"{(folder / PAGE).resolve().as_uri()}#{asked}"


def add_labels(folder: Path, given: Path) -> int:
    """Add labels that the page has written to an annotation folder.

    A label replaces the one that the same annotator gave the same map in the same pass before.

    Args:
        folder: The annotation folder.
        given: The file that was downloaded from the page.

    Returns:
        The number of labels in the file.

    Raises:
        InputError: The file is no table of labels of this set, see `MapSet.load`; or it is empty,
            or has a map twice.
    """
    mapset = MapSet.load(folder)
    new = read_labels(given, set(mapset.table["map"]))
    if new.empty:
        raise InputError(f"{given} has no labels. Label maps on the page, then download them.")
    if (twice := new[new.duplicated(_RATER)]).size:
        raise InputError(f"{given}: the map {twice['map'].iloc[0]} is labelled twice.")
    for name in new["annotator"].unique():
        check_annotator(name)
    every = pd.concat([mapset.labels, new], ignore_index=True)
    LABELS_TABLE.write(every.drop_duplicates(_RATER, keep="last"), folder / LABELS)
    return len(new)


def check_annotator(name: str) -> str:
    """Return an annotator's name, stripped, if it can be written to a CSV file unquoted.

    Raises:
        InputError: The name is empty, or has a comma, a quote or a line break.
    """
    if not name.strip() or not name.isprintable() or set(name) & set(',"'):
        raise InputError(
            f"The annotator's name {name!r} cannot be used: expected a name or initials without "
            "commas, quotes and line breaks."
        )
    return name.strip()
