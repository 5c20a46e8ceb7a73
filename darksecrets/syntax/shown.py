"""What the atlas shows of syntax."""

from __future__ import annotations

from darksecrets.run.shown import Shown
from darksecrets.syntax.tables import ATTENTION_TREES, DEPENDENT_TO_HEAD, HEAD_TO_DEPENDENT

SHOWN = (
    Shown(
        ATTENTION_TREES,
        "uuas",
        "Trees: {kind}",
        "Syntax (4.2)",
        kind="direction",
        words={
            DEPENDENT_TO_HEAD: "dependents attend to heads",
            HEAD_TO_DEPENDENT: "heads attend to dependents",
        },
        test="q_value",
        over="over_chain",
        on_card=False,
    ),
)
