"""Gathering the tables of single jobs into one tidy table of the run."""

from __future__ import annotations

import gzip
import shutil
from collections.abc import Sequence
from pathlib import Path

import pandas as pd

from darksecrets.run.errors import InputError
from darksecrets.run.files import compressed


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


def join_compressed(paths: Sequence[Path], target: Path) -> None:
    """Stack compressed CSV files that have the same columns, line by line: tables of any length.

    Raises:
        InputError: If the columns of a file differ from those of the first.
    """
    header = ""
    with compressed(target) as joined:
        for path in paths:
            with gzip.open(path, "rt", encoding="utf-8", newline="") as table:
                columns = next(table)
                if not header:
                    joined.write(header := columns)
                elif columns != header:
                    raise InputError(
                        f"{path}: found the columns {columns.strip()}, expected those of "
                        f"{paths[0]}, {header.strip()}. Remove both files and run again."
                    )
                shutil.copyfileobj(table, joined)


def identify(table: pd.DataFrame, task: str, model: str) -> pd.DataFrame:
    """Say in a table's first columns which maps it is about: ``task``, ``state``, ``seed``.

    Args:
        table: A table of one model on one task.
        task: The task.
        model: Folder of the maps: ``pretrained``, whose seed is empty, or ``finetuned/seed-1``.
    """
    state, _, seed = model.partition("/seed-")
    names = {"task": task, "state": state, "seed": int(seed) if seed else pd.NA}
    return pd.concat([pd.DataFrame(names, index=table.index), table], axis=1)
