"""All measures that the atlas can show, in the order of its menu."""

from __future__ import annotations

from collections.abc import Sequence

from darksecrets.beyond import analyses
from darksecrets.core.run.shown import Shown
from darksecrets.core.run.tables import Table
from darksecrets.paper.ablation import shown as ablation
from darksecrets.paper.features import shown as features
from darksecrets.paper.finetuning import shown as finetuning
from darksecrets.paper.framenet import shown as framenet
from darksecrets.paper.patterns import shown as patterns

_FURTHER = tuple(analyses.find().values())

WHAT_HEADS_DO: tuple[Shown, ...] = (
    *patterns.SHOWN,
    *framenet.SHOWN,
    *finetuning.SHOWN,
    *features.SHOWN,
    *(shown for one in _FURTHER if one.about_attention for shown in one.shown),
)
"""Measures of attention, with which the importance of heads is compared."""

_SHOWN = (
    *WHAT_HEADS_DO,
    *ablation.SHOWN,
    *(shown for one in _FURTHER if not one.about_attention for shown in one.shown),
)


def _section(shown: Shown) -> str:
    """Section of the paper that a measure is about."""
    return shown.group.rpartition("(")[2]


SHOWN: tuple[Shown, ...] = tuple(sorted(_SHOWN, key=_section))
"""In the order of the paper's sections; a run shows those whose tables it has."""


def tables(of: Sequence[Shown] = SHOWN) -> dict[str, Table]:
    """Tables that measures are read from, by name.

    Args:
        of: The measures.
    """
    found = [table for shown in of for table in (shown.table, shown.over_seeds) if table]
    return {table.name: table for table in found}
