"""The entry of this analysis; see `darksecrets.run.analyses`."""

from __future__ import annotations

from darksecrets.norms import shown, tables
from darksecrets.run.analyses import Analysis

ANALYSIS = Analysis(
    name="norms",
    question="What share of attention is retained if the norms of value vectors count?",
    papers="Kobayashi et al. 2020",
    tables={"Section 4.4, further: weights and norms": tables.TABLES},
    shown=shown.SHOWN,
    about_attention=True,
    requires=("values",),
)
