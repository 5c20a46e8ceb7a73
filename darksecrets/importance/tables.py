"""Tables of head importance (Michel et al. 2019; Prasanna et al. 2020)."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.ablation.preflight import MODES
from darksecrets.run.columns import HEAD, LAYER, MODEL, P_VALUE, names
from darksecrets.run.tables import Column, Table, interval

DEFINITIONS = ABSOLUTE, PER_TOKEN, ACCUMULATED, SIGNED, INTEGRATED, EXACT = (
    "absolute gradient",
    "per token",
    "accumulated",
    "signed gradient",
    "integrated gradient",
    "exact",
)
REFERENCES = LOSS, SCORE, ORDER = ("exact loss", "validation score", "another order")

_MODE = Column(
    "mode",
    "text",
    "what a closed gate does to the head: see `ablation.mode`",
    values=MODES,
)
_DEFINITION = Column(
    "definition",
    "text",
    f"`{ABSOLUTE}`: E|∂L/∂ξ| (Michel et al., text); `{PER_TOKEN}`: absolute values of single "
    f"tokens (their code); `{ACCUMULATED}`: gradients never set to zero between batches (code of "
    f"Prasanna et al.), mean over orders of the examples; `{SIGNED}`: −E ∂L/∂ξ; `{INTEGRATED}`: −E "
    f"∫ ∂L/∂ξ while all gates open together; `{EXACT}`: loss without the head, less that with it",
    values=DEFINITIONS,
)

HEAD_IMPORTANCE = Table(
    "head_importance",
    "How much the loss of fine-tuned models depends on each head, on training examples. "
    f"`{PER_TOKEN}` and `{ACCUMULATED}` are divided by their Euclidean norm over the layer.",
    (
        *MODEL,
        _MODE,
        _DEFINITION,
        LAYER,
        HEAD,
        Column("importance", "number", "greater if the task needs the head more", "loss"),
        *interval("importance", unit="loss"),
        Column("examples", "integer", "training examples it was measured on", low=1),
    ),
    key=(*names(*MODEL), "mode", "definition", "layer", "head"),
    every=names(LAYER, HEAD),
)

_RHO = Column(
    *("spearman", "number"),
    "Spearman's rank correlation over heads; empty if one side is equal for all heads",
    low=-1,
    high=1,
    optional=True,
)

IMPORTANCE_AGREEMENT = Table(
    "importance_agreement",
    "Whether a definition of importance ranks the heads of a model as disabling them one by one does.",
    (
        *MODEL,
        _MODE,
        _DEFINITION,
        Column(
            "reference",
            "text",
            f"`{LOSS}`: what disabling the head adds to the loss of the same examples; `{SCORE}`: "
            "what it takes from the task's first metric on the validation set (only in the sweep's "
            f"mode); `{ORDER}`: the same definition with the examples in another order",
            values=REFERENCES,
        ),
        Column("heads", "integer", "heads of the model", low=1),
        _RHO,
        *interval("spearman", bounds=(-1, 1), optional=True),
        replace(
            P_VALUE,
            meaning="two-sided permutation test of no rank correlation",
            optional=True,
        ),
        replace(
            P_VALUE,
            name="p_within_layers",
            meaning="the same, heads permuted within their layers",
            optional=True,
        ),
    ),
    key=(*names(*MODEL), "mode", "definition", "reference"),
)

TABLES = (HEAD_IMPORTANCE, IMPORTANCE_AGREEMENT)
