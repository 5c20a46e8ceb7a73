"""The data contracts: every table and file of a run that others may rely on.

Each section declares its tables in its own `tables` module. Here they are collected, for the page
``docs/contracts.md`` and for code that handles tables by name. ``python -m darksecrets.contracts``
prints the page.
"""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from darksecrets.ablation import tables as ablation
from darksecrets.claims import tables as claims
from darksecrets.compression import tables as compression
from darksecrets.faithfulness import tables as faithfulness
from darksecrets.features import tables as features
from darksecrets.finetuning import tables as finetuning
from darksecrets.framenet import tables as framenet
from darksecrets.importance import tables as importance
from darksecrets.landscape import surface_tables as surfaces
from darksecrets.landscape import tables as landscape
from darksecrets.landscape import trajectory_tables as trajectories
from darksecrets.norms import tables as norms
from darksecrets.opinions import tables as opinions
from darksecrets.patterns import tables as patterns
from darksecrets.run.tables import Table
from darksecrets.seeds import tables as seeds
from darksecrets.subnetworks import tables as subnetworks
from darksecrets.syntax import coreference_tables as coreference
from darksecrets.syntax import probe_tables as probes
from darksecrets.syntax import tables as syntax

SECTIONS: Mapping[str, tuple[Table, ...]] = MappingProxyType(
    {
        "Section 4.1: patterns of self-attention": patterns.TABLES,
        "Section 4.2: relation-specific heads": framenet.TABLES,
        "Section 4.2, syntax: heads and dependency relations": (*syntax.TABLES, *probes.TABLES),
        "Section 4.2, coreference: heads and antecedents": coreference.TABLES,
        "Section 4.3: what fine-tuning changes": finetuning.TABLES,
        "Section 4.3, further: what fine-tuning does": (
            *landscape.TABLES,
            *trajectories.TABLES,
            *surfaces.TABLES,
            *landscape.TABLES_OF_FLATNESS,
        ),
        "Section 4.3, further: seeds of fine-tuning": seeds.TABLES,
        "Sections 4.4 and 4.5: what the heads attend to": features.TABLES,
        "Section 4.4, second opinion: weights and norms": norms.TABLES,
        "Sections 4.2, 4.4 and 4.5, second opinions: norms and effective attention": (
            opinions.TABLES
        ),
        "Section 4.6: disabling heads and layers": ablation.TABLES,
        "Section 4.6, further: how important heads are": importance.TABLES,
        "Section 4.6, further: subnetworks": subnetworks.TABLES,
        "Section 5, second opinion: attention and decisions": faithfulness.TABLES,
        "Section 5: smaller models": compression.TABLES,
        "Claims of papers": claims.TABLES,
    }
)
"""The tables of a run, by section of the paper."""

TABLES: Mapping[str, Table] = MappingProxyType(
    {table.name: table for tables in SECTIONS.values() for table in tables}
)
"""The tables of a run by name: the file ``tables/<name>.csv``."""
