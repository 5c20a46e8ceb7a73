"""The entry of this analysis; see `darksecrets.run.analyses`."""

from __future__ import annotations

from darksecrets.landscape import surface_tables, tables
from darksecrets.landscape.settings import Settings
from darksecrets.run.analyses import Analysis

ANALYSIS = Analysis(
    name="landscape",
    question="Which layers does fine-tuning need, and how flat is the loss around its models?",
    papers="Hao et al. 2019",
    tables={
        "Section 4.3, further: what fine-tuning does": (
            *tables.TABLES,
            *surface_tables.TABLES,
            *tables.TABLES_OF_FLATNESS,
        )
    },
    settings=Settings,
    requires=("layers",),
    check="landscape.preflight.check",
)
