"""All measures that the atlas can show, in the order of its menu."""

from __future__ import annotations

from darksecrets.beyond import analyses
from darksecrets.beyond.head_measures import HEAD_MEASURES
from darksecrets.core.run.shown import Shown
from darksecrets.paper.ablation import shown as ablation

_SHOWN = (
    *HEAD_MEASURES,
    *ablation.SHOWN,
    *(shown for one in analyses.find().values() if not one.about_attention for shown in one.shown),
)


def _section(shown: Shown) -> str:
    """Section of the paper that a measure is about."""
    return shown.group.rpartition("(")[2]


SHOWN: tuple[Shown, ...] = tuple(sorted(_SHOWN, key=_section))
"""In the order of the paper's sections; a run shows those whose tables it has."""
