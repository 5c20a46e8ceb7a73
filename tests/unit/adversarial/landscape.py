"""Trials of reset layers: no difference, and plain ones."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from made_up_landscape import MadeUp

from adversarial.models import SAMPLES, TASK
from adversarial.trials import CI, LEVEL, NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.landscape.measure.statistics import score


def reset(size: Size, folder: Path) -> Iterator[Trial]:
    """Layers that are reset between equal models; and costly ones."""
    for seeds, truth in ((1, NULL), (2, NULL), (2, POWER)):
        rng, made = np.random.default_rng(40 + seeds), Statements()
        costly = truth == POWER
        for _ in range(size.sweeps):
            task = MadeUp.draw(rng)
            results = {seed: task.model(rng, exchanged=2.0 * costly) for seed in range(seeds)}
            _of_effects(score(results, TASK, "finetuned", SAMPLES), made)
        kind = "layers that cost" if costly else "equal models"
        yield from made.trials(f"{kind}, {seeds} seeds", truth)


def _of_effects(tables: dict[str, pd.DataFrame], made: Statements) -> None:
    for name, table in tables.items():
        made.each(f"{name}: p_value < 0.05", table["p_value"] < LEVEL)
        for _, family in table.groupby("kind"):
            made.any(f"{name}: q_value < 0.05", family["q_value"] < LEVEL)
        made.interval(name, "delta", table, CI)
