"""What the atlas shows of the importance of heads."""

from __future__ import annotations

from darksecrets.importance.tables import (
    ABSOLUTE,
    ACCUMULATED,
    EXACT,
    HEAD_IMPORTANCE,
    INTEGRATED,
    MODE,
    PER_TOKEN,
    SIGNED,
)
from darksecrets.run.shown import Shown

_GROUP = "Importance (4.6)"
_MAGNITUDES = (ABSOLUTE, PER_TOKEN, ACCUMULATED)
_SUMMARIES = ("importance_agreement", "important_heads")
_SIGNED = (EXACT, SIGNED, INTEGRATED)

SHOWN = (
    Shown(
        HEAD_IMPORTANCE,
        "importance",
        "Importance: {kind}",
        _GROUP,
        kind="definition",
        where={"mode": MODE, "definition": _SIGNED},
        palette="effect",
        summaries=_SUMMARIES,
        on_card=(EXACT,),
    ),
    Shown(
        HEAD_IMPORTANCE,
        "importance",
        "Importance: {kind}",
        _GROUP,
        kind="definition",
        where={"mode": MODE, "definition": _MAGNITUDES},
        summaries=_SUMMARIES,
        on_card=False,
    ),
)
