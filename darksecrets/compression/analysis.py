"""The entry of this analysis; see `darksecrets.run.analyses`."""

from __future__ import annotations

from darksecrets.compression import tables
from darksecrets.compression.settings import Settings
from darksecrets.run.analyses import Analysis

ANALYSIS = Analysis(
    name="compression",
    question="How small can a model of a task be made?",
    papers="Rogers et al. 2020",
    tables={"Section 5, further: smaller models": tables.TABLES},
    settings=Settings,
    needs=("importance",),
)
