"""What the atlas shows of section 4.1."""

from __future__ import annotations

from darksecrets.core.plotting.colours import PATTERN_LETTERS, PATTERNS
from darksecrets.core.run.shown import Phrase, Shown
from darksecrets.paper.patterns.tables import PATTERN_HEADS

SHOWN = (
    Shown(
        PATTERN_HEADS,
        "share",
        "Pattern: {kind}",
        "Patterns (4.1)",
        kind="pattern",
        palette="category",
        colours=PATTERNS,
        letters=PATTERN_LETTERS,
        summaries=("patterns", "pattern_maps"),
        on_card=False,
        phrases=(
            Phrase("mostly {kind} ({value:.0%} of its maps)", at_least=0.5, greatest=True),
            Phrase("no dominant pattern ({kind} in {value:.0%} of its maps)", greatest=True),
        ),
    ),
)
