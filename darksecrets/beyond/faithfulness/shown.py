"""What the atlas shows of attention and decisions."""

from __future__ import annotations

from darksecrets.beyond.faithfulness.tables import ATTENTION_GRADIENTS, FAITHFULNESS
from darksecrets.core.run.columns import FIRST, SEPARATOR
from darksecrets.core.run.shown import Shown

_GROUP = "Attention and decisions (5)"
_COMPARED = ("weights and gradient", "norms and gradient")

SHOWN = (
    Shown(
        ATTENTION_GRADIENTS,
        "relative",
        "Gradient by attention to {kind}",
        _GROUP,
        "gradient of the loss by the weight given to such a token, divided by that of all tokens; "
        "1: such tokens are like others",
        kind="kind",
        where={"kind": (SEPARATOR, FIRST)},
        words={FIRST: "[CLS]", SEPARATOR: "[SEP]"},
        on_card=(SEPARATOR,),
    ),
    Shown(
        FAITHFULNESS,
        "tau",
        "Kendall’s τ: {kind}",
        _GROUP,
        "Kendall’s τ-b of two rankings of an example’s tokens; 0: they do not agree",
        kind="compared",
        where={"compared": _COMPARED},
        over="over_control",
        palette="effect",
        on_card=_COMPARED[:1],
    ),
)
