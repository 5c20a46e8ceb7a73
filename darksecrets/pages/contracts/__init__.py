"""The data contracts: every table and file of a run that others may rely on.

Each section declares its tables in its own `tables` module. Here they are collected, for the
documentation's page of tables and for code that handles tables by name.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from types import MappingProxyType

from darksecrets.beyond import analyses
from darksecrets.core.run.tables import Table
from darksecrets.pages.claims import findings
from darksecrets.pages.claims import tables as claims
from darksecrets.paper.ablation import tables as ablation
from darksecrets.paper.features import tables as features
from darksecrets.paper.finetuning import tables as finetuning
from darksecrets.paper.framenet import tables as framenet
from darksecrets.paper.patterns import tables as patterns

_PAPER: Mapping[str, Sequence[Table]] = {
    "Section 4.1: patterns of self-attention": patterns.TABLES,
    "Section 4.2: relation-specific heads": framenet.TABLES,
    "Section 4.3: what fine-tuning changes": finetuning.TABLES,
    "Sections 4.4 and 4.5: what the heads attend to": features.TABLES,
    "Section 4.6: disabling heads and layers": ablation.TABLES,
}

SECTIONS: Mapping[str, Sequence[Table]] = MappingProxyType(
    {
        **_PAPER,
        **{
            heading: part
            for one in analyses.find().values()
            for heading, part in one.tables.items()
        },
        "Claims of papers, and what was found": (*claims.TABLES, findings.FINDINGS),
    }
)
"""The tables of a run, by section of the paper."""

TABLES: Mapping[str, Table] = MappingProxyType(
    {table.name: table for tables in SECTIONS.values() for table in tables}
)
"""The tables of a run by name: the file ``tables/<name>.csv``."""


def section_of(table: str) -> str:
    """Number of the paper's section that a table belongs to; ``all`` for those about the run."""
    (title,) = (title for title, tables in SECTIONS.items() if TABLES[table] in tables)
    numbers, has_number, _ = title.partition(":")
    return numbers.split(" ", 1)[1] if has_number else "all"
