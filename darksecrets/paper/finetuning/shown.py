"""What the atlas shows of section 4.3."""

from __future__ import annotations

from darksecrets.core.run.shown import Phrase, Shown
from darksecrets.paper.finetuning.tables import COSINE

SHOWN = (
    Shown(
        COSINE,
        "similarity",
        "Cosine with pre-trained",
        "Fine-tuning (4.3)",
        palette="similarity",
        summaries=("last_layers",),
        phrases=(
            Phrase("hardly changed by fine-tuning (cosine {value:.2f})", at_least=0.95),
            Phrase(
                "changed much by fine-tuning (cosine {value:.2f}; other heads of the layer: "
                "{other_heads:.2f})",
                at_most=0.8,
            ),
        ),
    ),
)
