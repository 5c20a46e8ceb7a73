"""GLUE data of a task from the Hub or from a classic GLUE folder, in one common form.

This form is a ``DatasetDict`` with splits ``train`` and ``validation`` and columns ``idx`` (int64,
the source's own number of the example), ``sentence1``, ``sentence2`` (pair tasks only) and
``label`` (``ClassLabel`` in GLUE's order, stored as int64; float32 for regression).
"""

from __future__ import annotations

import fnmatch
import logging
import math
import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

from darksecrets.data import hub
from darksecrets.data.tasks import Task
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from datasets import DatasetDict, Features

logger = logging.getLogger(__name__)

TRAIN, VALIDATION = SPLITS = ("train", "validation")

# In the published QQP files, some examples are split over two lines (a question contains a line
# break), and a few questions are empty. Like other loaders, we skip such lines, but count them: a
# file with more than this share of them is not the published file.
FLAWED = frozenset({"QQP"})
FLAWED_SHARE = 0.001


# --- The common form --------------------------------------------------------------------------


def features(task: Task) -> Features:
    """Columns and types that every source of ``task`` yields."""
    from datasets import ClassLabel, Features, Value

    texts = {column: Value("string") for column in task.columns}
    label = Value("float32") if task.is_regression else ClassLabel(names=list(task.labels))
    return Features({"idx": Value("int64"), **texts, "label": label})


def to_dataset(task: Task, splits: Mapping[str, pd.DataFrame], origin: str) -> DatasetDict:
    """Build a data set from two tables with the columns of `features`, in any order.

    Args:
        task: The task.
        splits: Table of each split, ``train`` and ``validation``.
        origin: One line on where the data come from, kept as the data set's description.
    """
    from datasets import Dataset, DatasetDict, DatasetInfo

    form = features(task)
    return DatasetDict(
        {
            split: Dataset.from_pandas(
                splits[split][list(form)],
                features=form,
                info=DatasetInfo(description=origin, features=form),
                preserve_index=False,
            )
            for split in SPLITS
        }
    )


def _leave_out(count: int, total: int, where: str, example: str) -> None:
    """Log examples skipped as known flaws of a source; raise an error if there are too many."""
    if count > FLAWED_SHARE * total:
        raise InputError(
            f"{where}: {count} of {total} examples cannot be used, the first of them: {example}. "
            f"Up to {FLAWED_SHARE:.1%} are a known flaw of this source and skipped; "
            "so many are not. Download the data again."
        )
    if count:
        logger.warning("%s: skipped %d of %d examples, the first: %s", where, count, total, example)


# --- The Hub ----------------------------------------------------------------------------------


def _hub_patterns(task: Task) -> dict[str, str]:
    """Path pattern of each split's files; test splits have no labels and are not used."""
    return {
        TRAIN: f"{task.hub_config}/train-*.parquet",
        VALIDATION: f"{task.hub_config}/{task.hub_validation}-*.parquet",
    }


def check_hub(tasks: Iterable[Task], repository: str, revision: str) -> None:
    """Check, before any job, that the data of ``tasks`` are in the cache or on the Hub.

    Raises:
        InputError: See `darksecrets.data.hub.check`.
    """
    patterns = [pattern for task in tasks for pattern in _hub_patterns(task).values()]
    hub.check(repository, revision, patterns, "dataset")


def from_hub(task: Task, repository: str, revision: str) -> DatasetDict:
    """Download a task's training and validation data (MNLI: matched) at a pinned revision.

    ``load_dataset(repository)`` is not used: it also downloads the test split, which for QQP is as
    large as the training split, and without a connection it uses whatever revision it prepared
    before. Instead, only the files needed are downloaded, then read by ``datasets``. Examples
    without text are skipped and counted (see `FLAWED_SHARE`).

    Args:
        task: The task.
        repository: Data set with GLUE's configurations as parquet files, ``owner/name``.
        revision: Commit, tag or branch.

    Raises:
        InputError: The files are not available, or do not belong to this task.
    """
    from datasets import load_dataset

    patterns = _hub_patterns(task)
    folder = hub.download(repository, revision, list(patterns.values()), "dataset")
    origin = f"{repository}, revision {revision}, configuration {task.hub_config}"
    files = {split: _shards(folder, pattern) for split, pattern in patterns.items()}
    raw = load_dataset("parquet", data_files=files)
    splits = {}
    for split in SPLITS:
        where = f"{origin}, {split}"
        _check_hub_columns(task, raw[split].features, where)
        names = dict(zip(task.hub_columns, task.columns, strict=True))
        table = raw[split].select_columns([*names, "label", "idx"]).to_pandas()
        splits[split] = _with_text(table.rename(columns=names), task, where)
    return to_dataset(task, splits, origin)


