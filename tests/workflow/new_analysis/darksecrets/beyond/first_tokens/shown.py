"""What the atlas shows of this analysis."""

from darksecrets.beyond.first_tokens.tables import FIRST_TOKENS

from darksecrets.core.run.shown import Shown

SHOWN = (Shown(FIRST_TOKENS, "share", "Attention to the first token", "First tokens (4.4)"),)
