"""A task: what its examples and labels are, how it is scored, and where its data are.

Tasks are entries of the configuration (docs/tasks.md). The workflow completes them and gives each
job the part that it needs, so that editing an entry reruns only what depends on it.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darksecrets.core.data import metrics

SENTENCES = ("sentence1", "sentence2")
"""Text columns of the project's data; examples of single-sentence tasks have only the first."""


def sentence_columns(names: Iterable[str]) -> list[str]:
    """Those of the given columns that are text columns of the data contract: one or two."""
    found = set(names)
    return [name for name in SENTENCES if name in found]


@dataclass(frozen=True)
class Files:
    """Data in local files.

    Attributes:
        train: File of the training split.
        validation: File of the validation split.
        columns: Names of the columns, for files without a header row; empty for others.
    """

    train: Path
    validation: Path
    columns: tuple[str, ...] = ()


@dataclass(frozen=True)
class HubData:
    """Data in a repository on the Hugging Face Hub.

    Attributes:
        repository: ``owner/name``.
        revision: Commit, tag or branch.
        config: Configuration of the data set: the folder of its parquet files.
        train: Name of the training split.
        validation: Name of the validation split.
    """

    repository: str
    revision: str
    config: str
    train: str
    validation: str


@dataclass(frozen=True)
class Task:
    """One task.

    Attributes:
        name: Name in paths, tables and figures.
        text: Columns of the source with the text: one, or two for sentence pairs.
        label: Column of the source with the label.
        labels: Names of the classes in order; empty for regression.
        codes: Number of the class for every value that the label column may have.
        label_range: Smallest and largest label of a regression task.
        metrics: Names of the metrics, the main one first; see `data.metrics`.
        data: Where the data are; None for a job that reads prepared data.
        flawed: Whether a small share of malformed examples is skipped rather than refused; see
            `core.data.sources.FLAWED_SHARE`.
    """

    name: str
    text: tuple[str, ...]
    label: str
    labels: tuple[str, ...]
    codes: Mapping[str, int]
    label_range: tuple[float, float] | None
    metrics: tuple[str, ...]
    data: Files | HubData | None = None
    flawed: bool = False

    @classmethod
    def from_entry(cls, name: str, entry: Mapping[str, Any]) -> Task:
        """Make a task from its entry in a resolved configuration, or from a part of the entry.

        Args:
            name: Name of the task.
            entry: Its entry. A job that reads prepared data only needs ``text`` and ``labels`` or
                ``range``. Without ``metrics``, the task has every metric that fits it.
        """
        labels = entry.get("labels", ())
        names = tuple(labels.values() if isinstance(labels, Mapping) else labels)
        low, high = entry.get("range", (0.0, 0.0))
        return cls(
            name=name,
            text=tuple(entry["text"]),
            label=entry.get("label", "label"),
            labels=names,
            codes=_codes(labels),
            label_range=None if names else (float(low), float(high)),
            metrics=tuple(entry.get("metrics") or metrics.fitting(len(names))),
            data=_data(entry),
            flawed=entry.get("flawed", False),
        )

    @property
    def is_regression(self) -> bool:
        """Whether the label is a number to predict rather than a class."""
        return not self.labels

    @property
    def is_pair(self) -> bool:
        """Whether an example has two sentences."""
        return len(self.text) == 2

    @property
    def num_labels(self) -> int:
        """Number of outputs of the classifier: classes, or 1 for regression."""
        return len(self.labels) or 1

    @property
    def columns(self) -> tuple[str, ...]:
        """Text columns of the project's own data contract."""
        return ("sentence1", "sentence2") if self.is_pair else ("sentence1",)


def _codes(labels: Mapping[str, str] | tuple[str, ...] | list[str]) -> dict[str, int]:
    """Number of the class by the value in the data.

    A list names the classes; the data may also have their numbers, from 0, as GLUE's do, unless a
    name is a number itself, such as ``1`` or ``1.0``. A mapping lists the values and the class that
    each means.
    """
    if isinstance(labels, Mapping):
        return {value: code for code, value in enumerate(labels)}
    codes = {name: code for code, name in enumerate(labels)}
    if any(_is_number(name) for name in labels):
        return codes
    return codes | {str(code): code for code in range(len(labels))}


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return text.strip().lstrip("+-").isdigit()
    return True


def _data(entry: Mapping[str, Any]) -> Files | HubData | None:
    if files := entry.get("files"):
        columns = tuple(entry.get("columns") or ())
        return Files(Path(files["train"]), Path(files["validation"]), columns)
    return HubData(**entry["hub"]) if entry.get("hub") else None
