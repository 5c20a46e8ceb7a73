"""Which token each map attends to most: the stripe of a map with columns (section 4.1).

A map's strongest column is the token that gets the greatest mean weight from the other tokens. Its
own row is left out: it is part of the diagonal, which would count for a column in maps that have
both. In layers with local attention, only tokens that can attend to it are counted.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np

from darksecrets.arrays import Flags, Integers, Singles
from darksecrets.attention.store import Reach
from darksecrets.features.kept import Kept
from darksecrets.features.labels import FEATURES
from darksecrets.features.profiles import ROUNDING

FILE = "strongest.npz"
"""Name of the file of a model, in the folder of its task."""


@dataclass(frozen=True)
class StrongestColumns(Kept):
    """The strongest column of every map of a model, beside the tokens of its examples.

    Attributes:
        idx: [examples] the data set's number of each example.
        tokens: [examples, kinds] share of the example's tokens of each of
            `darksecrets.run.columns.TOKEN_KINDS`.
        columns: [examples, layers, heads, kinds] 1 for the kind of the map's strongest column; if
            several are equally strong, their shares among the kinds.
    """

    what: ClassVar[str] = "strongest columns"
    idx: Integers
    tokens: Singles
    columns: Singles

    @classmethod
    def of(cls, idx: list[int], features: Flags, received: Singles) -> StrongestColumns:
        """Find them in a batch of examples.

        Args:
            idx: Their numbers.
            features: [example, token, feature] which tokens have each of `FEATURES`.
            received: From `from_others`.
        """
        kinds = kinds_of(features)
        return cls(np.array(idx), kinds.mean(axis=1), strongest_columns(received, kinds))


def kinds_of(features: Flags) -> Singles:
    """[example, token, kind] 1 for the kind of each token, in the order of `TOKEN_KINDS`.

    Args:
        features: [example, token, feature] which tokens have each of `FEATURES`. [CLS] and [SEP]
            stand for the special tokens of any tokenizer.
    """
    named = [features[..., FEATURES.index(name)] for name in ("[CLS]", "[SEP]", "punctuation")]
    first, separator, punctuation = named
    special = first | separator
    kinds = [first, separator, punctuation & ~special, ~(special | punctuation)]
    return np.stack(kinds, axis=-1).astype(np.float32)


def from_others(maps: Singles, columns: Singles, reach: Reach | None = None) -> Singles:
    """Mean weight that each token gets from the other tokens that can attend to it.

    Args:
        maps: [example, layer, head, query, key].
        columns: [example, key, layer, head] mean weight from all tokens that can, itself included.
        reach: [layer, query, key] which keys a query can attend to; None for all.

    Returns:
        [example, key, layer, head].
    """
    length = maps.shape[-1]
    counts = np.full((length, 1), length) if reach is None else reach.sum(axis=1).T
    counts = counts[:, :, None]
    own = np.moveaxis(np.diagonal(maps, axis1=-2, axis2=-1), -1, 1)
    return ((columns * counts - own) / np.maximum(counts - 1, 1)).astype(np.float32)


def strongest_columns(received: Singles, kinds: Singles) -> Singles:
    """[example, layer, head, kind] the kind of the token that gets most; see `StrongestColumns`.

    Weights that only differ by the rounding of half precision are equal.

    Args:
        received: [example, key, layer, head] from `from_others`.
        kinds: [example, key, kind] from `kinds_of`.
    """
    tied = received >= received.max(axis=1, keepdims=True) * (1 - ROUNDING)
    shares = np.einsum("ejk,ejlh->elhk", kinds, tied.astype(np.float32), optimize=True)
    return np.asarray(shares / tied.sum(axis=1)[..., None], dtype=np.float32)
