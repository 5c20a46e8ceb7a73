"""Six cells of a map in which sums, or products, of three effects cancel exactly.

The effects are of the attending token, of the token attended to, and of the distance between them.
Around a pair (i, j) the cells are (i, j), (i, j + a), (i + b, j + a + b), (i + a + b, j + a + b),
(i + a + b, j + a) and (i + b, j). With the signs + − + − + −, every query, every key and every
distance occurs once with either sign. So the signed sum of the weights is 0 if they are sums of
such effects, and both geometric means of three weights are equal if they are products: a class of
words that is attended to within some distance, for example. No effect has to be estimated, so the
contrasts also hold where most weights are 0.
"""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Flags, Floats, Integers

Cells = Integers
Mask = Flags

SIGNS = np.array([1, -1, 1, -1, 1, -1])
"""Signs of the six cells."""


def hexagons(pair: tuple[int, int], queries: Mask, keys: Mask, related: Mask) -> Cells:
    """Find all sets of six cells around a pair.

    Args:
        pair: Query and key position.
        queries: [L] tokens that may attend.
        keys: [L] tokens that may be attended to.
        related: [L, L] cells of which the other five may be none.

    Returns:
        [hexagons, 6, 2] query and key positions; the pair comes first.
    """
    i, j = pair
    length, places = len(queries), np.flatnonzero(keys)
    one, other = (a.ravel() for a in np.meshgrid(places, places, indexing="ij"))
    b, both = i + other - one, i + other - j
    inside = (np.minimum(b, both) >= 0) & (np.maximum(b, both) < length)
    inside &= (one != j) & (other != j) & (one != other)
    fits = np.flatnonzero(inside)
    fits = fits[queries[b[fits]] & queries[both[fits]]]
    here, there = np.full(len(fits), i), np.full(len(fits), j)
    rows = np.stack([here, here, b[fits], both[fits], both[fits], b[fits]], axis=1)
    columns = np.stack([there, one[fits], other[fits], other[fits], one[fits], there], axis=1)
    free = ~related[rows[:, 1:], columns[:, 1:]].any(axis=1)
    return np.stack([rows[free], columns[free]], axis=2)


def excess_over_sum(six: Floats) -> Floats:
    """What the first of six cells exceeds the sum of effects by.

    Args:
        six: [..., 6] weights.

    Returns:
        [...] signed sums; 0 if the weights are sums of effects.
    """
    return six @ SIGNS


def excess_over_product(six: Floats) -> Floats:
    """Difference of the geometric means of the cells of either sign.

    Args:
        six: [..., 6] weights, not negative.

    Returns:
        [...] positive if the first cell exceeds the product of effects; 0 if the weights are such
        products, even if some are 0. Its mean is 0, too, if their errors are exchangeable factors.
    """
    plus, minus = (np.cbrt(six[..., start::2].prod(axis=-1)) for start in (0, 1))
    return plus - minus
