"""The seven GLUE tasks of the paper (section 3): columns, labels, metrics and split names."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Task:
    """One task, and where to find its columns and splits in each kind of source.

    Attributes:
        name: The paper's name, also the folder's name in the classic GLUE download.
        labels: Class names in the order of GLUE's integer labels; empty for regression.
        metrics: Names of the metrics, the paper's main one first; see ``data.metrics``.
        hub_config: Configuration of the GLUE data set on the Hub.
        hub_columns: Text columns there (one, or two for sentence pairs).
        tsv_columns: Text columns in the classic files; their names differ between tasks.
        tsv_label: Label column in the classic files.
        hub_validation: Validation split on the Hub.
        tsv_validation: Validation file of the classic download.
        label_range: Smallest and largest label of a regression task.
        glue_sizes: Numbers of training and validation examples in GLUE, for cost estimates; zeros
            for data other than GLUE.
    """

    name: str
    labels: tuple[str, ...]
    metrics: tuple[str, ...]
    hub_config: str
    hub_columns: tuple[str, ...]
    tsv_columns: tuple[str, ...]
    tsv_label: str
    hub_validation: str = "validation"
    tsv_validation: str = "dev.tsv"
    label_range: tuple[float, float] | None = None
    glue_sizes: tuple[int, int] = (0, 0)

    @property
    def is_regression(self) -> bool:
        """Whether the label is a number to predict rather than a class."""
        return not self.labels

    @property
    def is_pair(self) -> bool:
        """Whether an example has two sentences."""
        return len(self.hub_columns) == 2

    @property
    def num_labels(self) -> int:
        """Number of outputs of the classifier: classes, or 1 for regression."""
        return len(self.labels) or 1

    @property
    def columns(self) -> tuple[str, ...]:
        """Text columns of the project's own data contract."""
        return ("sentence1", "sentence2") if self.is_pair else ("sentence1",)


_PAIR = ("sentence1", "sentence2")

TASKS: dict[str, Task] = {
    task.name: task
    for task in (
        Task(
            name="MRPC",
            labels=("not_equivalent", "equivalent"),
            metrics=("f1", "accuracy"),
            hub_config="mrpc",
            hub_columns=_PAIR,
            tsv_columns=("#1 String", "#2 String"),
            tsv_label="Quality",
            glue_sizes=(3_668, 408),
        ),
        Task(
            name="STS-B",
            labels=(),
            metrics=("pearson", "spearman"),
            hub_config="stsb",
            hub_columns=_PAIR,
            tsv_columns=_PAIR,
            tsv_label="score",
            label_range=(0.0, 5.0),
            glue_sizes=(5_749, 1_500),
        ),
        Task(
            name="SST-2",
            labels=("negative", "positive"),
            metrics=("accuracy",),
            hub_config="sst2",
            hub_columns=("sentence",),
            tsv_columns=("sentence",),
            tsv_label="label",
            glue_sizes=(67_349, 872),
        ),
        Task(
            name="QQP",
            labels=("not_duplicate", "duplicate"),
            metrics=("f1", "accuracy"),
            hub_config="qqp",
            hub_columns=("question1", "question2"),
            tsv_columns=("question1", "question2"),
            tsv_label="is_duplicate",
            glue_sizes=(363_846, 40_430),
        ),
        Task(
            name="RTE",
            labels=("entailment", "not_entailment"),
            metrics=("accuracy",),
            hub_config="rte",
            hub_columns=_PAIR,
            tsv_columns=_PAIR,
            tsv_label="label",
            glue_sizes=(2_490, 277),
        ),
        Task(
            name="QNLI",
            labels=("entailment", "not_entailment"),
            metrics=("accuracy",),
            hub_config="qnli",
            hub_columns=("question", "sentence"),
            tsv_columns=("question", "sentence"),
            tsv_label="label",
            glue_sizes=(104_743, 5_463),
        ),
        Task(
            name="MNLI",
            labels=("entailment", "neutral", "contradiction"),
            metrics=("accuracy",),
            hub_config="mnli",
            hub_columns=("premise", "hypothesis"),
            tsv_columns=_PAIR,
            tsv_label="gold_label",
            hub_validation="validation_matched",
            tsv_validation="dev_matched.tsv",
            glue_sizes=(392_702, 9_815),
        ),
    )
}
