"""Tables of subnetworks (Prasanna et al. 2020)."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.data.tables import METRIC
from darksecrets.importance.tables import IMPORTANT_HEADS, PARTS
from darksecrets.run.columns import HEAD, LAYER, MODEL, P_VALUE, Q_VALUE, TASK, names
from darksecrets.run.tables import Column, Table, interval

KINDS = GOOD, BAD, RANDOM = ("good", "bad", "random")
TRAININGS = AS_IT_IS, RETRAINED = ("as it is", "re-trained")
MAGNITUDE = "magnitude"

_KIND = Column(
    "subnetwork",
    "text",
    f"`{GOOD}`: what the search leaves; `{BAD}`: as many parts from the rest, those removed first; "
    f"`{RANDOM}`: as many heads and as many MLPs as the good one, at random",
    values=KINDS,
)
_PART = Column("part", "text", "kind of the part", values=PARTS)

SUBNETWORKS = Table(
    "subnetworks",
    "Which heads and MLPs of fine-tuned models each subnetwork keeps, chosen on training examples.",
    (
        *MODEL,
        _KIND,
        Column("draw", "integer", f"number of the subnetwork among those `{RANDOM}`, or 1", low=1),
        _PART,
        LAYER,
        replace(HEAD, optional=True, meaning="head of the layer, from 1; empty for an MLP"),
        Column("kept", "flag", "whether the subnetwork keeps it"),
        Column(
            "step",
            "integer",
            f"step of the search that removes it, of the subnetwork `{GOOD}`; empty if none does",
            low=1,
            optional=True,
        ),
        Column("weights", "integer", "weights of its linear maps in the model", low=0),
    ),
    key=(*names(*MODEL), "subnetwork", "draw", "part", "layer", "head"),
)

_SCORED = (
    Column("baseline", "number", "score of the fine-tuned model, whole", "× 100", high=100),
    Column("score", "number", "score of the subnetwork; a mean over `draws`", "× 100", high=100),
    Column("delta", "number", "`score` − `baseline`", "× 100"),
    *interval("delta", unit="× 100"),
)
_CHANCE = Column(
    *("chance", "number", "score of always predicting the most frequent label", "× 100"),
    control_of="score",
)
_EXAMPLES = Column("examples", "integer", "examples of the validation split", low=1)
_WEIGHTS = Column(
    "weights",
    "number",
    "share of the weights of heads and MLPs that are kept; those that layers share count for each",
    low=0,
    high=1,
)

SUBNETWORK_SCORES = Table(
    "subnetwork_scores",
    "Scores of subnetworks on validation examples, none of which chose them.",
    (
        *MODEL,
        METRIC,
        _KIND,
        Column(
            "trained",
            "text",
            f"`{AS_IT_IS}`: a part of the fine-tuned model; `{RETRAINED}`: fine-tuned from the "
            "pre-trained weights with all other parts removed",
            values=TRAININGS,
        ),
        Column("heads", "integer", "heads that it keeps", low=0),
        Column("mlps", "integer", "MLPs that it keeps", low=0),
        Column("same_size", "flag", "whether it has as many heads and MLPs as the good one"),
        _WEIGHTS,
        *_SCORED,
        Column(
            *("over_random", "number", f"`score` − mean of the subnetworks `{RANDOM}`", "× 100"),
            optional=True,
        ),
        *interval("over_random", "over_random", unit="× 100", optional=True),
        replace(
            P_VALUE,
            optional=True,
            meaning=f"how probable it is that a subnetwork `{RANDOM}` scores as well as the good "
            "one, or as badly as the bad one: one-sided permutation test over `draws`",
        ),
        _CHANCE,
        _EXAMPLES,
        Column("draws", "integer", f"subnetworks `{RANDOM}`", low=2),
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

_PARTS = replace(_PART, meaning="whether heads or MLPs are compared")
_SEEDS = Column("seeds", "integer", "fine-tuning seeds of the task", low=1)

SUBNETWORK_AGREEMENT = Table(
    "subnetwork_agreement",
    "Whether models of other seeds have the same good subnetwork.",
    (
        TASK,
        _PARTS,
        _SEEDS,
        Column("parts", "integer", "heads, or MLPs, of the model", low=1),
        Column("kept", "number", "mean number that the good subnetwork keeps", low=0),
        Column(
            "kappa",
            "number",
            "Fleiss' kappa of the seeds; empty with one seed, or if all keep all: it is undefined",
            low=-1,
            high=1,
            optional=True,
        ),
        *interval("kappa", bounds=(-1, 1), optional=True),
    ),
    key=("task", "part"),
)

SUBNETWORK_OVERLAP = Table(
    "subnetwork_overlap",
    "How much the good subnetworks of two tasks, or of the seeds of one, share.",
    (
        TASK,
        replace(TASK, name="other_task", meaning="task of the other models; the same: other seeds"),
        _PARTS,
        Column("pairs", "integer", "pairs of models", low=1),
        Column(
            *("shared", "number", "share of the parts that both keep, mean over pairs"),
            low=0,
            high=1,
        ),
        Column(
            *("chance", "number", "the same if each kept as many at random"),
            low=0,
            high=1,
            control_of="shared",
        ),
        Column(
            "phi",
            "number",
            "mean correlation of the flags, 0 if `shared` is `chance`; empty if one side keeps all",
            low=-1,
            high=1,
            optional=True,
        ),
        *interval("phi", bounds=(-1, 1), optional=True),
        replace(P_VALUE, optional=True, meaning="two-sided permutation test of no correlation"),
        replace(
            P_VALUE,
            name="p_within_layers",
            optional=True,
            meaning="the same, heads permuted within their layers; empty for MLPs",
        ),
        replace(
            Q_VALUE,
            optional=True,
            meaning="false discovery rate of `p_value` over the pairs of tasks",
        ),
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
