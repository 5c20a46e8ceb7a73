"""Random tokens and token pairs that a finding about real ones has to beat (beyond the paper)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def pairs_at_the_same_distance(
    pairs: npt.NDArray[np.int64],
    usable: npt.NDArray[np.bool_],
    draws: int,
    rng: np.random.Generator,
    *,
    keys: npt.NDArray[np.bool_] | None = None,
) -> npt.NDArray[np.int64]:
    """Replace every pair by random ones whose tokens stand equally far apart, in the same order.

    Heads that attend to a fixed offset give high weights to any pair at that offset; against these
    pairs, such a head shows nothing.

    Args:
        pairs: [pairs, 2] query and key positions, both usable.
        usable: [L] tokens that may be drawn: those of the same kind of text, not special ones.
        draws: Random pairs per real one.
        rng: Source of chance.
        keys: [L] tokens that may be drawn as keys, where ``usable`` is for queries only: of pairs
            between two sentences.

    Returns:
        [draws, pairs, 2] positions; each is uniform over all places where both tokens are usable,
        the real pair's among them.
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
    count: int, chances: npt.NDArray[np.float64], draws: int, rng: np.random.Generator
) -> npt.NDArray[np.int64]:
    """Draw sets of different tokens, each token with a chance of its own.

    Args:
        count: Tokens of a set; fewer if fewer have a chance.
        chances: [L] weight of each token; the next one of a set is drawn among those that are
            left in proportion to it, never where it is 0.
        draws: Number of sets.
        rng: Source of chance.

    Returns:
        [draws, count] positions.
    """
    possible = np.flatnonzero(chances)
    # The order in which independent exponential clocks of these rates ring is that of such draws.
    clocks = rng.exponential(size=(draws, len(possible))) / chances[possible]
    return possible[np.argsort(clocks, axis=1)[:, :count]]
