"""Data of a task from local files or from the Hub, in one common form.

This form is a ``DatasetDict`` with splits ``train`` and ``validation`` and columns ``idx`` (int64,
the source's own number of the example), ``sentence1``, ``sentence2`` (pair tasks only) and
``label`` (``ClassLabel`` in the order of the task's classes, stored as int64; float32 for
regression).
"""

from __future__ import annotations

import fnmatch
import logging
import math
import random
import re
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from darksecrets.core.data import files, hub
from darksecrets.core.data.files import short
from darksecrets.core.data.tasks import Files, HubData, Task
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    import pandas as pd
    from datasets import DatasetDict, Features

logger = logging.getLogger(__name__)

TRAIN, VALIDATION = SPLITS = ("train", "validation")

# In the published QQP files, some examples are split over two lines (a question contains a line
# break), and a few questions are empty. Like other loaders, we skip such lines, but count them: a
# file with more than this share of them is not the published file.
FLAWED_SHARE = 0.001
MOST_SHARED = 0.01
"""Share of validation examples that may also be training examples without a warning."""
_LOOKED_AT = 500
"""Examples of a split that are encoded before the first job."""


# --- The common form --------------------------------------------------------------------------


def features(task: Task) -> Features:
    """Columns and types that every source of ``task`` yields."""
    from datasets import ClassLabel, Features, Value

    texts = {column: Value("string") for column in task.columns}
    label = Value("float32") if task.is_regression else ClassLabel(names=list(task.labels))
    return Features({"idx": Value("int64"), **texts, "label": label})


def build_dataset(task: Task, splits: Mapping[str, pd.DataFrame], origin: str) -> DatasetDict:
    """Build a data set from two tables with the columns of `features`, in any order.

    Args:
        task: The task.
        splits: Table of each split: ``train`` and ``validation``, or one of them.
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
            for split in splits
        }
    )


def _leave_out(count: int, total: int, where: str, example: str) -> None:
    """Log examples skipped as known flaws of a source; raise an error if there are too many."""
    if count > FLAWED_SHARE * total:
        raise InputError(
            f"{where}: {count} of {total} examples cannot be used, the first of them: {example}. "
            f"Up to {FLAWED_SHARE:.1%} are a known flaw of this source and skipped; "
            "more are an error. Download the data again."
        )
    if count:
        logger.warning("%s: skipped %d of %d examples, the first: %s", where, count, total, example)


# --- The Hub ----------------------------------------------------------------------------------


def _hub_patterns(data: HubData) -> dict[str, str]:
    """Path pattern of each split's files; test splits have no labels and are not used."""
    names = {TRAIN: data.train, VALIDATION: data.validation}
    return {split: f"{data.config}/{name}-*.parquet" for split, name in names.items()}


def check_hub(tasks: Iterable[Task]) -> None:
    """Check, before any job, that the data of tasks on the Hub are there or in the cache.

    Raises:
        InputError: See `darksecrets.core.data.hub.check`.
    """
    patterns: dict[tuple[str, str], list[str]] = {}
    for task in tasks:
        if isinstance(data := task.data, HubData):
            source = (data.repository, data.revision)
            patterns.setdefault(source, []).extend(_hub_patterns(data).values())
    for (repository, revision), wanted in patterns.items():
        hub.check(repository, revision, wanted, "dataset")


def check_hub_columns(tasks: Iterable[Task]) -> None:
    """Check, before any job, columns and classes of the data on the Hub, without the examples.

    Files whose labels are mere text or numbers do not tell the classes; `read_hub` checks these.

    Raises:
        InputError: A column is missing, or the classes are others than those of the task.
    """
    from datasets import Features

    for task in tasks:
        if isinstance(data := task.data, HubData):
            for split, pattern in _hub_patterns(data).items():
                schema = hub.schema(data.repository, data.revision, pattern)
                found = Features.from_arrow_schema(schema)
                _check_hub_columns(task, found, f"{_origin(data)}, {split}")


def _origin(data: HubData) -> str:
    return f"{data.repository}, revision {data.revision}, configuration {data.config}"


