"""What the atlas shows of types of heads (section 5)."""

from __future__ import annotations

from darksecrets.beyond.redundancy import tables
from darksecrets.core.run.shown import Shown

SHOWN = (
    Shown(
        tables.HEAD_TYPES,
        "probability",
        "Probable type: {kind}",
        "Where attention goes (4.4)",
        "probability that the head is of the type (bootstrap over examples)",
        kind="type",
        words={"next": "next token", "previous": "previous token", "broad": "broad (3.8 nats)"},
        summaries=("head_type_counts", "head_type_agreement"),
        on_card=False,
    ),
)
