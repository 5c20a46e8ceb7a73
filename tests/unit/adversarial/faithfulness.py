"""Trials of what rankings and erased tokens say of attention and decisions (section 5)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt

from adversarial.trials import NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.faithfulness.declared import IMPORTANCE
from darksecrets.beyond.faithfulness.measure.erasure import REVERSED
from darksecrets.beyond.faithfulness.measure.explanations import Measured, Rankings, _agreements
from darksecrets.beyond.faithfulness.measure.statistics import agreements, erased
from darksecrets.core.run.columns import TOKEN_KINDS

Floats = npt.NDArray[np.float64]

_EXAMPLES, _LAYERS, _HEADS = 24, 2, 3


def of_rankings(size: Size, folder: Path) -> Iterator[Trial]:
    """Gradients that know nothing of the weights, or only places; and heads that follow them."""
    for kind, truth, make in _RANKINGS:
        rng, made = np.random.default_rng(61), Statements()
        for draw in range(size.sweeps):
            tokens = rng.integers(12, 24, _EXAMPLES)
            rankings = [make(rng, int(count)) for count in tokens]
            found = _agreements(rankings, np.arange(_EXAMPLES), draw)
            empty = np.zeros((_EXAMPLES, len(TOKEN_KINDS), _LAYERS, _HEADS))
            decisions = np.zeros(_EXAMPLES, np.int64)
            measured = Measured(decisions, empty, empty[:, 0], *found, rankings)
            table = agreements({"m": measured}, tokens.tolist(), draw)["m"]
            rows = table[table["compared"] != "weights and norms"]
            made.interval("faithfulness", "over_control", rows)
            if kind != _PLACES:
                made.interval("faithfulness", "tau", rows)
        yield from made.trials(kind, truth)


def _weights(rng: np.random.Generator, count: int) -> Floats:
    return rng.dirichlet(np.ones(count), size=(_LAYERS, _HEADS))


def _unrelated(rng: np.random.Generator, count: int) -> Rankings:
    """Every ranking is drawn by itself."""
    weights = _weights(rng, count)
    return {
        "weights": weights,
        "norms": weights * rng.gamma(3, size=weights.shape),
        "attention gradient": rng.normal(size=weights.shape),
        "gradient": rng.gamma(1, size=count),
    }


def _of_places(rng: np.random.Generator, count: int) -> Rankings:
    """All rankings fall from the first token to the last, in every text."""
    falling = np.exp(-2 * np.linspace(0, 1, count))
    return {name: falling * values for name, values in _unrelated(rng, count).items()}


def _followed(rng: np.random.Generator, count: int) -> Rankings:
    """Heads attend more to tokens with greater gradients."""
    found = _unrelated(rng, count)
    for name in ("weights", "norms", "attention gradient"):
        found[name] = found[name] * np.sqrt(found["gradient"])
    found["attention gradient"] = np.sqrt(found["weights"]) * found["attention gradient"]
    return found


_PLACES = "both fall from the first token to the last"
_RANKINGS: tuple[tuple[str, str, Callable[[np.random.Generator, int], Rankings]], ...] = (
    ("unrelated rankings", NULL, _unrelated),
    (_PLACES, NULL, _of_places),
    ("weights follow gradients", POWER, _followed),
)


def of_erased_tokens(size: Size, folder: Path) -> Iterator[Trial]:
    """Orders no better than random ones, of decisions that change soon or never; better ones."""
    for kind, truth, sooner in (
        ("orders at random", NULL, 1.0),
        ("orders find what matters", POWER, 0.6),
    ):
        rng, made = np.random.default_rng(62), Statements()
        for draw in range(size.sweeps):
            of_example, never = rng.uniform(0.1, 0.9, _EXAMPLES), rng.random(_EXAMPLES) < 0.2
            found = {}
            for name in ("random 1", "random 2", "random 3", *IMPORTANCE):
                times = sooner if name in IMPORTANCE[1:] else 1.0
                drawn = np.clip(times * of_example + 0.2 * rng.normal(size=_EXAMPLES), 0.1, 1)
                found[name] = np.where(never, np.nan, np.ceil(10 * drawn) / 10)
            found |= {name + REVERSED: found[name] for name in IMPORTANCE}
            table = erased(found, 3, draw)
            others = table[table["importance"] != "weights"]
            made.interval("erasure", "over_random", others if truth == POWER else table)
        yield from made.trials(kind, truth)