def read_hub(task: Task) -> DatasetDict:
    """Download a task's training and validation data at a pinned revision.

    ``load_dataset(repository)`` is not used: it also downloads the test split, which for QQP is as
    large as the training split, and without a connection it uses whatever revision it prepared
    before. Instead, only the files needed are downloaded, then read by ``datasets``. Examples
    without text are skipped and counted (see `FLAWED_SHARE`).

    Args:
        task: A task whose data are parquet files on the Hub.

    Raises:
        InputError: The files are not available, or do not belong to this task.
    """
    from datasets import load_dataset

    assert isinstance(task.data, HubData)
    repository, revision = task.data.repository, task.data.revision
    patterns = _hub_patterns(task.data)
    folder = hub.download(repository, revision, list(patterns.values()), "dataset")
    origin = _origin(task.data)
    splits = {}
    for split in SPLITS:
        where = f"{origin}, {split}"
        shards = _shards(folder, patterns[split])
        _require_one_schema(shards, task, where)
        # Each split by itself: together, both would get the names of classes of the first.
        raw = load_dataset("parquet", data_files={split: shards}, split=split)
        _check_hub_columns(task, raw.features, where)
        names = dict(zip(task.text, task.columns, strict=True)) | {task.label: "label"}
        kept = [*names, *(["idx"] if "idx" in raw.features else [])]
        table = raw.select_columns(kept).to_pandas().rename(columns=names)
        if "idx" not in table:
            table["idx"] = range(len(table))
        table["label"] = _hub_labels(table, task, raw.features, where)
        splits[split] = _drop_empty_texts(table, task, where)
    return build_dataset(task, splits, origin)


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
            f"{folder} has {len(paths)} of the {max(expected)} files of {pattern}. "
            "The cache is incomplete: run once with a connection to the Hub."
        )
    return [str(path) for path in paths]


def _require_one_schema(shards: Sequence[str], task: Task, where: str) -> None:
    """Raise an error unless all files of a split number their classes alike."""
    from datasets import Features
    from pyarrow import parquet

    known = {}
    for path in shards:
        found = Features.from_arrow_schema(parquet.read_schema(path)).get(task.label)
        known[tuple(getattr(found, "names", None) or ())] = path
    if len(known) > 1:
        said = "; ".join(f"{', '.join(names) or 'none'} in {path}" for names, path in known.items())
        raise InputError(
            f"{where}: the files name the classes differently: {said}. Expected one encoding of "
            "the labels: choose a revision that was encoded as a whole."
        )


def _check_hub_columns(task: Task, found: Features, where: str) -> None:
    expected = [*task.text, task.label]
    if missing := [column for column in expected if column not in found]:
        raise InputError(
            f"{where}: no column {', '.join(missing)} among {', '.join(found)}; the task needs "
            f"{', '.join(expected)}. Check tasks.{task.name} in the configuration."
        )
    names = getattr(found[task.label], "names", None)
    if names is not None and tuple(names) != task.labels and not set(names) <= set(task.codes):
        raise InputError(
            f"{where}: the labels are {', '.join(names)}; expected {', '.join(task.labels)}, "
            f"in this order. Check tasks.{task.name} in the configuration."
        )


def _hub_labels(table: pd.DataFrame, task: Task, found: Features, where: str) -> pd.Series[Any]:
    """Labels as numbers of classes; those of a regression are taken as they are."""
    names = getattr(found[task.label], "names", None)
    if names is not None:
        _check_class_numbers(table, task, names, where)
    if task.is_regression or (names is not None and tuple(names) == task.labels):
        return table["label"]
    written = table["label"].map(lambda value: names[value] if names else str(value))
    unknown = ~written.isin(list(task.codes))
    if unknown.any():
        row = table[unknown].iloc[0]
        raise InputError(
            f"{where}: label {short(written[unknown].iloc[0])} at idx {row['idx']} is not "
            f"{_expected(task)}. Check tasks.{task.name}.labels in the configuration."
        )
    return written.map(dict(task.codes))


def _check_class_numbers(table: pd.DataFrame, task: Task, names: Sequence[str], where: str) -> None:
    """Check the numbers of a ``ClassLabel``; on the Hub, −1 means that an example has no label."""
    without = ~table["label"].isin(range(len(names)))
    if without.any():
        row = table[without].iloc[0]
        raise InputError(
            f"{where}: {without.sum()} of {len(table)} examples have no label, the first of them "
            f"idx {row['idx']} with {row['label']} instead of a number from 0 to {len(names) - 1} "
            f"({', '.join(names)}). Name a split with labels in tasks.{task.name}.hub."
        )


