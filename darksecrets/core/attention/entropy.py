"""Entropy of attention, shared by the tables of heads.

The tables' shares of attention (previous, next, self, [CLS], [SEP]) are defined differently, so
each section has its own. The statistics of Clark et al. (2019) in `features` average over all
queries, and a key counts in every share that it belongs to. The table of the tiny BERT's heads in
`pretraining` is about words: special tokens are not queries, and each key counts once, [CLS] and
[SEP] first, so the shares sum to 1.
"""

from __future__ import annotations

from typing import TypeVar

import numpy as np
import numpy.typing as npt

Float = TypeVar("Float", np.float32, np.float64)


def entropy_sums(maps: npt.NDArray[Float]) -> npt.NDArray[Float]:
    """Entropy of every query's attention in nats, summed over the queries.

    Args:
        maps: [..., query, key] weights, rows sum to 1; float32 or float64.

    Returns:
        [...], in the precision of ``maps``.
    """
    logarithms = np.log(np.maximum(maps, np.finfo(np.float32).tiny))
    return -np.einsum("...ij,...ij->...", maps, logarithms)
