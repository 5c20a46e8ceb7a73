"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.norms import shown, tables

ANALYSIS = Analysis(
    name="norms",
    question="What share of attention is retained if the norms of value vectors count?",
    papers="Kobayashi et al. 2020",
    tables={"Section 4.4, further: weights and norms": tables.TABLES},
    shown=shown.SHOWN,
    about_attention=True,
    requires=("values",),
)
