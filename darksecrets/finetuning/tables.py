"""Tables of section 4.3: scores, learning curves, and the change of every head in fine-tuning."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING

from darksecrets.data.tables import METRIC
from darksecrets.run.columns import HEAD, IDX, LAYER, MODEL, SEED, TASK, names
from darksecrets.run.tables import Column, Table

if TYPE_CHECKING:
    import pandas as pd

_SCORE = Column("score", "number", "score on the validation split", "× 100", high=100)

SCORES = Table(
    "table1",
    "Scores of every model on its task (Table 1).",
    (*MODEL, METRIC, _SCORE),
    key=names(*MODEL, METRIC),
)

BASELINES = Table(
    "baselines",
    "Scores of baselines that ignore sentence structure (beside Table 1).",
    (
        TASK,
        Column("baseline", "text", "the baseline", values=("majority", "bag of words")),
        METRIC,
        _SCORE,
    ),
    key=("task", "baseline", "metric"),
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
        (
            *MODEL,
            replace(IDX, meaning="number of the example"),
            Column("label", "number", "gold label: number of the class, or score (regression)"),
            Column("prediction", "number", "predicted label"),
            *logits,
        ),
        key=("idx",),
    )


TABLES = (SCORES, BASELINES, LEARNING_CURVES, COSINE)
