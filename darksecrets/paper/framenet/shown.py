"""What the atlas shows of section 4.2."""

from __future__ import annotations

from darksecrets.core.run.shown import Phrase, Shown
from darksecrets.paper.framenet.tables import HEADS

SHOWN = (
    Shown(
        HEADS,
        "weight",
        "Frames: {kind}",
        "Frame-semantic links (4.2)",
        kind="direction",
        words={
            "element_to_predicate": "element to predicate",
            "predicate_to_element": "predicate to element",
        },
        test="p_family",
        summaries=("framenet_links",),
        phrases=(Phrase("attends from {kind} of a frame beyond all controls", significant=True),),
    ),
)
