"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.seeds import tables
from darksecrets.beyond.seeds.settings import Settings

ANALYSIS = Analysis(
    name="seed_grid",
    question="How much do scores depend on the seeds of initialization and data order?",
    papers="Dodge et al. 2020",
    tables={"Section 4.3, further: seeds of fine-tuning": tables.TABLES},
    settings=Settings,
)
