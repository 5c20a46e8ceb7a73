"""How often intervals of change and cost cover the true rank correlation."""

import numpy as np
import pytest

from darksecrets.landscape.joining import OnScale, intervals, on_fishers_scale
from darksecrets.stats.ranks import rank_correlations

EXAMPLES, RESAMPLES = 60, 80
LAYERS, HEADS = 6, 6


def normal(
    rng: np.random.Generator, seeds: int, heads: int, alike: float, shared: float
) -> np.ndarray:
    """[seeds, units] of variance 1; part of it is of layers, and part the same for all seeds."""

    def drawn(models: int) -> np.ndarray:
        of_layers = np.sqrt(alike) * rng.normal(size=(models, LAYERS, 1))
        of_units = np.sqrt(1 - alike) * rng.normal(size=(models, LAYERS, heads))
        made: np.ndarray = (of_layers + of_units).reshape(models, -1)
        return made

    found: np.ndarray = np.sqrt(shared) * drawn(1) + np.sqrt(1 - shared) * drawn(seeds)
    return found


def trial(
    rng: np.random.Generator,
    *,
    true: float,
    seeds: int,
    heads: int = HEADS,
    alike: float = 0.0,
    shared: float = 0.8,
    spread: float = 0.0,
    noise: float = 2.0,
) -> tuple[list[OnScale], list[float]]:
    """Two measures of change with two costs each, as rows of the table; their correlations.

    Args:
        rng: Source of randomness.
        true: Correlation of changes with costs in all units and examples there could be.
        seeds: Models.
        heads: Heads of each layer; 1 compares layers.
        alike: Share of the variance that is of layers.
        shared: Share of the variance that is the same for all seeds.
        spread: Standard deviation of the true correlation over seeds.
        noise: Deviation of a unit's cost over examples, of which half is the same for all seeds.
    """
    layers = np.repeat(np.arange(LAYERS), heads)
    weights = rng.multinomial(EXAMPLES, np.full(EXAMPLES, 1 / EXAMPLES), RESAMPLES) / EXAMPLES
    cost = normal(rng, seeds, heads, alike, shared)
    of_seeds = np.clip(true + spread * rng.normal(size=(seeds, 1)), -0.95, 0.95)
    both = [
        of_seeds * cost + np.sqrt(1 - of_seeds**2) * normal(rng, seeds, heads, alike, shared)
        for _ in range(2)
    ]
    shape = (len(layers), EXAMPLES)
    errors = rng.normal(size=shape) + rng.normal(size=(seeds, *shape))
    rows, found = [], []
    for change in both:
        for _ in range(2):  # costs of the same models hardly differ
            own = 0.3 * rng.normal(size=(seeds, *shape))
            of_examples = cost[..., None] + noise * np.sqrt(0.5) * (errors + own)
            drawn = np.einsum("rx,sux->rsu", weights, of_examples, optimize=True)
            means = of_examples.mean(axis=-1)
            rows.append(on_fishers_scale(change, means, drawn, layers))
            found.append(float(rank_correlations(change, means).mean()))
    return rows, found


CASES = {
    "one model, heads by themselves": {"seeds": 1},
    "one model, heads of a layer alike": {"seeds": 1, "alike": 0.7},
    "two seeds": {"seeds": 2, "alike": 0.3},
    "two seeds that agree, heads of a layer alike": {"seeds": 2, "alike": 0.7, "shared": 1.0},
    "three seeds that disagree": {"seeds": 3, "alike": 0.3, "spread": 0.3},
    "layers of one model": {"seeds": 1, "heads": 1},
    "layers of two seeds": {"seeds": 2, "heads": 1},
}


@pytest.mark.parametrize("true", [0.0, 0.6])
@pytest.mark.parametrize("name", CASES)
def test_intervals_cover_the_true_correlation(name, true):
    """In 95 % of 60 trials, less 3.1 standard errors.

    Heads that are alike, counted as independent ones, are covered in 70 to 90 %. The truth is the
    mean correlation of as many examples: noise of examples makes it smaller.
    """
    rng, trials = np.random.default_rng(30), 60
    ends, found = [], []
    for _ in range(trials):
        rows, correlations = trial(rng, true=true, **CASES[name])  # type: ignore[arg-type]
        ends.append(intervals(rows, measures=2)[0])
        found.append(np.mean(correlations))
    truth = np.mean(found) if true else 0.0
    low, high = np.transpose(ends)
    covered = float(((low <= truth) & (truth <= high)).mean())
    assert covered >= 0.95 - 3.1 * np.sqrt(0.95 * 0.05 / trials)
    if CASES[name] == {"seeds": 1} and true:
        assert (low > 0).mean() > 0.6, "not by being as wide as can be"


def test_heads_that_are_alike_count_as_fewer():
    rng = np.random.default_rng(31)
    shares = []
    for alike in (0.0, 0.9):
        found = [trial(rng, true=0.0, seeds=1, alike=alike)[0][0] for _ in range(20)]
        shares.append(np.mean([row.degrees == LAYERS - 1 for row in found]))
    assert shares[0] < 0.7
    assert shares[1] > 0.8
