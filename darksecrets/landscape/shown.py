"""What the atlas shows of what fine-tuning does (section 4.3, further)."""

from __future__ import annotations

from darksecrets.landscape.trajectory_tables import HEAD_HALFWAY
from darksecrets.run.shown import Phrase, Shown

SHOWN = (
    Shown(
        HEAD_HALFWAY,
        "halfway",
        "Halfway through its change",
        "Fine-tuning (4.3)",
        palette="weight",
        summaries=("layer_halfway", "halfway_order"),
        phrases=(
            Phrase(
                "halfway to its fine-tuned maps after {value:.0f} % of the training (all weights: "
                "{weights_halfway:.0f} %)"
            ),
        ),
    ),
)
"""Measures of heads that the atlas shows; docs/atlas.md explains how to add one."""
