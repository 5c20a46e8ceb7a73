"""All measures that the atlas can show, in the order of its menu."""

from __future__ import annotations

from darksecrets.ablation import shown as ablation
from darksecrets.features import shown as features
from darksecrets.finetuning import shown as finetuning
from darksecrets.framenet import shown as framenet
from darksecrets.norms import shown as norms
from darksecrets.patterns import shown as patterns
from darksecrets.run.shown import Shown
from darksecrets.run.tables import Table
from darksecrets.syntax import shown as syntax

SHOWN: tuple[Shown, ...] = (
    *patterns.SHOWN,
    *finetuning.SHOWN,
    *ablation.SHOWN,
    *features.SHOWN,
    *norms.SHOWN,
    *framenet.SHOWN,
    *syntax.SHOWN,
)
"""A run shows those whose tables it has."""


def tables() -> dict[str, Table]:
    """Tables that the measures are read from, by name."""
    found = [table for shown in SHOWN for table in (shown.table, shown.over_seeds) if table]
    return {table.name: table for table in found}
