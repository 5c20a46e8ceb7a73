"""What heads do: measures of attention, with which their importance is compared."""

from __future__ import annotations

from darksecrets.beyond import analyses
from darksecrets.core.run.shown import Shown
from darksecrets.paper.features import shown as features
from darksecrets.paper.finetuning import shown as finetuning
from darksecrets.paper.framenet import shown as framenet
from darksecrets.paper.patterns import shown as patterns

HEAD_MEASURES: tuple[Shown, ...] = (
    *patterns.SHOWN,
    *framenet.SHOWN,
    *finetuning.SHOWN,
    *features.SHOWN,
    *(shown for one in analyses.find().values() if one.about_attention for shown in one.shown),
)
"""Those of the paper's sections, then those of analyses."""
