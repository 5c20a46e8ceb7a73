"""Gathering the tables of single jobs into one tidy table of the run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from darksecrets.errors import InputError


def concatenate(paths: Sequence[Path]) -> pd.DataFrame:
    """Stack CSV files that have the same columns; each carries its own task, state and seed.

    Raises:
        InputError: If the columns of a file differ from those of the first, or rows repeat.
    """
    tables = [pd.read_csv(path) for path in paths]
    for path, table in zip(paths, tables, strict=True):
        if list(table.columns) != list(tables[0].columns):
            raise InputError(
                f"{path}: found the columns {list(table.columns)}, expected those of {paths[0]}, "
                f"{list(tables[0].columns)}. Remove both files and run again."
            )
    stacked = pd.concat(tables, ignore_index=True)
    if stacked.duplicated().any():
        raise InputError(f"{[str(p) for p in paths]}: found rows twice, expected each once.")
    return stacked
