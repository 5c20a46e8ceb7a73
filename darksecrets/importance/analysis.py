"""The entry of this analysis; see `darksecrets.run.analyses`."""

from __future__ import annotations

from darksecrets.importance import shown, tables
from darksecrets.importance.settings import Settings
from darksecrets.run.analyses import Analysis

ANALYSIS = Analysis(
    name="importance",
    question="How important is each head, and how many can be removed for good?",
    papers="Michel et al. 2019, Voita et al. 2019",
    tables={"Section 4.6, further: how important heads are": tables.TABLES},
    settings=Settings,
    shown=shown.SHOWN,
    requires=("interventions",),
    check="importance.preflight.check",
)
