"""What the atlas shows of section 4.6."""

from __future__ import annotations

from darksecrets.ablation.tables import EFFECTS, HEAD_ABLATION, JOINT, OVER_TASKS, SEED_EFFECTS
from darksecrets.run.shown import Phrase, Shown

_SUMMARIES = (*EFFECTS, SEED_EFFECTS, *OVER_TASKS, *JOINT)
_OTHERS = ("linked_ablation", "linked_groups")

SHOWN = (
    Shown(
        HEAD_ABLATION,
        "delta",
        "Effect of disabling: {kind}",
        "Disabling (4.6)",
        "score without the head − score of the intact model",
        kind="metric",
        test="q_value",
        two_sided=True,
        palette="effect",
        over_seeds=SEED_EFFECTS,
        summaries=(*(t.name for t in _SUMMARIES if t is not HEAD_ABLATION), *_OTHERS),
        phrases=(
            Phrase(
                "disabling it costs {loss:.1f} points [{least:.1f}, {most:.1f}] of {kind}",
                significant=True,
                sign=-1,
            ),
            Phrase(
                "disabling it gains {value:.1f} points [{low:.1f}, {high:.1f}] of {kind}",
                significant=True,
                sign=1,
            ),
            Phrase("no significant effect on {kind} when disabled"),
        ),
    ),
)
