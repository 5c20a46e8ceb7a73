"""Tables that ship with the tiny BERT: what its heads attend to, and its learning curve."""

from __future__ import annotations

from darksecrets.core.run.columns import HEAD, LAYER
from darksecrets.core.run.tables import Column, Table, integer, like, number, share, text
from tools.pretraining.head_table import NAMED, PLACES

_SHARE = share("", "", "share of attention")
_ENTROPY = number("entropy", "entropy of a word's attention", "nats", low=0)

HEADS = Table(
    "heads",
    "What words attend to in every head of the tiny BERT, on held-out documents.",
    (
        LAYER,
        HEAD,
        *(like(_SHARE, f"to `{name}`", name=name) for name in PLACES),
        like(_SHARE, "to equal word pieces elsewhere", name="same_piece"),
        _ENTROPY,
        like(_ENTROPY, "relative to a uniform map", name="relative_entropy", unit=""),
        text("kind", "what the head mostly attends to", values=(*NAMED, "spread", "mixed")),
    ),
    key=("layer", "head"),
    every=("layer", "head"),
)


def _held_out(name: str, meaning: str, high: float) -> Column:
    return number(name, f"{meaning}, held-out documents", low=0, high=high)


LOG = Table(
    "pretraining_log",
    "Learning curve of the pre-training of the tiny BERT.",
    (
        integer("step", "optimizer steps so far"),
        _held_out("mlm_loss", "masked language modelling loss", float("inf")),
        _held_out("nsp_loss", "next sentence prediction loss", float("inf")),
        _held_out("mlm_accuracy", "masked language modelling accuracy", 1),
        _held_out("nsp_accuracy", "next sentence prediction accuracy", 1),
    ),
    key=("step",),
)

TABLES = (HEADS, LOG)
