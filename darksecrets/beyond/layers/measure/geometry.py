"""How the states of words lie in space (Ethayarajh 2019; Kovaleva et al. 2021)."""

from __future__ import annotations

import math

import numpy as np
import pandas as pd

from darksecrets.beyond.layers.measure.states import WordStates
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.stats.ratios import ratio
from darksecrets.core.stats.resampling import interval_of_known, multinomial_weights

FEWEST = 5
"""Sentences in which a word type must occur for its self-similarity."""
_DRAWS = 1000


def geometry_rows(states: WordStates, types: Integers, seed: int) -> pd.DataFrame:
    """Rows of `LAYER_GEOMETRY` of one model.

    Args:
        states: States of words.
        types: [words] number of the word type of each.
        seed: Seed of the bootstrap.
    """
    rows = []
    for layer in states.layers:
        own = states.states[layer].astype(np.float64)
        squares = np.mean(own**2, axis=0)
        lengths = np.linalg.norm(own, axis=1, keepdims=True)
        unit = own / np.maximum(lengths, np.finfo(np.float64).tiny)
        mean, (low, high) = anisotropy(unit, states.sentence, seed)
        similar = self_similarities(unit, states.sentence, types) - mean
        alike = ratio(similar, np.ones(len(similar))) if len(similar) > 1 else None
        rows.append(
            {
                "layer": layer,
                "anisotropy": mean,
                "anisotropy_low": low,
                "anisotropy_high": high,
                "self_similarity": math.nan,
                "self_similarity_low": math.nan,
                "self_similarity_high": math.nan,
                **(alike.columns("self_similarity", -2, 2) if alike else {}),
                "outlier": int(squares.argmax()) + 1,
                "outlier_share": squares.max() / max(squares.sum(), np.finfo(np.float64).tiny),
                "even_share": 1 / len(squares),
                "words": len(own),
            }
        )
    return pd.DataFrame(rows)


def anisotropy(unit: Floats, sentence: Integers, seed: int) -> tuple[float, Floats]:
    """Mean cosine of all pairs of words of different sentences, and its interval over these.

    Args:
        unit: [words, size] vectors of length 1.
        sentence: [words] sentence of each, from 0.
        seed: Seed of the bootstrap.
    """
    sums = np.zeros((sentence.max() + 1, unit.shape[1]))
    np.add.at(sums, sentence, unit)
    sizes = np.bincount(sentence).astype(np.float64)
    products = sums @ sums.T
    weights = multinomial_weights(
        _DRAWS, np.ones(len(sizes), np.int64), np.random.default_rng(seed)
    )

    def mean(drawn: Floats) -> Floats:
        """[draws]; copies of a sentence are no pair."""
        cosines = np.einsum("dn,dn->d", drawn @ products, drawn)
        pairs = (drawn @ sizes) ** 2
        own = drawn**2
        found: Floats = (cosines - own @ products.diagonal()) / (pairs - own @ sizes**2)
        return found

    estimate = float(mean(np.ones((1, len(sizes))))[0])
    return estimate, interval_of_known(mean(weights.astype(np.float64)))


def self_similarities(unit: Floats, sentence: Integers, types: Integers) -> Floats:
    """[types] mean cosine of the states of a word in different sentences.

    Of word types in `FEWEST` sentences or more; of several words of a sentence, the first counts.
    """
    _, first = np.unique(np.stack([types, sentence], axis=1), axis=0, return_index=True)
    types, unit = types[first], unit[first]
    counts = np.bincount(types)
    sums = np.zeros((len(counts), unit.shape[1]))
    np.add.at(sums, types, unit)
    often = counts >= FEWEST
    number = counts[often].astype(np.float64)
    found: Floats = ((sums[often] ** 2).sum(axis=1) - number) / (number * (number - 1))
    return found
