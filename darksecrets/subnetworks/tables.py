"""Tables of subnetworks (Prasanna et al. 2020)."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.data.tables import METRIC
from darksecrets.importance.tables import IMPORTANT_HEADS, PARTS
from darksecrets.run.columns import HEAD, LAYER, MODEL, P_VALUE, Q_VALUE, TASK, names
from darksecrets.run.tables import Column, Table, flag, integer, interval, like, number, share, text

KINDS = GOOD, BAD, RANDOM = ("good", "bad", "random")
TRAININGS = AS_IT_IS, RETRAINED = ("as it is", "re-trained")
MAGNITUDE = "magnitude"

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

MAGNITUDE_PRUNING = Table(
    "magnitude_pruning",
    "Score against the share of weights that are left if the smallest in absolute value become 0, "
    "over all linear maps of the layers together.",
    (*MODEL, METRIC, _WEIGHTS, *_SCORED, _CHANCE, _EXAMPLES),
    key=(*names(*MODEL, METRIC), "weights"),
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

SUBNETWORK_OVERLAP = Table(
    "subnetwork_overlap",
    "How much the good subnetworks of two tasks, or of the seeds of one, share.",
    (
        TASK,
        like(TASK, "task of the other models; the same: other seeds", name="other_task"),
        _PARTS,
        integer("pairs", "pairs of models", low=1),
        share("shared", "share of the parts that both keep, mean over pairs"),
        share("chance", "the same if each kept as many at random", control_of="shared"),
        *_correlation(
            "phi",
            "mean correlation of the flags, 0 if `shared` is `chance`; empty if one side keeps all",
        ),
        like(P_VALUE, "two-sided permutation test of no correlation", optional=True),
        like(
            P_VALUE,
            "the same, heads permuted within their layers; empty for MLPs",
            name="p_within_layers",
            optional=True,
        ),
        like(Q_VALUE, "false discovery rate of `p_value` over the pairs of tasks", optional=True),
    ),
    key=("task", "other_task", "part"),
    may_be_empty=True,
)

SURVIVING_HEADS = replace(
    IMPORTANT_HEADS,
    name="surviving_heads",
    meaning="Whether the heads of good subnetworks are those that do something recognisable: rank "
    "correlation of surviving with every measure of heads that the run has; means over seeds. No "
    "rows if all heads survive.",
    columns=tuple(column for column in IMPORTANT_HEADS.columns if column.name != "definition"),
    key=("task", "measure", "measured"),
    may_be_empty=True,
)

TABLES = (
    *(SUBNETWORKS, SUBNETWORK_SCORES, MAGNITUDE_PRUNING, SUBNETWORK_AGREEMENT),
    *(SUBNETWORK_OVERLAP, SURVIVING_HEADS),
)
