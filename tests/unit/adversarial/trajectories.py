"""Trials of when heads change: layers that change together, or in a random order."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
from made_up_trajectories import HEADS, LAYERS, made_up

from adversarial.trials import CI, LEVEL, NULL, POWER, Size, Statements, Trial
from darksecrets.landscape.trajectories import compare
from darksecrets.landscape.trajectory_tables import NO_ORDER

_TOGETHER, _RANDOM = "all layers together, upper ones further", "a random order of layers"
_EARLY, _LATE = 0.3, 0.7


def of_heads(size: Size, folder: Path) -> Iterator[Trial]:
    """Heads without an order of layers, and with one."""
    changes = np.linspace(0.05, 0.6, LAYERS)[:, None] * np.ones(HEADS)
    for kind, truth in ((_TOGETHER, NULL), (_RANDOM, NULL), ("an order of layers", POWER)):
        rng, made = np.random.default_rng(60), Statements()
        for _ in range(size.sweeps):
            halfway = np.full(LAYERS, 0.5)
            if kind == _RANDOM:
                halfway = rng.uniform(_EARLY, _LATE, size=LAYERS)
            elif truth == POWER:
                halfway = np.linspace(_EARLY, _LATE, LAYERS)
            of_heads = halfway[:, None] * np.ones(HEADS)
            models = {seed: made_up(rng, of_heads, change=changes) for seed in range(2)}
            order = compare({("RTE", "finetuned"): models}, seed=1)["halfway_order"]
            made.each("halfway_order: p_value < 0.05", order["p_value"] < LEVEL)
            made.any("halfway_order: q_value < 0.05", order["q_value"] < LEVEL)
            made.any("halfway_order: verdict of an order", order["verdict"] != NO_ORDER)
            if kind != _RANDOM:  # intervals are of this training, whose layers do differ then
                made.interval("halfway_order", "spearman", order)
                made.interval("halfway_order", "difference", order, CI)
        yield from made.trials(kind, truth)
