"""The table of attention to the first token."""

from __future__ import annotations

from darksecrets.core.run.columns import HEAD, LAYER, TASK, names
from darksecrets.core.run.tables import Column, Table

FIRST_TOKENS = Table(
    "first_tokens",
    "Attention of the pre-trained model to the first token.",
    (
        TASK,
        LAYER,
        HEAD,
        Column("share", "number", "mean attention to the first token", "share", low=0, high=1),
        Column("uniform", "number", "if uniform", "share", low=0, high=1, control_of="share"),
    ),
    key=names(TASK, LAYER, HEAD),
    every=names(LAYER, HEAD),
)
TABLES = (FIRST_TOKENS,)
