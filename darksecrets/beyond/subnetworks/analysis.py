"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.subnetworks import shown, tables
from darksecrets.beyond.subnetworks.settings import Settings

ANALYSIS = Analysis(
    name="subnetworks",
    question="Which heads and MLPs are enough for a task?",
    papers="Prasanna et al. 2020",
    tables={"Section 4.6, further: subnetworks": tables.TABLES},
    settings=Settings,
    shown=shown.SHOWN,
    requires=("interventions",),
)