def _drop_empty_texts(table: pd.DataFrame, task: Task, where: str) -> pd.DataFrame:
    """The rows without empty texts."""
    filled = ~table[list(task.columns)].fillna("").map(files.is_blank).any(axis=1)
    if not filled.all():
        first = int(table.loc[~filled, "idx"].iloc[0])
        _leave_out(int((~filled).sum()), len(table), where, f"idx {first}, which has no text")
    return table[filled]


# --- Local files ------------------------------------------------------------------------------


class _Example(NamedTuple):
    """An example of a file: its number (from 0), texts and label."""

    idx: int
    texts: tuple[str, ...]
    label: float


class _FlawError(Exception):
    """A malformed row, of a kind known to occur in some published files."""


def paths_of(task: Task) -> dict[str, Path]:
    """File of each split of a task whose data are local files."""
    assert isinstance(task.data, Files)
    return {TRAIN: task.data.train, VALIDATION: task.data.validation}


def check_files(task: Task) -> dict[str, list[list[str]]]:
    """Check both files of a task row by row, before any job; imports no heavy library.

    Args:
        task: A task whose data are local files.

    Returns:
        By split, the text columns of some examples.

    Raises:
        InputError: A file or column is missing, a row is malformed, a class has no training
            example, the validation split has one label only, or all texts of a split are the
            same; the message says where.
    """
    paths = paths_of(task)
    for split, path in paths.items():
        if not path.is_file():
            raise InputError(
                f"tasks.{task.name}: there is no file {path} with the data of split {split}. "
                "Correct the path in the configuration."
            )
    examples = {split: _read(path, task) for split, path in paths.items()}
    labels = {split: [row.label for row in rows] for split, rows in examples.items()}
    validation = labels[VALIDATION]
    if len(set(validation)) < 2:
        raise InputError(
            f"{paths[VALIDATION]}: all {len(validation)} examples have the label {validation[0]}. "
            "Expected at least two different labels: scores on a single class say nothing about a "
            "model."
        )
    require_every_class(task, set(labels[TRAIN]), str(paths[TRAIN]))
    if len(set(labels[TRAIN])) < 2:
        raise InputError(
            f"{paths[TRAIN]}: all {len(labels[TRAIN])} examples have the label {labels[TRAIN][0]}, "
            "expected different labels: nothing can be learned from one. Correct the file."
        )
    texts = {split: [row.texts for row in rows] for split, rows in examples.items()}
    for split, path in paths.items():
        require_different_texts(task, texts[split], str(path))
    seen = set(texts[TRAIN])
    shared = [text in seen for text in texts[VALIDATION]]
    say_shared(str(paths[VALIDATION]), shared, texts[VALIDATION])
    return {split: _some(rows) for split, rows in examples.items()}


def _some(rows: Sequence[_Example]) -> list[list[str]]:
    """The text columns of some rows, drawn at random."""
    chosen = random.Random(0).sample(list(rows), min(_LOOKED_AT, len(rows)))
    return [list(column) for column in zip(*(row.texts for row in chosen), strict=True)]


def texts_of(task: Task) -> list[str]:
    """The texts of the validation examples of a task whose data are local files, each once.

    Raises:
        InputError: See `check_files`.
    """
    examples = _read(paths_of(task)[VALIDATION], task)
    return list(dict.fromkeys(text for example in examples for text in example.texts))


def say_shared(where: str, shared: Sequence[bool], texts: Sequence[Sequence[str]]) -> None:
    """Log a warning if validation examples are training examples, too.

    Args:
        where: The validation split, in words.
        shared: [examples] whether the text of each is that of a training example.
        texts: [examples] the text of each, one or two sentences.
    """
    if (count := sum(shared)) >= MOST_SHARED * len(shared) and count:
        first = next(text for text, is_shared in zip(texts, shared, strict=True) if is_shared)
        logger.warning(
            "%s: %d of %d validation examples (%.1f%%) have the text of a training example, such "
            "as %s. Scores on them show what a model remembers: compare the two files.",
            *(where, count, len(shared), 100 * count / len(shared)),
            " | ".join(map(short, first)),
        )


