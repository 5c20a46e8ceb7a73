"""Hand-made features of self-attention maps, the input of a baseline classifier (section 4.1).

They express the definitions of the five classes as numbers. The length of a map is not a feature.
"""

from __future__ import annotations

import numpy as np
import numpy.typing as npt

DIAGONALS = (-2, -1, 0, 1, 2)
NAMES = (
    "special tokens",  # weight on special tokens such as [CLS] and [SEP]
    *(f"diagonal {offset:+d}" for offset in DIAGONALS),
    "own sentence",  # weight on tokens of the same sentence, without special tokens
    "own sentence, part",  # the same, relative to the weight on tokens that are not special
    "entropy",  # of a row, relative to that of a uniform row
    "column 1",  # greatest mean weight of a column
    "column 2",
    "column 1, rows",  # share of the rows in which that column has at least half of its mean weight
    "row maximum",  # greatest weight of a row
)


def features(
    weights: npt.NDArray[np.floating],
    special: npt.NDArray[np.bool_],
    segments: npt.NDArray[np.int64],
) -> npt.NDArray[np.float64]:
    """Compute the features of one map, as means over its rows.

    Args:
        weights: [L, L] weights, rows sum to 1.
        special: [L] whether a token is a special one.
        segments: [L] sentence, 0 or 1, of each token.

    Returns:
        [features], in the order of ``NAMES``.
    """
    rows = weights.astype(np.float64)
    length = len(rows)
    with_text = ~special[:, None] & ~special[None, :]
    own = (rows * (with_text & (segments[:, None] == segments[None, :]))).sum()
    columns = rows.mean(axis=0)
    first, second = np.argsort(-columns, kind="stable")[[0, min(1, length - 1)]]
    entropies = -np.sum(rows * np.log(np.where(rows > 0, rows, 1)), axis=1)
    values = [
        rows[:, special].sum() / length,
        *(_diagonal(rows, offset) for offset in DIAGONALS),
        own / length,
        own / max((rows * with_text).sum(), np.finfo(np.float64).tiny),
        entropies.mean() / np.log(max(length, 2)),
        columns[first],
        columns[second],
        np.mean(rows[:, first] >= columns[first] / 2),
        rows.max(axis=1).mean(),
    ]
    return np.array(values)


def _diagonal(rows: npt.NDArray[np.float64], offset: int) -> float:
    """Mean weight along a diagonal; 0 if the map is too short to have it."""
    diagonal = np.diagonal(rows, offset)
    return float(diagonal.mean()) if len(diagonal) else 0.0
