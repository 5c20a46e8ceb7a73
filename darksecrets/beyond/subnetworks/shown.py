"""What the atlas shows of subnetworks."""

from __future__ import annotations

from darksecrets.beyond.importance.tables import HEADS
from darksecrets.beyond.subnetworks.tables import GOOD, SUBNETWORKS
from darksecrets.core.run.shown import Shown

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
