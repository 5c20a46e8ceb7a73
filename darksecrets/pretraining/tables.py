"""Tables that ship with the tiny BERT: what its heads attend to, and its learning curve."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.pretraining.head_table import NAMED, PLACES
from darksecrets.run.columns import HEAD, LAYER
from darksecrets.run.tables import Column, Table

_SHARE = Column("", "number", "", "share of attention", low=0, high=1)
_ENTROPY = Column("entropy", "number", "entropy of a word's attention", "nats", low=0)

HEADS = Table(
    "heads",
    "What words attend to in every head of the tiny BERT, on held-out documents.",
    (
        LAYER,
        HEAD,
        *(replace(_SHARE, name=name, meaning=f"to `{name}`") for name in PLACES),
        replace(_SHARE, name="same_piece", meaning="to equal word pieces elsewhere"),
        _ENTROPY,
        replace(_ENTROPY, name="relative_entropy", unit="", meaning="relative to a uniform map"),
        Column(
            "kind", "text", "what the head mostly attends to", values=(*NAMED, "spread", "mixed")
        ),
    ),
    key=("layer", "head"),
    every=("layer", "head"),
)


def _held_out(name: str, meaning: str, high: float) -> Column:
    return Column(name, "number", f"{meaning}, held-out documents", low=0, high=high)


LOG = Table(
    "pretraining_log",
    "Learning curve of the pre-training of the tiny BERT.",
    (
        Column("step", "integer", "optimizer steps so far", low=0),
        _held_out("mlm_loss", "masked language modelling loss", float("inf")),
        _held_out("nsp_loss", "next sentence prediction loss", float("inf")),
        _held_out("mlm_accuracy", "masked language modelling accuracy", 1),
        _held_out("nsp_accuracy", "next sentence prediction accuracy", 1),
    ),
    key=("step",),
)

TABLES = (HEADS, LOG)
