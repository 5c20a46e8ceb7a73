"""Trials of reset layers and of flatness: no difference, and plain ones."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from made_up_landscape import MadeUp

from adversarial.models import SAMPLES, TASK
from adversarial.trials import CI, LEVEL, NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.landscape.declared import STATES
from darksecrets.beyond.landscape.measure.flatness import draws_of_trace, estimate
from darksecrets.beyond.landscape.statistics import means, score

_LOSS = ("loss_low", "loss_high")


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
        made.interval(name, "loss_delta", table, _LOSS)


def flat(size: Size, folder: Path) -> Iterator[Trial]:
    """Traces of matrices whose trace is 0; states that differ by chance, and by a factor of 20."""
    for seeds, truth in ((2, NULL), (5, NULL), (5, POWER)):
        rng, made = np.random.default_rng(70 + seeds), Statements()
        for _ in range(size.sweeps):
            table = _flatness(rng, seeds, ratio=20.0 if truth == POWER else 1.0)
            of_seeds = means(table)
            differences = of_seeds[of_seeds["state"] == "difference"]
            made.interval("flatness_means", "value", differences, CI)
            if truth == NULL:
                made.interval("flatness", "value", _traces(rng), CI)
        kind = "states that differ" if truth == POWER else "states of one kind"
        yield from made.trials(f"{kind}, {seeds} seeds", truth)


def _flatness(rng: np.random.Generator, seeds: int, ratio: float) -> pd.DataFrame:
    """What `means` reads, of two tasks; numbers vary by half from seed to seed."""
    rows = [
        {"task": task, "state": state, "seed": seed, "value": value, "error": 0.02 * value}
        for task in ("MRPC", "RTE")
        for state, times in zip(STATES, (1.0, ratio), strict=True)
        for seed in range(seeds)
        for value in (times * np.exp(0.5 * rng.normal()),)
    ]
    return pd.DataFrame(rows).assign(split="train", measure="trace")


def _traces(rng: np.random.Generator) -> pd.DataFrame:
    made = rng.normal(size=(20, 20))
    matrix = torch.from_numpy(made + made.T - 2 * np.diag(np.diag(made)))
    generator = torch.Generator().manual_seed(int(rng.integers(2**31)))
    like = torch.zeros(20, dtype=torch.float64)
    found = estimate(draws_of_trace(lambda vector: matrix @ vector, like, 10, generator))
    return pd.DataFrame([found])
