"""The table of what a sweep disables."""

from __future__ import annotations

from darksecrets.core.run.columns import HEAD, LAYER
from darksecrets.core.run.tables import Table, like, text

KINDS = ("baseline", "head", "layer", "set")

SWEEP_SETS = Table(
    "sets",
    "The sets of heads that a sweep disables, in the order of its predictions.",
    (
        text("kind", "what is disabled; `baseline`: nothing", values=KINDS),
        like(LAYER, optional=True),
        like(HEAD, optional=True),
        text("name", "the set in words", optional=True),
    ),
)
