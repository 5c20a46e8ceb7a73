"""Which examples the atlas shows: chosen by rules, not by how well they look."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from darksecrets.core.arrays import Flags, Integers, Reals

TYPICAL, MEDIAN, FLIPS, RANDOM = ("typical", "median change", "prediction flips", "random")
MOVED = 0.5
"""A prediction of a regression counts as flipped if it moves by as many standard deviations."""


@dataclass(frozen=True)
class Choice:
    """An example that is shown.

    Attributes:
        example: Its index in the store.
        rule: Why it was chosen.
    """

    example: int
    rule: str


def short(lengths: Integers, most: int, at_least: int) -> Integers:
    """Indices of the examples that are short enough to read; or the shortest ones.

    Args:
        lengths: [examples] number of tokens.
        most: Largest number of tokens.
        at_least: If fewer examples are as short, the shortest are taken until there are as many.
    """
    order = np.argsort(lengths, kind="stable")
    count = max(int((lengths <= most).sum()), min(at_least, len(lengths)))
    return np.sort(order[:count])


def choose(
    candidates: Integers, distance: Reals, change: Reals, flips: Flags, number: int, seed: int
) -> list[Choice]:
    """Choose examples: the typical one, the one with the median change, flips, random ones.

    Of those whose prediction flips, each next one flips for as many further heads as possible. A
    quarter of the examples, at least, are drawn at random.

    Args:
        candidates: Indices of the examples to choose from.
        distance: [examples] how far the maps are from the mean maps; NaN if unknown.
        change: [examples] how much fine-tuning changes the maps.
        flips: [heads, examples] whether disabling a head flips the prediction.
        number: How many to choose.
        seed: Of the random ones.
    """
    chosen: list[Choice] = []

    def left() -> list[int]:
        return [int(i) for i in candidates if i not in {choice.example for choice in chosen}]

    if (known := [i for i in left() if not np.isnan(distance[i])]) and number > 0:
        chosen.append(Choice(min(known, key=lambda i: float(distance[i])), TYPICAL))
    if left() and number > 1:
        middle = float(np.quantile(change[candidates], 0.5, method="lower"))
        chosen.append(Choice(min(left(), key=lambda i: abs(float(change[i]) - middle)), MEDIAN))
    chosen += _flipping(left(), flips, number - len(chosen) - number // 4)
    rest = np.random.default_rng(seed).permutation(left())
    chosen += [Choice(int(i), RANDOM) for i in rest[: max(0, number - len(chosen))]]
    return chosen[:number]


def _flipping(candidates: list[int], flips: Flags, number: int) -> list[Choice]:
    """Examples that flip, each for as many heads as possible for which none before does."""
    chosen: list[Choice] = []
    open_heads = np.ones(len(flips), dtype=np.bool_)
    while candidates and len(chosen) < number:
        gains = flips[:, candidates][open_heads].sum(axis=0)
        if not gains.size or not gains.any():
            break
        best = candidates.pop(int(gains.argmax()))
        open_heads &= ~flips[:, best]
        chosen.append(Choice(best, FLIPS))
    return chosen


def flipped(
    predictions: Reals | npt.NDArray[np.integer],
    intact: Reals | npt.NDArray[np.integer],
    labels: Sequence[str],
) -> Flags:
    """Whether predictions differ from those of the intact model.

    Args:
        predictions: [heads, examples] with each head disabled.
        intact: [examples] of the intact model.
        labels: Names of the classes; empty for a regression, see `MOVED`.
    """
    if labels:
        return predictions != intact
    return np.abs(predictions - intact) > MOVED * np.std(intact)
