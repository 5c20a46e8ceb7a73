"""The entry of this analysis; see `darksecrets.run.analyses`."""

from darksecrets.first_tokens import shown, tables
from darksecrets.first_tokens.settings import Settings

from darksecrets.run.analyses import Analysis

ANALYSIS = Analysis(
    name="first_tokens",
    question="How much do heads attend to the first token?",
    papers="Somebody 2026",
    tables={"Section 4.4, further: first tokens": tables.TABLES},
    settings=Settings,
    shown=shown.SHOWN,
)
