"""What the atlas shows of grids of fine-tunings."""

from __future__ import annotations

from darksecrets.run.shown import ModelNumbers
from darksecrets.seeds import tables

_GROUP = "Seeds of fine-tuning (4.3)"

MODELS = (
    ModelNumbers(
        tables.SEED_VARIANCE,
        "Variance of the final score",
        _GROUP,
        "Components of the variance, in points², and the standard deviation (SD) of each, in "
        "points. A negative estimate means that no effect is found.",
        values=("sd", "variance", "share", "q_value"),
        rows=("component",),
        words={
            tables.INIT: "initialization",
            tables.ORDER: "data order, dropout",
            "sd": "SD",
            "q_value": "corrected p",
        },
    ),
    ModelNumbers(
        tables.EXPECTED_MAXIMUM,
        "The best of n fine-tunings",
        _GROUP,
        "Expected score of the best. Held out: one half of the examples selects it and the other "
        "scores it.",
        values=("expected", "held_out"),
        rows=("drawn",),
        words={"drawn": "n"},
    ),
    ModelNumbers(
        tables.EARLY_STOPPING,
        "Stopping bad fine-tunings early",
        _GROUP,
        "Correlation of the scores after an epoch with the final ones (Spearman), and what "
        "stopping the worse runs saves, and loses in points.",
        values=("spearman", "q_value", "stopped", "saved", "lost", "lost_at_random"),
        rows=("epoch",),
        words={"spearman": "Spearman", "q_value": "corrected p"},
    ),
    ModelNumbers(
        tables.SEED_GRID,
        "Final score of every fine-tuning",
        _GROUP,
        "A row for every seed of the initialization, a column for every seed of the data order and "
        "of dropout.",
        values=("score",),
        rows=("init_seed",),
        across="order_seed",
        last="epoch",
        words={"init_seed": "initialization ↓ data order →"},
    ),
)
"""What the atlas shows of whole models."""
