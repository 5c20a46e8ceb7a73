"""What the attention between two tokens is expected to be if its causes only add up.

The weight of a pair of words is modelled as a sum of three effects, all of one map: of the
attending word, of the word attended to, and of the distance between them.
"""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Flags, Floats, Integers

Cells = Integers

_ROUNDING = 1e-8  # of a projection of a vector of ones and zeros


def additive_contrasts(cells: Cells, targets: Cells) -> tuple[Floats, Flags]:
    """Weights with which the values of some cells predict those of others by least squares.

    Args:
        cells: [cells, 2] query and key of the cells whose values are known.
        targets: [targets, 2] the cells to predict.

    Returns:
        [targets, cells] weights, whose product with the known values is the prediction; and
        [targets] whether the known cells determine it. They do not if, for example, none of them
        has the same distance.
    """
    both = np.concatenate([cells, targets])
    size = int(both.max()) + 1
    queries, keys = both.T
    design = np.concatenate(
        [np.eye(size)[queries], np.eye(size)[keys], np.eye(2 * size)[keys - queries + size]], axis=1
    )
    known, wanted = design[: len(cells)], design[len(cells) :]
    weights: Floats = wanted @ np.linalg.pinv(known)
    determined = np.abs(weights @ known - wanted).max(axis=1) < _ROUNDING
    return weights, determined
