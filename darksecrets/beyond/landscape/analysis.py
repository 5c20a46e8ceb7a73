"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.landscape import surface_tables, tables
from darksecrets.beyond.landscape.settings import Settings

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
    check="beyond.landscape.preflight.check",
)
