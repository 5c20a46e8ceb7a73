"""Settings, tables and entry of the analysis of parts that are enough."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.beyond.importance.declared import HEADS, PARTS
from darksecrets.core.data.tables import METRIC
from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import HEAD, LAYER, MODEL, P_VALUE, TASK, names
from darksecrets.core.run.settings import Section, Tasks, constant, setting, tasks_among
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.tables import (
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


@dataclass(frozen=True)
class Settings(Section):
    """Which models are searched, for what, and beside what."""

    tasks: Tasks = tasks_among(
        "ablation.tasks",
        "Tasks, among `ablation.tasks`, whose models are searched for the heads and MLPs that are "
        "enough; all of these if not given.",
    )
    share: float = constant(
        0.9, "Share of the whole model's score that a good subnetwork keeps, on training examples."
    )
    examples: int = setting(
        500,
        "Training examples of the search; one half measures importance, the other decides. If a "
        "task has fewer than twice as many, half of them.",
        minimum=2,
        maximum=1_000_000,
    )
    draws: int = setting(
        20,
        "Random subnetworks of the size of the good one, for comparison.",
        minimum=3,
        maximum=1_000_000,
    )
    retrain: bool = setting(
        False, "Whether subnetworks are also fine-tuned from the pre-trained weights."
    )
    retrained_draws: int = constant(3, "Random subnetworks that are fine-tuned, too, if any are.")


KINDS = GOOD, BAD, RANDOM = ("good", "bad", "random")
TRAININGS = AS_IT_IS, RETRAINED = ("as it is", "re-trained")

_KIND = text(
    "subnetwork",
    f"`{GOOD}`: what the search leaves; `{BAD}`: as many parts from the rest, those removed "
    f"first; `{RANDOM}`: as many heads and as many MLPs as the good one, at random",
    values=KINDS,
)
_PART = text("part", "kind of the part", values=PARTS)

SUBNETWORKS = Table(
    "subnetworks",
    "Which heads and MLPs of fine-tuned models each subnetwork keeps, chosen on training examples.",
    (
        *MODEL,
        _KIND,
        integer("draw", f"number of the subnetwork among those `{RANDOM}`, or 1", low=1),
        _PART,
        LAYER,
        like(HEAD, "head of the layer, from 1; empty for an MLP", optional=True),
        flag("kept", "whether the subnetwork keeps it"),
        integer(
            "step",
            f"step of the search that removes it, of the subnetwork `{GOOD}`; empty if none does",
            low=1,
            optional=True,
        ),
        integer("weights", "weights of its linear maps in the model"),
    ),
    key=(*names(*MODEL), "subnetwork", "draw", "part", "layer", "head"),
)

_SCORED = (
    number("baseline", "score of the fine-tuned model, whole", "× 100", high=100),
    number("score", "score of the subnetwork; a mean over `draws`", "× 100", high=100),
    number("delta", "`score` − `baseline`", "× 100"),
    *interval("delta", unit="× 100"),
)
_CHANCE = number(
    "chance", "score of always predicting the most frequent label", "× 100", control_of="score"
)
_EXAMPLES = integer("examples", "examples of the validation split", low=1)
_WEIGHTS = share(
    "weights",
    "share of the weights of heads and MLPs that are kept; those that layers share count for each",
)

SUBNETWORK_SCORES = Table(
    "subnetwork_scores",
    "Scores of subnetworks on validation examples, none of which chose them.",
    (
        *MODEL,
        METRIC,
        _KIND,
        text(
            "trained",
            f"`{AS_IT_IS}`: a part of the fine-tuned model; `{RETRAINED}`: fine-tuned from the "
            "pre-trained weights with all other parts removed",
            values=TRAININGS,
        ),
        integer("heads", "heads that it keeps"),
        integer("mlps", "MLPs that it keeps"),
        flag("same_size", "whether it has as many heads and MLPs as the good one"),
        _WEIGHTS,
        *_SCORED,
        number(
            "over_random", f"`score` − mean of the subnetworks `{RANDOM}`", "× 100", optional=True
        ),
        *interval("over_random", "over_random", unit="× 100", optional=True),
        like(
            P_VALUE,
            f"how probable it is that a subnetwork `{RANDOM}` scores as well as the good one, or "
            "as badly as the bad one: one-sided permutation test over `draws`; empty with fewer "
            "than 20",
            optional=True,
        ),
        _CHANCE,
        _EXAMPLES,
        integer("draws", f"subnetworks `{RANDOM}`", low=2),
    ),
    key=(*names(*MODEL, METRIC), "subnetwork", "trained"),
)

_PARTS = like(_PART, "whether heads or MLPs are compared")
_SEEDS = integer("seeds", "fine-tuning seeds of the task", low=1)


def _correlation(name: str, meaning: str) -> tuple[Column, ...]:
    """A correlation and the ends of its interval, any of which may be missing."""
    column = number(name, meaning, low=-1, high=1, optional=True)
    return column, *interval(name, bounds=(-1, 1), optional=True)


SUBNETWORK_AGREEMENT = Table(
    "subnetwork_agreement",
    "Whether models of other seeds have the same good subnetwork.",
    (
        TASK,
        _PARTS,
        _SEEDS,
        integer("parts", "heads, or MLPs, of the model", low=1),
        number("kept", "mean number that the good subnetwork keeps", low=0),
        *_correlation(
            "kappa",
            "Fleiss' kappa of the seeds; empty with one seed, or if all keep all: it is undefined",
        ),
    ),
    key=("task", "part"),
)

TABLES = (SUBNETWORKS, SUBNETWORK_SCORES, SUBNETWORK_AGREEMENT)


SHOWN = (
    Shown(
        SUBNETWORKS,
        "kept",
        "Survives in the good subnetwork",
        "Subnetworks (4.6)",
        "whether the good subnetwork keeps the head; of several seeds, the share of those that do",
        where={"subnetwork": GOOD, "draw": 1, "part": HEADS},
        beside=("step",),
        summaries=("subnetwork_scores", "subnetwork_agreement"),
    ),
)


ANALYSIS = Analysis(
    name="subnetworks",
    question="Which heads and MLPs are enough for a task?",
    papers="Prasanna et al. 2020",
    tables={"Section 4.6, further: subnetworks": TABLES},
    settings=Settings,
    shown=SHOWN,
    requires=("interventions",),
)
