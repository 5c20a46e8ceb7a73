"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from darksecrets.beyond.first_tokens import shown, tables
from darksecrets.beyond.first_tokens.settings import Settings

from darksecrets.beyond.analyses import Analysis

ANALYSIS = Analysis(
    name="first_tokens",
    question="How much do heads attend to the first token?",
    papers="Somebody 2026",
    tables={"Section 4.4, further: first tokens": tables.TABLES},
    settings=Settings,
    shown=shown.SHOWN,
)
