"""What the atlas shows of the importance of heads, and of their removal."""

from __future__ import annotations

from darksecrets.importance.tables import (
    ABSOLUTE,
    ACCUMULATED,
    EXACT,
    GREEDY,
    HEAD_GATES,
    HEAD_IMPORTANCE,
    INTEGRATED,
    MODE,
    PER_TOKEN,
    REMAINING_HEADS,
    SIGNED,
)
from darksecrets.run.shown import Shown

_GROUP = "Importance and removal (4.6)"
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
    Shown(
        REMAINING_HEADS,
        "survives",
        "Survives removal: {kind}",
        _GROUP,
        "whether the head remains when as many heads are removed as possible within the tolerance; "
        "for several seeds, the share for which it does",
        kind="order",
        where={"order": (ABSOLUTE, EXACT, GREEDY)},
        words={EXACT: "by leave-one-out loss", ABSOLUTE: "by absolute gradient"},
        beside=("rank",),
        summaries=("pruned_heads", "pruning_curves", "smaller_models"),
        on_card=(ABSOLUTE,),
    ),
    Shown(
        HEAD_GATES,
        "gate",
        "Learned gate: λ = {kind}",
        _GROUP,
        "factor of the head's output that a gate has learned, 0 if closed; for several seeds, the "
        "mean",
        kind="penalty",
        beside=("open_probability",),
        summaries=("learned_gates",),
        on_card=False,
    ),
)
