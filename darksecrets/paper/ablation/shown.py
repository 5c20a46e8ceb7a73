"""What the atlas shows of section 4.6."""

from __future__ import annotations

from darksecrets.core.data.metrics import METRICS, spoken
from darksecrets.core.run.shown import Phrase, Shown
from darksecrets.paper.ablation.tables import EFFECTS, HEAD_ABLATION, OVER_TASKS, SEED_EFFECTS

_SUMMARIES = (*EFFECTS, SEED_EFFECTS, *OVER_TASKS)

SHOWN = (
    Shown(
        HEAD_ABLATION,
        "delta",
        "Effect of disabling: {kind}",
        "Disabling (4.6)",
        "score without the head − score of the intact model",
        kind="metric",
        words={metric: spoken(metric) for metric in METRICS},
        test="q_value",
        two_sided=True,
        palette="effect",
        over_seeds=SEED_EFFECTS,
        summaries=(*(t.name for t in _SUMMARIES if t is not HEAD_ABLATION), "linked_groups"),
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
