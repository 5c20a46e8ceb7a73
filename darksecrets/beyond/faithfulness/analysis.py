"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.faithfulness import shown, tables
from darksecrets.beyond.faithfulness.settings import Settings

ANALYSIS = Analysis(
    name="faithfulness",
    question="Does attention explain decisions?",
    papers="Jain and Wallace 2019, Serrano and Smith 2019, Clark et al. 2019",
    tables={"Section 5, further: attention and decisions": tables.TABLES},
    settings=Settings,
    shown=shown.SHOWN,
    requires=("values",),
)
