"""Tables of section 4.3: scores, learning curves, and the change of every head in fine-tuning."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from typing import TYPE_CHECKING

from darksecrets.core.data.tables import METRIC
from darksecrets.core.run.columns import (
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
from darksecrets.core.run.tables import (
    EXACT,
    Column,
    Table,
    flag,
    integer,
    interval,
    like,
    number,
    share,
    text,
)

if TYPE_CHECKING:
    import pandas as pd

SCALES = ("change", "relative")
"""Scales on which the changes of layers are compared."""

_SCORE = number("score", "score on the validation split", "× 100", high=100)

STATES = ("pretrained", "frozen", "finetuned-from-normal", "finetuned")
"""States that are scored, in the order of Table 1; `frozen` has no maps of its own."""

BASELINE_NAMES = ("majority", "bag of words")

_SCORED = (TASK, like(STATE, values=STATES), SEED)

SCORES = Table(
    "table1",
    "Scores of every model on its task (Table 1).",
    (
        *_SCORED,
        METRIC,
        _SCORE,
        flag("constant", "whether the prediction is the same for every example"),
    ),
    key=names(*_SCORED, METRIC),
)

_BASELINE = text("baseline", "the baseline", values=BASELINE_NAMES)

BASELINES = Table(
    "baselines",
    "Scores of baselines that ignore sentence structure (beside Table 1).",
    (TASK, _BASELINE, METRIC, _SCORE),
    key=("task", "baseline", "metric"),
)

_NAMES = (*STATES, *BASELINE_NAMES)
_EXAMPLES = integer("examples", "validation examples", low=1)
_SEEDS = integer("seeds", "seeds of the models", low=1)

SCORE_MEANS = Table(
    "score_means",
    "Scores of every state of the model and every baseline, over examples and seeds.",
    (
        TASK,
        text("model", "the state of the model, or a baseline", values=_NAMES),
        METRIC,
        like(_SCORE, "mean score over the seeds, on the validation split"),
        *interval("score", unit="× 100"),
        number(
            "sd",
            "sample standard deviation over the seeds; empty for one seed",
            "× 100",
            low=0,
            optional=True,
        ),
        like(_SEEDS, "seeds; empty for baselines, which have none", optional=True),
        _EXAMPLES,
        share("constant", "share of the seeds whose prediction is the same for every example"),
    ),
    key=("task", "model", "metric"),
)

_COMPARED = (
    text("model", "the state of the model", values=STATES),
    text("reference", "what it is compared with", values=_NAMES),
)
_DIFFERENCE = (
    number("difference", "score of `model` − score of `reference`, means over seeds", "× 100"),
    *interval("difference", unit="× 100"),
    like(P_VALUE, "two-sided p-value of no difference"),
    like(Q_VALUE, "false discovery rate over all rows"),
)

SCORE_DIFFERENCES = Table(
    "score_differences",
    "Differences of scores between states of the model, paired over examples and seeds.",
    (
        TASK,
        *_COMPARED,
        METRIC,
        *_DIFFERENCE,
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
        integer("tasks", "tasks averaged over", low=1),
        _SEEDS,
        like(_EXAMPLES, "validation examples of all these tasks"),
    ),
    key=("model", "reference"),
)

LEARNED = Table(
    "learned",
    "Whether fine-tuned models have learned their task: better than the majority class (paired "
    "test over examples, p < 0.05), and not below a bag of words; together, if most of them have.",
    (
        TASK,
        like(SEED, "seed of fine-tuning; empty for all together", optional=True),
        like(METRIC, "accuracy, or the main metric of a task without it"),
        like(_SCORE, "score of the fine-tuned model, mean over the seeds"),
        like(_SCORE, "score of the majority class", name="majority"),
        like(_SCORE, "score of a bag of words", name="bag_of_words"),
        like(P_VALUE, "two-sided p-value of no difference from the majority class"),
        flag("learned", "whether it is better than the one and not below the other"),
        share("texts_cut", "share of the validation texts that are longer than `max_length`"),
        share("words_unknown", "share of their words that the tokenizer does not know"),
    ),
    key=("task", "seed"),
)

LEARNING_CURVES = Table(
    "learning_curves",
    "Loss and scores during fine-tuning.",
    (
        *MODEL,
        integer("step", "optimizer steps so far"),
        number("epoch", "epochs so far", low=0),
        text("split", "split that the value is for", values=("train", "validation")),
        text(
            "quantity",
            "`loss` (on `train`: mean over the steps since the previous row), or a metric",
            values=("loss", *METRIC.values),
        ),
        number("value", "value of the quantity; scores × 100"),
    ),
    key=(*names(*MODEL), "step", "split", "quantity"),
)

_COSINE = share("", "")
_FLOOR = like(_COSINE, optional=True, control_of="similarity")
_EXAMPLES = integer("examples", "examples compared", low=1)
_SEEDS = integer("seeds", "seeds of fine-tuning compared", low=1)


def _estimate(
    name: str, meaning: str, *, control_of: str = "", optional: bool = False
) -> tuple[Column, ...]:
    """A difference of maps, and its interval."""
    column = number(name, meaning, low=0, optional=optional, control_of=control_of)
    ends = interval(name, name, bounds=(0, math.inf), optional=True)
    return column, *ends


COSINE = Table(
    "cosine",
    "Cosine similarity of each head's maps before and after fine-tuning (Figure 5).",
    (
        TASK,
        SEED,
        LAYER,
        HEAD,
        like(_COSINE, "mean over the examples", name="similarity"),
        number(
            "sd",
            "standard deviation over the examples; empty for one example",
            low=0,
            optional=True,
        ),
        _EXAMPLES,
        *interval("similarity", bounds=(0, 1), optional=True),
        like(
            _FLOOR,
            "mean cosine of the head with the other heads of its layer, all pre-trained; "
            "empty if the layer has one head",
            name="other_heads",
        ),
        like(
            _FLOOR,
            "cosine of the pre-trained head with uniform attention",
            name="uniform",
            optional=False,
        ),
        like(
            _FLOOR,
            "cosine of the head fine-tuned with this seed and with the run's next one "
            "(after the last, the first); empty in runs of one seed",
            name="other_seed",
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
            like(column, f"mean over the heads of `{column.name}` in `cosine.csv`", control_of="")
            for column in COSINE.columns
            if column.name in ("similarity", "other_heads")
        ),
    ),
    key=("task", "seed", "idx", "layer"),
    every=("layer",),
)

LAST_LAYERS = Table(
    "last_layers",
    "Whether the last two layers change most in fine-tuning (section 4.3). Encoders with fewer "
    "than three layers have no rows, and tasks no row `relative` if the heads of a layer do not "
    "differ.",
    (
        TASK,
        text(
            "scale",
            "what is compared: `change`, 1 − cosine of maps before and after fine-tuning, mean "
            "over the heads of a layer; `relative`, this divided by 1 − cosine of different heads "
            "of the layer before fine-tuning",
            values=SCALES,
        ),
        number("last", "mean of the last two layers", low=0),
        number("rest", "mean of the other layers", low=0, control_of="last"),
        number("difference", "`last` − `rest`"),
        *interval("difference", optional=True),
        like(
            P_VALUE,
            "p-value of `difference` above 0: one-sided, paired over examples (random "
            "signs), given these fine-tunings",
        ),
        like(Q_VALUE, "its false discovery rate over all rows"),
        flag("greatest", "whether the last two layers are the two that change most"),
        share(
            "probability",
            "share of samples in which they are: bootstrap of examples, Student's t of seeds",
        ),
        like(
            P_VALUE,
            "p-value of `greatest`: the largest of the tests of each of the last two "
            "layers against each of the others",
            name="p_greatest",
        ),
        like(Q_VALUE, "its false discovery rate over all rows", name="q_greatest"),
        _EXAMPLES,
        _SEEDS,
    ),
    key=("task", "scale"),
    may_be_empty=True,
)


def scored_by(metrics: Mapping[str, Sequence[str]]) -> Callable[[pd.DataFrame], pd.DataFrame]:
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
    logits = [number(f"logit_{k}", f"output {k}, from 0") for k in range(outputs)]
    return Table(
        "predictions",
        "Outputs of a model on the validation split; one column `logit_<k>` for each output.",
        (*_SCORED, *_PREDICTED, *logits),
        key=("idx",),
        digits=EXACT,  # so that scores can be computed from it
    )


_PREDICTED = (
    like(IDX, "number of the example"),
    number("label", "gold label: number of the class, or score (regression)"),
    number("prediction", "predicted label"),
)

_TEXT = integer("text", "number of the example's text, from 0; equal texts share it")

BASELINE_PREDICTIONS = Table(
    "baseline_predictions",
    "Predictions of the baselines on the validation split.",
    (TASK, _BASELINE, _PREDICTED[0], _TEXT, *_PREDICTED[1:]),
    key=("baseline", "idx"),
)

TABLES = (
    SCORES,
    SCORE_MEANS,
    SCORE_DIFFERENCES,
    MEAN_DIFFERENCES,
    LEARNED,
    BASELINES,
    LEARNING_CURVES,
    COSINE,
    LAST_LAYERS,
)
