"""Checks and statistics of a data set from any source."""

from __future__ import annotations

import hashlib
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from darksecrets.core.data.files import is_blank
from darksecrets.core.data.sources import (
    SPLITS,
    TRAIN,
    VALIDATION,
    require_different_texts,
    require_every_class,
    say_shared,
)
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from datasets import Dataset, DatasetDict


def check(dataset: DatasetDict, task: Task) -> dict[str, Any]:
    """Check a newly prepared data set and describe it.

    Args:
        dataset: Splits ``train`` and ``validation`` in the form of `darksecrets.core.data.sources`.
        task: The task that the data should belong to.

    Returns:
        For ``train`` and ``validation``: ``examples``, their number; ``duplicates``, the number of
        examples whose text (both sentences, whatever the label) repeats an earlier one of the
        split; ``labels``, the number of examples of each class, or minimum, maximum and mean of a
        regression label. Also ``shared``, the number of validation examples whose text is in
        ``train``, and ``fingerprint``, the SHA-256 of all rows.

    Raises:
        InputError: A split or column is missing or has the wrong type; a text is empty; a label is
            out of range; a class has no training example; all texts are the same; or an ``idx`` is
            repeated.
    """
    if missing := [split for split in SPLITS if split not in dataset]:
        raise InputError(f"{task.name}: no split {', '.join(missing)} among {', '.join(dataset)}.")
    tables = {}
    for split in SPLITS:
        where = f"{task.name}, {split}"
        _check_types(dataset[split], task, where)
        tables[split] = dataset[split].to_pandas()[["idx", *task.columns, "label"]]
        _check_values(tables[split], task, where)
    require_every_class(task, tables[TRAIN]["label"].unique(), f"{task.name}, {TRAIN}")

    texts = list(task.columns)
    repeated = {split: tables[split].duplicated(texts) for split in SPLITS}
    shared = _shared(tables[TRAIN], tables[VALIDATION], texts)
    columns = {split: tables[split][texts].to_numpy().tolist() for split in SPLITS}
    for split in SPLITS:
        require_different_texts(task, columns[split], f"{task.name}, {split}")
    say_shared(f"{task.name}, {VALIDATION}", shared.tolist(), columns[VALIDATION])
    splits = {
        split: {
            "examples": len(table),
            "duplicates": int(repeated[split].sum()),
            "labels": _labels(table["label"], task),
        }
        for split, table in tables.items()
    }
    return {
        **splits,
        "shared": int(shared.sum()),
        "fingerprint": fingerprint(tables[split] for split in SPLITS),
    }


def fingerprint(tables: Iterable[pd.DataFrame]) -> str:
    """SHA-256 of the names and values of all columns, in order, independent of the file format.

    A text column is hashed as its lengths and then its characters, so that moving a boundary
    between two texts changes the hash.
    """
    digest = hashlib.sha256()
    for table in tables:
        digest.update(f"{len(table)} {' '.join(table.columns)}\n".encode())
        for name in table.columns:
            column = table[name]
            if column.dtype.kind in "if":
                digest.update(column.to_numpy(dtype=f"<{column.dtype.kind}8").tobytes())
            else:
                digest.update(column.str.len().to_numpy(dtype="<i8").tobytes())
                digest.update("".join(column).encode())
    return digest.hexdigest()


def _check_types(split: Dataset, task: Task, where: str) -> None:
    label = "float32" if task.is_regression else "int64"
    expected = {"idx": "int64", **dict.fromkeys(task.columns, "string"), "label": label}
    found = {name: getattr(kind, "dtype", str(kind)) for name, kind in split.features.items()}
    if found != expected:
        raise InputError(f"{where}: columns are {_listed(found)}, not {_listed(expected)}.")
    names = getattr(split.features["label"], "names", None)
    if names is not None and tuple(names) != task.labels:
        raise InputError(
            f"{where}: labels are {', '.join(names)}; expected {', '.join(task.labels)}."
        )
    if not len(split):
        raise InputError(f"{where}: no examples.")


def _listed(columns: dict[str, str]) -> str:
    return ", ".join(f"{name} ({kind})" for name, kind in columns.items())


def _check_values(table: pd.DataFrame, task: Task, where: str) -> None:
    low, high = task.label_range or (0, task.num_labels - 1)
    for column in task.columns:
        empty = table[column].isna() | table[column].fillna("").map(is_blank)
        _raise_first(table, empty, where, f"{column} is empty")
    label = table["label"]
    _raise_first(
        table, ~label.between(low, high), where, f"the label is not from {low:g} to {high:g}"
    )
    _raise_first(table, table["idx"].duplicated(), where, "this idx is repeated")


def _raise_first(table: pd.DataFrame, wrong: pd.Series[bool], where: str, what: str) -> None:
    if wrong.any():
        row = table[wrong].iloc[0]
        raise InputError(
            f"{where}: {what} at idx {row['idx']} (label {row['label']}), "
            f"and in {int(wrong.sum())} of {len(table)} examples in all. Correct the source."
        )


def _shared(train: pd.DataFrame, validation: pd.DataFrame, texts: list[str]) -> pd.Series[bool]:
    """Which validation examples have the text of a training example."""
    import pandas as pd

    seen = pd.MultiIndex.from_frame(train[texts])
    return pd.Series(pd.MultiIndex.from_frame(validation[texts]).isin(seen), validation.index)


def _labels(label: pd.Series[Any], task: Task) -> dict[str, float]:
    if task.is_regression:
        return {name: float(label.agg(name)) for name in ("min", "max", "mean")}
    return {name: int((label == code).sum()) for code, name in enumerate(task.labels)}