def require_different_texts(task: Task, texts: Sequence[Sequence[str]], where: str) -> None:
    """Check that a split has at least two different texts.

    Args:
        task: The task.
        texts: [examples] the text of each, one or two sentences.
        where: The split, in words.

    Raises:
        InputError: All are the same, as where a column of something else was named.
    """
    if len(texts) > 1 and all(text == texts[0] for text in texts):
        raise InputError(
            f"{where}: all {len(texts)} examples have the text {' | '.join(map(short, texts[0]))}. "
            f"Name the columns of the texts in tasks.{task.name}.text."
        )


def require_every_class(task: Task, found: Iterable[float], where: str) -> None:
    """Check that every class of a task occurs among the labels of its training examples.

    Raises:
        InputError: Names the classes that do not occur.
    """
    present = {int(label) for label in found} if task.labels else set()
    if absent := [name for code, name in enumerate(task.labels) if code not in present]:
        raise InputError(
            f"{where}: no example has the label {', '.join(absent)}; every class needs examples to "
            f"train on. Correct tasks.{task.name}.labels in the configuration, or the data."
        )


def read_files(task: Task) -> DatasetDict:
    """Read a task from local files; ``idx`` is the row of an example, from 0.

    Other columns than those of the task are ignored.

    Args:
        task: A task whose data are local files.

    Raises:
        InputError: See `check_files`.
    """
    splits = {split: read_file(path, task) for split, path in paths_of(task).items()}
    return build_dataset(task, splits, f"files of {task.name}")


def read_file(path: Path, task: Task) -> pd.DataFrame:
    """Read the examples of one file: a table with the columns of `features`.

    Args:
        path: The file.
        task: A task whose data are local files.

    Raises:
        InputError: The file or a column is missing, or a row is malformed.
    """
    import pandas as pd

    examples = _read(path, task)
    texts = zip(*(example.texts for example in examples), strict=True)
    return pd.DataFrame(
        {
            "idx": [example.idx for example in examples],
            **dict(zip(task.columns, (list(column) for column in texts), strict=True)),
            "label": [example.label for example in examples],
        }
    )


def _read(path: Path, task: Task) -> list[_Example]:
    """All examples of a file; rows with a known flaw are skipped and counted where allowed."""
    assert isinstance(task.data, Files)
    rows = files.read(path, (*task.text, task.label), task.data.columns)
    examples: list[_Example] = []
    flaws: list[str] = []
    for idx, row in enumerate(rows):
        try:
            examples.append(_example(idx, row, task))
        except _FlawError as flaw:
            if not task.flawed:
                raise InputError(f"{path}, line {row.line}: {flaw}") from flaw
            flaws.append(f"line {row.line}: {flaw}")
        except ValueError as error:
            raise InputError(f"{path}, line {row.line}: {error}") from error
    if flaws:
        _leave_out(len(flaws), len(rows), str(path), flaws[0])
    return examples


def _example(idx: int, row: files.Row, task: Task) -> _Example:
    """Parse one example; `_FlawError` and ``ValueError`` say what was found and expected."""
    if row.flaw:
        raise _FlawError(row.flaw)
    *texts, label = row.values
    for column, text in zip(task.text, texts, strict=True):
        if files.is_blank(text):
            found = "is empty" if not text.strip() else f"is {short(text)}, which shows nothing"
            raise _FlawError(f"column {column!r} {found}, not a text")
    number = _number(label, task) if task.is_regression else _class(label, task)
    return _Example(idx, tuple(texts), number)


def _class(label: str, task: Task) -> int:
    if label not in task.codes:
        raise ValueError(f"label {short(label)} in column {task.label!r} is not {_expected(task)}")
    return task.codes[label]


def _expected(task: Task) -> str:
    """The labels that a task's data may have, in words."""
    numbers = [str(code) for code in range(task.num_labels)]
    both = set(numbers) <= set(task.codes) - set(task.labels)
    if both and len(task.codes) > len(task.labels):
        return f"{' or '.join(task.labels)}, or a number from 0 to {task.num_labels - 1}"
    return " or ".join(task.codes)


def _number(label: str, task: Task) -> float:
    low, high = task.label_range or (-math.inf, math.inf)
    wanted = f"is not a number from {low:g} to {high:g}"
    try:
        value = float(label)
        if not label.isascii() or "_" in label:  # Python reads 1_0 as 10, and digits of any script
            raise ValueError
    except ValueError:
        raise ValueError(f"label {short(label)} in column {task.label!r} {wanted}") from None
    if not low <= value <= high:  # also false for NaN
        raise ValueError(f"label {label[:80]} in column {task.label!r} {wanted}")
    return value
