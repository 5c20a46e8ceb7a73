"""The entry of this analysis; see `darksecrets.beyond.analyses`."""

from __future__ import annotations

from darksecrets.beyond.analyses import Analysis
from darksecrets.beyond.syntax import coreference_tables, probe_tables, shown, tables
from darksecrets.beyond.syntax.settings import Settings

ANALYSIS = Analysis(
    name="syntax",
    question="Which heads follow syntactic relations and coreference?",
    papers="Clark et al. 2019, Htut et al. 2019, Lin et al. 2019",
    tables={
        "Section 4.2, syntax: heads and dependency relations": (
            *tables.TABLES,
            *probe_tables.TABLES,
        ),
        "Section 4.2, coreference: heads and antecedents": coreference_tables.TABLES,
    },
    settings=Settings,
    shown=shown.SHOWN,
    about_attention=True,
    check="beyond.syntax.sources.check",
)
