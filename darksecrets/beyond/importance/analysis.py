"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.importance import shown, tables
from darksecrets.beyond.importance.settings import Settings

ANALYSIS = Analysis(
    name="importance",
    question="How important is each head, and how many can be removed for good?",
    papers="Michel et al. 2019, Voita et al. 2019",
    tables={"Section 4.6, further: how important heads are": tables.TABLES},
    settings=Settings,
    shown=shown.SHOWN,
    requires=("interventions",),
    check="beyond.importance.preflight.check",
)
