"""All measures that the atlas can show, in the order of its menu."""

from __future__ import annotations

from collections.abc import Sequence

from darksecrets.ablation import shown as ablation
from darksecrets.faithfulness import shown as faithfulness
from darksecrets.features import shown as features
from darksecrets.finetuning import shown as finetuning
from darksecrets.framenet import shown as framenet
from darksecrets.importance import shown as importance
from darksecrets.landscape import shown as landscape
from darksecrets.norms import shown as norms
from darksecrets.opinions import shown as opinions
from darksecrets.patterns import shown as patterns
from darksecrets.run.shown import ModelNumbers, Shown
from darksecrets.run.tables import Table
from darksecrets.seeds import shown as seeds
from darksecrets.subnetworks import shown as subnetworks
from darksecrets.syntax import shown as syntax

WHAT_HEADS_DO: tuple[Shown, ...] = (
    *patterns.SHOWN,
    *framenet.SHOWN,
    *syntax.SHOWN,
    *finetuning.SHOWN,
    *features.SHOWN,
    *norms.SHOWN,
)
"""Measures of attention, with which the importance of heads is compared."""

_SHOWN = (
    *WHAT_HEADS_DO,
    *opinions.SHOWN,
    *ablation.SHOWN,
    *importance.SHOWN,
    *landscape.SHOWN,
    *subnetworks.SHOWN,
    *faithfulness.SHOWN,
)


def _section(shown: Shown) -> str:
    """Section of the paper that a measure is about."""
    return shown.group.rpartition("(")[2]


SHOWN: tuple[Shown, ...] = tuple(sorted(_SHOWN, key=_section))
"""In the order of the paper's sections; a run shows those whose tables it has."""

MODELS: tuple[ModelNumbers, ...] = (*landscape.MODELS, *seeds.MODELS)
"""What is shown of whole models, in the order of their cards."""


def tables(of: Sequence[Shown | ModelNumbers] = SHOWN) -> dict[str, Table]:
    """Tables that measures, or numbers of models, are read from, by name.

    Args:
        of: The measures.
    """
    found = [table for shown in of for table in (shown.table, shown.over_seeds) if table]
    return {table.name: table for table in found}
