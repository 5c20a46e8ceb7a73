"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.compression import tables
from darksecrets.beyond.compression.settings import Settings

ANALYSIS = Analysis(
    name="compression",
    question="How small can a model of a task be made?",
    papers="Rogers et al. 2020",
    tables={"Section 5, further: smaller models": tables.TABLES},
    settings=Settings,
    needs=("importance",),
)
