"""What fine-tuning changes for the heads that find most of a relation.

A random half of the sentences selects the pre-trained model's best head for every label, the same
as in `heads`. The other half compares what that head finds before and after, sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.paired import sign_bound
from darksecrets.stats.ratios import Ratio, difference, ratio, share
from darksecrets.stats.resampling import feasible
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.relations import Flags, Floats, Numbers, Pairs, pairs_of, same_distance
from darksecrets.syntax.tables import DIRECTIONS, SYNTACTIC_CHANGES

Head = tuple[int, int, int]
"""Layer, head and direction, from 0."""


def table(
    read: Sequence[Read], pretrained: Sequence[Guess], finetuned: Sequence[Guess], seed: int
) -> pd.DataFrame:
    """The table `syntactic_changes` of a fine-tuned model, without the columns that name it.

    Args:
        read: The sentences that both models read.
        pretrained: For each, [words, layer, head, direction], see `guesses.guesses`.
        finetuned: The same of the fine-tuned model.
        seed: Seed of the halves.

    Raises:
        InputError: There are too few dependents.
    """
    pairs = pairs_of(read, seed)
    before, after = pairs.guessed(pretrained), pairs.guessed(finetuned)
    found = pd.DataFrame([_of_label(pairs, before, after, label) for label in pairs.shown()])
    found["q_value"] = benjamini_hochberg(found["p_value"])
    return found[[name for name in SYNTACTIC_CHANGES.names if name in found]]


def _of_label(pairs: Pairs, before: Numbers, after: Numbers, label: str) -> dict[str, Any]:
    """The row of one label."""
    arcs = pairs.arcs(label)
    selecting, scoring = (arcs & (pairs.half == half) for half in (0, 1))
    head, own = (best_head(pairs, selecting, guessed) for guessed in (before, after))
    sizes = pairs.sums(scoring)
    first, second, best = (
        pairs.found(scoring, guessed[:, *chosen])
        for guessed, chosen in ((before, head), (after, head), (after, own))
    )
    change = second - first
    others = same_distance(pairs, arcs).weights
    rates = [pairs.found(others, guessed[:, *head]).sum() for guessed in (before, after)]
    return {
        "label": label,
        **_named(head),
        **{"arcs": int(sizes.sum()), "sentences": int((sizes > 0).sum())},
        **_ends("pretrained", share(first, sizes)),
        **_ends("finetuned", share(second, sizes)),
        **_ends("change", _difference(change, sizes), -1),
        "change_of_others": rates[1] - rates[0],
        "p_value": _two_sided(change),
        **{f"best_{name}": value for name, value in _named(own).items()},
        **_ends("best", share(best, sizes)),
        **_ends("best_change", _difference(best - first, sizes), -1),
    }


def best_head(pairs: Pairs, selecting: Flags, guessed: Numbers) -> Head:
    """The head and direction that find most of some arcs; of several, the first."""
    hits = pairs.found(selecting, guessed).sum(axis=0)
    layer, head, direction = np.unravel_index(int(hits.argmax()), hits.shape)
    return int(layer), int(head), int(direction)


def _named(head: Head) -> dict[str, Any]:
    """Columns that name a head."""
    layer, number, direction = head
    return {"direction": DIRECTIONS[direction], "layer": layer + 1, "head": number + 1}


def _ends(name: str, found: Ratio, lowest: int = 0) -> dict[str, float]:
    """Columns of an estimate and its interval."""
    low, high = feasible([found.low, found.high], lowest, 1)
    return {name: float(found.value), f"{name}_low": float(low), f"{name}_high": float(high)}


def _difference(differences: Floats, sizes: Floats) -> Ratio:
    """A difference of shares, paired by sentence.

    Its interval is Student's, but at least as wide as Wilson's intervals of what was gained and
    what was lost make it: where no sentence differs, Student's has no width.

    Args:
        differences: [sentences] how many more dependents' heads are found.
        sizes: [sentences] number of dependents.
    """
    found = ratio(differences, sizes)
    won, lost = (share(np.maximum(sign * differences, 0), sizes) for sign in (1, -1))
    least = difference(won, lost)
    return Ratio(found.value, np.minimum(found.low, least.low), np.maximum(found.high, least.high))


def _two_sided(differences: Floats) -> float:
    """p-value of a change in either direction; bounds that of random signs of the differences."""
    sums, squares = differences.sum(), (differences**2).sum()
    smaller = min(float(sign_bound(sign * sums, squares)) for sign in (1, -1))
    return min(1.0, 2 * smaller)
