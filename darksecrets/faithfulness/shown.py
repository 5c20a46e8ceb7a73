"""What the atlas shows of attention and decisions."""

from __future__ import annotations

from darksecrets.faithfulness.tables import ATTENTION_GRADIENTS, FAITHFULNESS
from darksecrets.run.columns import FIRST, SEPARATOR
from darksecrets.run.shown import Shown

_GROUP = "Attention and decisions (5)"

SHOWN = (
    Shown(
        ATTENTION_GRADIENTS,
        "relative",
        "Gradient by attention to {kind}",
        _GROUP,
        kind="kind",
        where={"kind": (SEPARATOR, FIRST)},
        words={FIRST: "[CLS]", SEPARATOR: "[SEP]"},
    ),
    Shown(
        FAITHFULNESS,
        "tau",
        "Kendall’s τ: {kind}",
        _GROUP,
        kind="compared",
        where={"compared": ("weights and gradient", "norms and gradient")},
        over="over_control",
        palette="effect",
    ),
)
