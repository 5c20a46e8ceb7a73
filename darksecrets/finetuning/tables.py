"""Tables of section 4.3: scores, learning curves, and the change of every head in fine-tuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from darksecrets.data.tables import METRIC
from darksecrets.run.columns import (
    HEAD,
    IDX,
    LAYER,
    MODEL,
    P_VALUE,
    Q_VALUE,
    SEED,
    STATE,
    TASK,
    names,
)
from darksecrets.run.tables import Column, Table, interval

if TYPE_CHECKING:
    import pandas as pd

_SCORE = Column("score", "number", "score on the validation split", "× 100", high=100)

STATES = ("pretrained", "frozen", "finetuned-from-normal", "finetuned")
"""States that are scored, in the order of Table 1; `frozen` has no maps of its own."""

BASELINE_NAMES = ("majority", "bag of words")

_SCORED = (TASK, replace(STATE, values=STATES), SEED)

SCORES = Table(
    "table1",
    "Scores of every model on its task (Table 1).",
    (
        *_SCORED,
        METRIC,
        _SCORE,
        Column("constant", "flag", "whether the prediction is the same for every example"),
    ),
    key=names(*_SCORED, METRIC),
)

_BASELINE = Column("baseline", "text", "the baseline", values=BASELINE_NAMES)

BASELINES = Table(
    "baselines",
    "Scores of baselines that ignore sentence structure (beside Table 1).",
    (TASK, _BASELINE, METRIC, _SCORE),
    key=("task", "baseline", "metric"),
)

_NAMES = (*STATES, *BASELINE_NAMES)
_EXAMPLES = Column("examples", "integer", "validation examples", low=1)
_SEEDS = Column("seeds", "integer", "seeds of the models", low=1)

SCORE_MEANS = Table(
    "score_means",
    "Scores of every state of the model and every baseline, over examples and seeds.",
    (
        TASK,
        Column("model", "text", "the state of the model, or a baseline", values=_NAMES),
        METRIC,
        replace(_SCORE, meaning="mean score over the seeds, on the validation split"),
        *interval("score", unit="× 100"),
        Column(
            "sd",
            "number",
            "sample standard deviation over the seeds; empty for one seed",
            "× 100",
            low=0,
            optional=True,
        ),
        replace(_SEEDS, meaning="seeds; empty for baselines, which have none", optional=True),
        _EXAMPLES,
        Column(
            "constant",
            "number",
            "share of the seeds whose prediction is the same for every example",
            low=0,
            high=1,
        ),
    ),
    key=("task", "model", "metric"),
)

_COMPARED = (
    Column("model", "text", "the state of the model", values=STATES),
    Column("reference", "text", "what it is compared with", values=_NAMES),
)
_DIFFERENCE = (
    Column(
        "difference", "number", "score of `model` − score of `reference`, means over seeds", "× 100"
    ),
    *interval("difference", unit="× 100"),
)

SCORE_DIFFERENCES = Table(
    "score_differences",
    "Differences of scores between states of the model, paired over examples and seeds.",
    (
        TASK,
        *_COMPARED,
        METRIC,
        *_DIFFERENCE,
        replace(P_VALUE, meaning="two-sided p-value of no difference"),
        replace(Q_VALUE, meaning="false discovery rate over all rows"),
        _SEEDS,
        _EXAMPLES,
    ),
    key=("task", "model", "reference", "metric"),
)

MEAN_DIFFERENCES = Table(
    "mean_differences",
    "Differences of scores, averaged over the tasks: of accuracy, or the main metric without it.",
    (
        *_COMPARED,
        *_DIFFERENCE,
        replace(P_VALUE, meaning="two-sided p-value of no difference"),
        replace(Q_VALUE, meaning="false discovery rate over all rows"),
        Column("tasks", "integer", "tasks averaged over", low=1),
        _SEEDS,
        replace(_EXAMPLES, meaning="validation examples of all these tasks"),
    ),
    key=("model", "reference"),
)

LEARNING_CURVES = Table(
    "learning_curves",
    "Loss and scores during fine-tuning.",
    (
        *MODEL,
        Column("step", "integer", "optimizer steps so far", low=0),
        Column("epoch", "number", "epochs so far", low=0),
        Column("split", "text", "split that the value is for", values=("train", "validation")),
        Column(
            "quantity",
            "text",
            "`loss` (on `train`: mean over the steps since the previous row), or a metric",
            values=("loss", *METRIC.values),
        ),
        Column("value", "number", "value of the quantity; scores × 100"),
    ),
    key=(*names(*MODEL), "step", "split", "quantity"),
)

COSINE = Table(
    "cosine",
    "Cosine similarity of each head's maps before and after fine-tuning (Figure 5).",
    (
        TASK,
        SEED,
        LAYER,
        HEAD,
        Column("similarity", "number", "mean over the examples", low=0, high=1),
        Column(
            "sd",
            "number",
            "standard deviation over the examples; empty for one example",
            low=0,
            optional=True,
        ),
        Column("examples", "integer", "examples compared", low=1),
    ),
    key=("task", "seed", "layer", "head"),
    every=("layer", "head"),
)


def scored_by(
    metrics: Mapping[str, Sequence[str]],
) -> Callable[[pd.DataFrame], pd.DataFrame]:
    """Make a function that keeps the rows of some metrics, and those of losses.

    Args:
        metrics: Metrics of every task.

    Returns:
        A function of tables with the columns ``task`` and ``metric`` or ``quantity``.
    """

    def keep(table: pd.DataFrame) -> pd.DataFrame:
        quantity = table["metric" if "metric" in table else "quantity"]
        pairs = zip(table["task"], quantity, strict=True)
        return table[[name == "loss" or name in metrics[task] for task, name in pairs]]

    return keep


def predictions(outputs: int) -> Table:
    """The table of a model's predictions.

    Args:
        outputs: Number of the classifier's outputs.
    """
    logits = [Column(f"logit_{k}", "number", f"output {k}, from 0") for k in range(outputs)]
    return Table(
        "predictions",
        "Outputs of a model on the validation split; one column `logit_<k>` for each output.",
        (*_SCORED, *_PREDICTED, *logits),
        key=("idx",),
    )


_PREDICTED = (
    replace(IDX, meaning="number of the example"),
    Column("label", "number", "gold label: number of the class, or score (regression)"),
    Column("prediction", "number", "predicted label"),
)

BASELINE_PREDICTIONS = Table(
    "baseline_predictions",
    "Predictions of the baselines on the validation split.",
    (TASK, _BASELINE, *_PREDICTED),
    key=("baseline", "idx"),
)

TABLES = (
    SCORES,
    SCORE_MEANS,
    SCORE_DIFFERENCES,
    MEAN_DIFFERENCES,
    BASELINES,
    LEARNING_CURVES,
    COSINE,
)
