"""Settings, tables and entry of the analysis of the seeds of fine-tuning."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from darksecrets.core.data.tables import METRIC
from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import P_VALUE, Q_VALUE, TASK
from darksecrets.core.run.settings import Section, Tasks, setting, tasks_among
from darksecrets.core.run.tables import Column, Table, integer, interval, like, number, share, text

Seeds = tuple[int, ...]


def _seeds(description: str) -> Any:  # noqa: ANN401 - a field
    limits = {"minItems": 2, "maxItems": 1000, "uniqueItems": True}
    each = {"minimum": 0, "maximum": 2**32 - 1}
    return setting((1, 2, 3), description, items=each, **limits)


@dataclass(frozen=True)
class Settings(Section):
    """Which tasks are fine-tuned with every pair of seeds."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks that are fine-tuned with every seed of the initialization and every seed of the "
        "data order, to see how much scores depend on each; all if not given. It takes a training "
        "for every pair except those of `seeds`.",
    )
    init_seeds: Seeds = _seeds("Seeds of the initialization.")
    order_seeds: Seeds = _seeds("Seeds of the data order.")


COMPONENTS = INIT, ORDER, RESIDUAL = ("init", "order", "residual")

_INIT_SEED = integer("init_seed", "seed of the randomly initialized parameters")
_ORDER_SEED = integer("order_seed", "seed of the data order and of dropout")
_RUNS = integer("runs", "fine-tunings of the grid", low=4)

SEED_VARIANCE = Table(
    "seed_variance",
    "Components of the variance of final scores over the grid: two random effects, one run per "
    "cell. All runs are scored on the same examples; the variance over examples is not included.",
    (
        TASK,
        METRIC,
        text(
            "component",
            f"`{INIT}`: seeds of the initialization; `{ORDER}`: seeds of the data order; "
            f"`{RESIDUAL}`: the rest, with the interaction of both",
            values=COMPONENTS,
        ),
        integer("degrees", "degrees of freedom of its mean square", low=1),
        number(
            "variance",
            "its unbiased estimate, in points²; negative where an effect is too small for the grid",
        ),
        *interval("variance", bounds=(0, float("inf"))),
        number("sd", "√`variance`, 0 if it is negative", "× 100", low=0),
        share(
            "share",
            "`variance` (0 if negative) as a share of the sum of the three; empty if all scores "
            "are equal",
            optional=True,
        ),
        like(P_VALUE, f"F test of no effect; empty for `{RESIDUAL}`", optional=True),
        like(Q_VALUE, "its false discovery rate over the rows of the task", optional=True),
        _RUNS,
    ),
    key=("task", "metric", "component"),
)

EXPECTED_MAXIMUM = Table(
    "expected_maximum",
    "Expected score of the best of n fine-tunings (Dodge et al. 2019, 2020), from the empirical "
    "distribution of the grid's final scores.",
    (
        TASK,
        METRIC,
        integer("drawn", "n, runs drawn with replacement", low=1),
        number(
            "expected",
            "mean of the largest score; the examples that select the run also score it",
            "× 100",
            high=100,
        ),
        *interval("expected", unit="× 100"),
        number("sd", "standard deviation of the largest score", "× 100", low=0),
        number(
            "held_out",
            "`expected` if one half of the examples selects the run and the other scores it, mean "
            "over random halves",
            "× 100",
            high=100,
            optional=True,
        ),
        number(
            "gain",
            "`held_out` minus that of one run: the gain of selecting the best of n, on held-out "
            "examples",
            "× 100",
        ),
        Column(
            "gain_low",
            "number",
            "lower end of the 95% interval of `gain`, over initializations and data orders "
            "(jackknife)",
            "× 100",
            interval_of="gain",
        ),
        Column(
            "gain_high",
            "number",
            "its upper end: all that is possible, because a grid may lack the rare runs that fail",
            "× 100",
            interval_of="gain",
        ),
        _RUNS,
    ),
    key=("task", "metric", "drawn"),
)

EARLY_STOPPING = Table(
    "early_stopping",
    "Whether bad runs can be stopped early (Dodge et al. 2020, section 5). A rule stops the runs "
    "whose score after an epoch is below that of the run that ends best; one half of the runs "
    "determines the threshold, the other tests it. Trainings of one epoch have no rows.",
    (
        TASK,
        METRIC,
        integer("epoch", "epoch after which runs are stopped, from 1", low=1),
        number(
            "spearman",
            "rank correlation of the scores after this epoch with the final ones; empty if either "
            "are all equal",
            low=-1,
            high=1,
            optional=True,
        ),
        like(
            P_VALUE,
            "one-sided test that it is positive: seeds of the initialization and of the data "
            "order permuted, so that runs that share one stay together",
            optional=True,
        ),
        like(Q_VALUE, "its false discovery rate over the rows of the task", optional=True),
        share("stopped", "share of the other runs that the rule stops"),
        share("saved", "share of their epochs that this saves"),
        number(
            "lost",
            "how much the best of the runs that are left is below the best of all; if none is "
            "left, the one that is ahead goes on",
            "× 100",
            low=0,
        ),
        number(
            "lost_at_random",
            "`lost` if as many runs, drawn at random, were stopped",
            "× 100",
            low=0,
            control_of="lost",
        ),
        _RUNS,
    ),
    key=("task", "metric", "epoch"),
    may_be_empty=True,
)

TABLES = (SEED_VARIANCE, EXPECTED_MAXIMUM, EARLY_STOPPING)


ANALYSIS = Analysis(
    name="seed_grid",
    question="How much do scores depend on the seeds of initialization and data order?",
    papers="Dodge et al. 2020",
    tables={"Section 4.3, further: seeds of fine-tuning": TABLES},
    settings=Settings,
)
