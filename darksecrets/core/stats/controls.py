"""Controls: random tokens and token pairs to compare real ones with (beyond the paper)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

from darksecrets.core.arrays import Flags, Floats, Integers


def frequency_classes(counts: npt.ArrayLike) -> Integers:
    """Classes of about equally frequent words: counts on a scale of powers of 2, rounded."""
    found: Integers = np.rint(np.log2(np.add(counts, 1))).astype(np.int64)
    return found


def pairs_at_the_same_distance(
    pairs: Integers,
    usable: Flags,
    draws: int,
    rng: np.random.Generator,
    *,
    keys: Flags | None = None,
) -> Integers:
    """Replace every pair by random pairs at the same distance, in the same order.

    A head that attends to a fixed offset gives high weights to any pair at that offset, so
    compared with these pairs it shows no effect.

    Args:
        pairs: [pairs, 2] query and key positions, both usable.
        usable: [L] tokens that may be drawn: of the same kind of text, not special.
        draws: Random pairs per real pair.
        rng: Random number generator.
        keys: [L] tokens that may be drawn as keys; ``usable`` is then for queries only. For pairs
            between two sentences.

    Returns:
        [draws, pairs, 2] positions; each is uniform over all positions where both tokens are
        usable, including the real pair's.
    """
    usable_keys = usable if keys is None else keys
    drawn = np.empty((draws, len(pairs), 2), dtype=np.int64)
    for number, (query, key) in enumerate(pairs):
        queries = np.flatnonzero(usable)
        partners = queries + (key - query)
        inside = (partners >= 0) & (partners < len(usable))
        queries = queries[inside][usable_keys[partners[inside]]]
        drawn[:, number, 0] = rng.choice(queries, size=draws)
        drawn[:, number, 1] = drawn[:, number, 0] + (key - query)
    return drawn


def tokens_at_likely_places(
    count: int, chances: Floats, draws: int, rng: np.random.Generator
) -> Integers:
    """Draw sets of distinct tokens by given weights, without replacement.

    Args:
        count: Tokens per set; fewer if fewer have a positive weight.
        chances: [L] weight of each token: the next token of a set is drawn from the remaining
            ones in proportion to it, and never if it is 0.
        draws: Number of sets.
        rng: Random number generator.

    Returns:
        [draws, count] positions.
    """
    possible = np.flatnonzero(chances)
    # Independent exponential variables with these rates, sorted, give the order of such draws.
    clocks = rng.exponential(size=(draws, len(possible))) / chances[possible]
    return possible[np.argsort(clocks, axis=1)[:, :count]]
