"""Trials of what norms say of kinds of tokens (section 4.4)."""

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np
import numpy.typing as npt
from made_up_norms import HEADS, LAYERS, kinds_of_tokens, measured, stripes

from adversarial.trials import NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.norms.measure.statistics import tables

Floats = npt.NDArray[np.float64]
Lengths = Callable[[np.random.Generator, Floats, npt.NDArray[np.bool_]], Floats]


def of_kinds(size: Size, folder: Path) -> Iterator[Trial]:
    """Stripes at [SEP], over vectors whose lengths do not depend on the token's kind or weight."""
    for kind, truth, lengths, skipped in _ENCODERS:
        rng, made = np.random.default_rng(41), Statements()
        for draw in range(size.sweeps):
            kinds = kinds_of_tokens(rng)
            weights = stripes(rng, kinds)
            model = measured(weights, lengths(rng, weights, kinds), kinds, rng)
            for name, table in zip(
                NAMES, tables({"random": model}, "random", draw)["random"], strict=True
            ):
                if name in skipped:
                    continue
                rows = table[table["kind"] == "separator"] if truth == POWER else table
                made.interval(name, "over_control", rows)
                made.interval(name, "correlation", rows)
        yield from made.trials(kind, truth)


NAMES = "norm_statistics", "norm_levels"


def _equal(rng: np.random.Generator, weights: Floats, kinds: npt.NDArray[np.bool_]) -> Floats:
    """All lengths of a head are the same, up to rounding."""
    of_head = rng.gamma(5, size=(1, 1, LAYERS, HEADS))
    return of_head * (1 + 1e-6 * rng.normal(size=weights.shape))


def _random(rng: np.random.Generator, weights: Floats, kinds: npt.NDArray[np.bool_]) -> Floats:
    """Lengths differ at random, so norms take weight from stripes that are not short."""
    return np.asarray(np.exp(0.7 * rng.normal(size=weights.shape)))


def _of_examples(rng: np.random.Generator, weights: Floats, kinds: npt.NDArray[np.bool_]) -> Floats:
    """The lengths of an example rise and fall together, in all heads."""
    of_example = np.exp(0.5 * rng.normal(size=(len(weights), 1, 1, 1)))
    return of_example * np.exp(0.3 * rng.normal(size=weights.shape))


def _short(rng: np.random.Generator, weights: Floats, kinds: npt.NDArray[np.bool_]) -> Floats:
    """Separators are short, and the shorter, the more weight they get."""
    shorter = np.where(kinds[..., 1, None, None], 0.5 * (weights / weights.mean()) ** -0.3, 1)
    return shorter * np.exp(0.2 * rng.normal(size=weights.shape))


def _of_heads(rng: np.random.Generator, weights: Floats, kinds: npt.NDArray[np.bool_]) -> Floats:
    """Every head has lengths of its own for kinds and weights, as heads with random weights do."""
    of_kinds = np.einsum(
        "etk,klh->etlh", kinds, 0.05 * rng.normal(size=(kinds.shape[2], LAYERS, HEADS))
    )
    powers = 0.05 * rng.normal(size=(LAYERS, HEADS))
    noise = 0.1 * rng.normal(size=weights.shape)
    return np.asarray(np.exp(of_kinds + noise) * weights**powers)


_ENCODERS: tuple[tuple[str, str, Lengths, tuple[str, ...]], ...] = (
    ("equal lengths", NULL, _equal, ()),
    ("random lengths", NULL, _random, ()),
    ("lengths of examples", NULL, _of_examples, ()),
    ("lengths of heads", NULL, _of_heads, ("norm_statistics",)),  # of single heads, they are true
    ("short separators", POWER, _short, ()),
)
