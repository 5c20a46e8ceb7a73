"""Tables of section 4.3: scores, learning curves, and the change of every head in fine-tuning."""

from __future__ import annotations

import math
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
from darksecrets.run.tables import EXACT, Column, Table, interval

if TYPE_CHECKING:
    import pandas as pd

SCALES = ("change", "relative")
"""Scales on which the changes of layers are compared."""

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

_COSINE = Column("", "number", "", low=0, high=1)
_FLOOR = replace(_COSINE, optional=True, control_of="similarity")
_EXAMPLES = Column("examples", "integer", "examples compared", low=1)
_SEEDS = Column("seeds", "integer", "seeds of fine-tuning compared", low=1)


def _estimate(
    name: str, meaning: str, *, control_of: str = "", optional: bool = False
) -> tuple[Column, ...]:
    """A difference of maps, and its interval."""
    column = Column(name, "number", meaning, low=0, optional=optional, control_of=control_of)
    ends = interval(name, f"{name}_low", f"{name}_high", bounds=(0, math.inf), optional=True)
    return column, *ends


COSINE = Table(
    "cosine",
    "Cosine similarity of each head's maps before and after fine-tuning (Figure 5).",
    (
        TASK,
        SEED,
        LAYER,
        HEAD,
        replace(_COSINE, name="similarity", meaning="mean over the examples"),
        Column(
            "sd",
            "number",
            "standard deviation over the examples; empty for one example",
            low=0,
            optional=True,
        ),
        _EXAMPLES,
        *interval("similarity", bounds=(0, 1), optional=True),
        replace(
            _FLOOR,
            name="other_heads",
            meaning="mean cosine of the head with the other heads of its layer, all pre-trained; "
            "empty if the layer has one head",
        ),
        replace(
            _FLOOR,
            name="uniform",
            meaning="cosine of the pre-trained head with uniform attention",
            optional=False,
        ),
        replace(
            _FLOOR,
            name="other_seed",
            meaning="cosine of the head fine-tuned with this seed and with the run's next one "
            "(after the last, the first); empty in runs of one seed",
        ),
    ),
    key=("task", "seed", "layer", "head"),
    every=("layer", "head"),
)

LAYER_SIMILARITY = Table(
    "layer_similarity",
    "Cosine similarities of one task and seed by example and layer, means over the heads.",
    (
        TASK,
        SEED,
        IDX,
        LAYER,
        *(
            replace(
                column,
                meaning=f"mean over the heads of `{column.name}` in `cosine.csv`",
                control_of="",
            )
            for column in COSINE.columns
            if column.name in ("similarity", "other_heads", "other_seed")
        ),
    ),
    key=("task", "seed", "idx", "layer"),
    every=("layer",),
)

LAYER_CHANGES = Table(
    "layer_changes",
    "How much fine-tuning changes the attention of every layer: 1 − cosine, beside the same "
    "between different heads and between fine-tunings (section 4.3). Intervals: Student's t after "
    "Hall's transformation over examples, Student's t over seeds; with one seed, over examples "
    "only; empty with fewer than 6 examples.",
    (
        TASK,
        LAYER,
        *_estimate(
            "change",
            "1 − cosine of maps before and after fine-tuning, mean over heads, examples and seeds",
        ),
        *_estimate(
            "between_heads",
            "1 − cosine of different heads of the layer, all pre-trained; empty if the layer has "
            "one head",
            control_of="change",
            optional=True,
        ),
        *_estimate(
            "between_seeds",
            "1 − cosine of the same head in two fine-tunings; empty in runs of one seed",
            control_of="change",
            optional=True,
        ),
        *_estimate(
            "relative",
            "`change` / `between_heads`: 1 if a head is as far from its former self as from the "
            "layer's other heads; empty if these do not differ",
            optional=True,
        ),
        _EXAMPLES,
        _SEEDS,
    ),
    key=("task", "layer"),
    every=("layer",),
)

LAST_LAYERS = Table(
    "last_layers",
    "Whether the last two layers change most in fine-tuning (section 4.3). Encoders with fewer "
    "than three layers have no rows, and tasks no row `relative` if the heads of a layer do not "
    "differ.",
    (
        TASK,
        Column("scale", "text", "column of `layer_changes.csv` compared", values=SCALES),
        Column("last", "number", "mean of the last two layers", low=0),
        Column("rest", "number", "mean of the other layers", low=0, control_of="last"),
        Column("difference", "number", "`last` − `rest`"),
        *interval("difference", optional=True),
        replace(
            P_VALUE,
            meaning="p-value of `difference` above 0: one-sided, paired over examples (random "
            "signs), given these fine-tunings",
        ),
        replace(Q_VALUE, meaning="its false discovery rate over all rows"),
        Column("greatest", "flag", "whether the last two layers are the two that change most"),
        Column("seeds_greatest", "integer", "seeds for which they are", low=0),
        Column(
            "probability",
            "number",
            "share of samples in which they are: bootstrap of examples, Student's t of seeds",
            low=0,
            high=1,
        ),
        replace(
            P_VALUE,
            name="p_greatest",
            meaning="p-value of `greatest`: the largest of the tests of each of the last two "
            "layers against each of the others",
        ),
        replace(Q_VALUE, name="q_greatest", meaning="its false discovery rate over all rows"),
        _EXAMPLES,
        _SEEDS,
    ),
    key=("task", "scale"),
    may_be_empty=True,
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
        digits=EXACT,  # so that scores can be computed from it
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
    LAYER_CHANGES,
    LAST_LAYERS,
)
