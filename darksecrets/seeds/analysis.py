"""The entry of this analysis; see `darksecrets.run.analyses`."""

from __future__ import annotations

from darksecrets.run.analyses import Analysis
from darksecrets.seeds import tables
from darksecrets.seeds.settings import Settings

ANALYSIS = Analysis(
    name="seed_grid",
    question="How much do scores depend on the seeds of initialization and data order?",
    papers="Dodge et al. 2020",
    tables={"Section 4.3, further: seeds of fine-tuning": tables.TABLES},
    settings=Settings,
)
