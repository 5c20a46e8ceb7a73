"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.redundancy import shown, tables

ANALYSIS = Analysis(
    name="redundancy",
    question="Which heads attend alike, and of what types are they?",
    papers="Clark et al. 2019",
    tables={"Section 5, further: redundancy of heads": tables.TABLES},
    shown=shown.SHOWN,
    about_attention=True,
    requires=("words",),
)
