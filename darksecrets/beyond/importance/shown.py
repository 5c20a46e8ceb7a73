"""What the atlas shows of the importance of heads, and of their removal."""

from __future__ import annotations

from typing import Any

from darksecrets.beyond.importance import tables
from darksecrets.core.run.shown import Shown

_GROUP = "Importance and removal (4.6)"
_SUMMARIES = ("importance_agreement", "important_heads")
_SIGNED = (tables.EXACT, tables.SIGNED)


def _of_definitions(names: tuple[str, ...], **more: Any) -> Shown:  # noqa: ANN401 - of `Shown`
    """The importance of heads by some definitions."""
    where = {"mode": tables.MODE, "definition": names}
    about = {"kind": "definition", "where": where, "summaries": _SUMMARIES, **more}
    return Shown(tables.HEAD_IMPORTANCE, "importance", "Importance: {kind}", _GROUP, **about)


SHOWN = (
    _of_definitions(_SIGNED, palette="effect", on_card=(tables.EXACT,)),
    _of_definitions((tables.ABSOLUTE,), on_card=False),
    Shown(
        tables.REMAINING_HEADS,
        "survives",
        "Survives removal: {kind}",
        _GROUP,
        "whether the head remains when as many heads are removed as possible within the tolerance; "
        "for several seeds, the share for which it does",
        kind="order",
        where={"order": (tables.ABSOLUTE, tables.EXACT, tables.GREEDY)},
        words={tables.EXACT: "by leave-one-out loss", tables.ABSOLUTE: "by absolute gradient"},
        beside=("rank",),
        summaries=("pruned_heads", "pruning_curves", "smaller_models"),
        on_card=(tables.ABSOLUTE,),
    ),
    Shown(
        tables.HEAD_GATES,
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
