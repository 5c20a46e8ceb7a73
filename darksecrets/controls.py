"""Random token pairs that a finding about real pairs has to beat (beyond the paper)."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def pairs_at_the_same_distance(
    pairs: npt.NDArray[np.int64],
    usable: npt.NDArray[np.bool_],
    draws: int,
    rng: np.random.Generator,
) -> npt.NDArray[np.int64]:
    """Replace every pair by random ones whose tokens stand equally far apart, in the same order.

    Heads that attend to a fixed offset give high weights to any pair at that offset; against these
    pairs, such a head shows nothing.

    Args:
        pairs: [pairs, 2] query and key positions, both usable.
        usable: [L] tokens that may be drawn: those of the same kind of text, not special ones.
        draws: Random pairs per real one.
        rng: Source of chance.

    Returns:
        [draws, pairs, 2] positions; each is uniform over all places where both tokens are usable,
        the real pair's among them.
    """
    drawn = np.empty((draws, len(pairs), 2), dtype=np.int64)
    for number, (query, key) in enumerate(pairs):
        queries = np.flatnonzero(usable)
        keys = queries + (key - query)
        inside = (keys >= 0) & (keys < len(usable))
        queries = queries[inside][usable[keys[inside]]]
        drawn[:, number, 0] = rng.choice(queries, size=draws)
        drawn[:, number, 1] = drawn[:, number, 0] + (key - query)
    return drawn