def _shards(folder: Path, pattern: str) -> list[str]:
    """All files of a split; their names contain the number of files, which is checked."""
    paths = sorted(
        path
        for path in (folder / pattern).parent.iterdir()
        if fnmatch.fnmatch(path.name, Path(pattern).name)
    )
    expected = {int(found[1]) for p in paths if (found := re.search(r"-of-(\d+)\.", p.name))}
    if expected and expected != {len(paths)}:
        raise InputError(
            f"{folder}: found {len(paths)} files of {pattern}, expected {max(expected)}. "
            "The cache is incomplete: run once with a connection to the Hub."
        )
    return [str(path) for path in paths]


def _check_hub_columns(task: Task, found: Features, where: str) -> None:
    expected = [*task.hub_columns, "label", "idx"]
    if missing := [column for column in expected if column not in found]:
        raise InputError(
            f"{where}: no column {', '.join(missing)}; expected {', '.join(expected)}, "
            f"found {', '.join(found)}. Check the repository and the revision in the configuration."
        )
    names = getattr(found["label"], "names", None)
    if names is not None and tuple(names) != task.labels:
        raise InputError(
            f"{where}: the labels are {', '.join(names)}; expected {', '.join(task.labels)}, "
            "in this order. Check the repository and the revision in the configuration."
        )


def _with_text(table: pd.DataFrame, task: Task, where: str) -> pd.DataFrame:
    """The rows without empty texts."""
    import pandas as pd

    filled = pd.Series(True, index=table.index)
    for column in task.columns:
        filled &= table[column].fillna("").str.strip() != ""
    if not filled.all():
        first = int(table.loc[~filled, "idx"].iloc[0])
        _leave_out(int((~filled).sum()), len(table), where, f"idx {first}, which has no text")
    return table[filled]


# --- The classic GLUE folder ------------------------------------------------------------------


class _Row(NamedTuple):
    """An example of a classic file: its number (from 0), texts and label."""

    idx: int
    texts: tuple[str, ...]
    label: float


class _FlawError(Exception):
    """A malformed line, of a kind known to occur in some published files."""


def tsv_files(task: Task, folder: Path) -> dict[str, Path]:
    """File of each split in ``folder``, the classic GLUE folder with one folder per task."""
    base = folder / task.name
    return {TRAIN: base / "train.tsv", VALIDATION: base / task.tsv_validation}


def check_tsv(task: Task, folder: Path) -> None:
    """Check both files of a task line by line, before any job; imports no heavy library.

    Args:
        task: The task.
        folder: The classic GLUE folder (it has a folder ``MRPC``, and so on).

    Raises:
        InputError: A file or column is missing, or a line is malformed; the message says where.
    """
    for split, path in tsv_files(task, folder).items():
        labels = [row.label for row in _read_tsv(path, task)]
        if split == VALIDATION and len(set(labels)) < 2:
            raise InputError(
                f"{path}: all {len(labels)} examples have the label {labels[0]}. Expected at least "
                "two different labels: scores on a single class say nothing about a model."
            )


def from_tsv(task: Task, folder: Path) -> DatasetDict:
    """Read a task from a classic GLUE folder; ``idx`` is the example's line, counted from 0.

    Quotes are ordinary characters. Only line feeds end lines; a carriage return inside a line
    counts as a space. Other columns are ignored.

    Args:
        task: The task.
        folder: The classic GLUE folder (it has a folder ``MRPC``, and so on).

    Raises:
        InputError: See `check_tsv`.
    """
    import pandas as pd

    splits = {}
    for split, path in tsv_files(task, folder).items():
        rows = _read_tsv(path, task)
        texts = zip(*(row.texts for row in rows), strict=True)
        splits[split] = pd.DataFrame(
            {
                "idx": [row.idx for row in rows],
                **dict(zip(task.columns, (list(column) for column in texts), strict=True)),
                "label": [row.label for row in rows],
            }
        )
    return to_dataset(task, splits, f"classic GLUE files of {task.name}")


