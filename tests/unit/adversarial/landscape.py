"""Trials of restored layers: exchanges that make no difference, changes that mean nothing."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from made_up_landscape import HEADS, LAYERS, MadeUp

from adversarial.models import SAMPLES, TASK
from adversarial.trials import CI, LEVEL, NULL, POWER, Size, Statements, Trial
from darksecrets.landscape.scoring import score

_LOSS = ("loss_low", "loss_high")
_KIND = ["direction", "kind"]


def restored(size: Size, folder: Path) -> Iterator[Trial]:
    """Exchanges of layers and heads between equal models; and costly ones, which follow changes."""
    for seeds, truth in ((1, NULL), (2, NULL), (2, POWER)):
        rng, made = np.random.default_rng(40 + seeds), Statements()
        for _ in range(size.sweeps):
            change = rng.random((LAYERS, HEADS))
            costly = truth == POWER
            task = MadeUp.draw(rng)
            results = {
                seed: task.model(
                    rng, heads=3 * change * costly, exchanged=2.0 * costly, change=change
                )
                for seed in range(seeds)
            }
            maps = dict.fromkeys(results, change)
            tables = score(results, maps, TASK, "finetuned", SAMPLES)
            _of_effects(tables, made, power=costly)
            _of_join(tables["change_and_cost"], made, power=costly)
        kind = "what changed most costs most" if costly else "equal models"
        yield from made.trials(f"{kind}, {seeds} seeds", truth)


def _of_effects(tables: dict[str, pd.DataFrame], made: Statements, *, power: bool) -> None:
    for name in ("restored_layers", "restored_heads", "restored_means"):
        # put into the pre-trained encoder, which costs as much as they do, weights have no effect
        table = tables[name]
        if "direction" in table:
            table = table[table["direction"] == "restored"]
        made.each(f"{name}: p_value < 0.05", table["p_value"] < LEVEL)
        families = [table] if "kind" not in table else [t for _, t in table.groupby(_KIND)]
        for family in families:
            made.any(f"{name}: q_value < 0.05", family["q_value"] < LEVEL)
        made.interval(name, "delta", table, CI)
        made.interval(name, "loss_delta", table, _LOSS)
    if not power:
        between = tables["interpolation"]
        made.interval("interpolation", "difference", between[between["alpha"] < 1], CI)


def _of_join(table: pd.DataFrame, made: Statements, *, power: bool) -> None:
    every = table
    if power:
        every = table[(table["scope"] == "heads") & (table["cost"] == "loss")]
    heads = every[every["scope"] == "heads"]
    for name in ("p_value", "p_within_layers"):
        rows = every if name == "p_value" else heads
        made.each(f"change_and_cost: {name} < 0.05", rows[name] < LEVEL)
        made.any(f"change_and_cost: q{name[1:]} < 0.05", rows[f"q{name[1:]}"] < LEVEL)
    made.interval("change_and_cost", "spearman", heads, CI)