def _read_tsv(path: Path, task: Task) -> list[_Row]:
    """All examples of a file; lines with a known flaw are skipped and counted where allowed."""
    header, *lines = _lines(path)
    names = header.split("\t")
    indices = [_column_index(names, column, path) for column in (*task.tsv_columns, task.tsv_label)]
    codes = {name: code for code, name in enumerate(task.labels)}
    codes |= {str(code): code for code in range(len(task.labels))}
    rows: list[_Row] = []
    flaws: list[str] = []
    for idx, line in enumerate(lines):
        number = idx + 2  # counted from 1, after the header
        try:
            rows.append(_row(idx, line.split("\t"), names, indices, task, codes))
        except _FlawError as flaw:
            if task.name not in FLAWED:
                raise InputError(f"{path}, line {number}: {flaw}") from flaw
            flaws.append(f"line {number}: {flaw}")
        except ValueError as error:
            raise InputError(f"{path}, line {number}: {error}") from error
    if flaws:
        _leave_out(len(flaws), len(lines), str(path), flaws[0])
    if not rows:
        raise InputError(f"{path}: no examples after the header. Download the file again.")
    return rows


def _lines(path: Path) -> list[str]:
    """Lines of a file, the header first, without line ends and byte-order mark."""
    if not path.is_file():
        raise InputError(
            f"No file {path}. The folder must have the classic GLUE layout: "
            "<folder>/<task>/train.tsv and dev.tsv (for MNLI, dev_matched.tsv)."
        )
    content = path.read_bytes()
    try:
        text = content.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        number = content.count(b"\n", 0, error.start) + 1
        raise InputError(f"{path}, line {number}: not UTF-8 text ({error.reason}).") from error
    # Not splitlines(): it would also split at carriage returns and other separators in a text.
    lines = [line.removesuffix("\r").replace("\r", " ") for line in text.split("\n")]
    while lines and not lines[-1]:
        lines.pop()
    if not lines:
        raise InputError(f"{path}: the file is empty. Download it again.")
    return lines


def _column_index(names: list[str], column: str, path: Path) -> int:
    if column not in names:
        raise InputError(
            f"{path}, line 1: no column {column!r}; found {', '.join(map(repr, names))}. "
            "The first line must name the columns of the classic GLUE files, separated by tabs."
        )
    return names.index(column)


def _row(
    idx: int,
    fields: list[str],
    names: list[str],
    indices: list[int],
    task: Task,
    codes: Mapping[str, int],
) -> _Row:
    """Parse one example; `_FlawError` and ``ValueError`` say what was found and expected."""
    if len(fields) != len(names):
        raise _FlawError(
            f"{len(fields)} tab-separated fields, expected {len(names)} as in the header "
            f"({', '.join(names)}); found {_short(' | '.join(fields))}"
        )
    *texts, label = (fields[index] for index in indices)
    for column, text in zip(task.tsv_columns, texts, strict=True):
        if not text.strip():
            raise _FlawError(f"column {column!r} is empty")
    number = _number(label, task) if task.is_regression else _class(label, task, codes)
    return _Row(idx, tuple(texts), number)


def _class(label: str, task: Task, codes: Mapping[str, int]) -> int:
    if label not in codes:
        raise ValueError(
            f"label {_short(label)} in column {task.tsv_label!r}, expected "
            f"{' or '.join(task.labels)}, or a number from 0 to {len(task.labels) - 1}"
        )
    return codes[label]


def _number(label: str, task: Task) -> float:
    low, high = task.label_range or (-math.inf, math.inf)
    expected = f"expected a number from {low:g} to {high:g}"
    try:
        value = float(label)
    except ValueError:
        raise ValueError(
            f"label {_short(label)} in column {task.tsv_label!r}, {expected}"
        ) from None
    if not low <= value <= high:  # also false for NaN
        raise ValueError(f"label {label} in column {task.tsv_label!r}, {expected}")
    return value


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")
