"""Maps made of labelled ones, to train on; they are never tested.

**Composed maps.** Vertical and diagonal together are rare among the labelled maps of most
encoders, and frequent in others. What such maps are is known, though: columns and a diagonal, both
plain. So a plain diagonal is added to vertical maps, and columns of special tokens to diagonal
ones. Composed maps have labels and a small weight.

**Varied maps.** The network has seen few encoders, so it also learns what the regression says of
maps that labelled ones become if tokens are left out, if special tokens change places, or if two
maps are mixed. They have no labels: a change may turn one pattern into another.
"""

from __future__ import annotations

from collections.abc import Hashable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt

from darksecrets.paper.patterns.maps.labelled_maps import Annotations
from darksecrets.paper.patterns.network.kinds import MAP_KINDS

Floats = npt.NDArray[np.float64]

DIAGONAL = (0.2, 0.5)
"""Share of a row's weight that an added diagonal gets, before it varies from row to row."""
COLUMNS = (0.25, 0.6)
"""Share of a row's weight that all added columns get together, likewise."""
_MOST = 0.8  # of a row's weight
_VARIATION = 0.3  # standard deviation of the logarithm of the share, over rows

VARIATIONS = 8
"""Varied maps that are made of each labelled one; fewer, where it has no place to change."""
_SHORTEST = 10
"""Tokens of the shortest map of which tokens are left out."""
_LEAST_KEPT = 0.05
"""Weight that every row must keep when tokens are left out."""
_SHARES = (0.15, 0.85)
"""Share of the first map in a mixture."""

_DIAGONAL_ON = {"vertical": "vertical+diagonal", "heterogeneous": "diagonal"}
"""Strict class of a vertical map, and of the same with a plain diagonal."""


@dataclass(frozen=True)
class Composed:
    """Composed maps.

    Attributes:
        sources: [maps] row of the labelled map that each is made of, which has its tokens.
        maps: [maps] arrays [query, key]; rows sum to 1.
        kinds: [maps] place of each one's kind in `MAP_KINDS`.
    """

    sources: npt.NDArray[np.int64]
    maps: list[Floats]
    kinds: npt.NDArray[np.int64]


@dataclass(frozen=True)
class Varied:
    """Varied maps.

    Attributes:
        sources: [maps, 2] rows of the labelled maps that each is made of; the same one twice,
            unless two are mixed.
        maps: [maps] arrays [query, key]; rows sum to 1.
        special: [maps] a digit per token, 1 for special ones.
        segments: [maps] a digit per token, its sentence.
    """

    sources: npt.NDArray[np.int64]
    maps: list[Floats]
    special: list[str]
    segments: list[str]


def compose(data: Annotations, seed: int) -> Composed:
    """Add a diagonal to every vertical map, and special columns to every diagonal one.

    Vertical maps whose strict class is unknown are left out.

    Args:
        data: Labelled maps.
        seed: Seed of the strengths.
    """
    rng = np.random.default_rng(seed)
    sources, maps, kinds = [], [], []
    rows = zip(data.table.to_dict("records"), data.maps, strict=True)
    for source, (row, weights) in enumerate(rows):
        kind = _kind(row)
        if kind is not None and len(weights) > 1:
            add = _add_diagonal if row["label"] == "vertical" else _add_columns
            special = np.array([mark == "1" for mark in row["special"]])
            if row["label"] == "diagonal" and not special.any():
                continue
            sources.append(source)
            maps.append(add(weights.astype(np.float64), special, rng))
            kinds.append(MAP_KINDS.index(kind))
    return Composed(np.array(sources, dtype=np.int64), maps, np.array(kinds, dtype=np.int64))


def _kind(row: Mapping[Hashable, Any]) -> tuple[str, str] | None:
    """Lenient and strict class of what is composed of a map; None if nothing is."""
    if row["label"] == "diagonal":
        return "vertical+diagonal", "vertical+diagonal"
    if row["label"] == "vertical" and row["strict"] in _DIAGONAL_ON:
        return "vertical+diagonal", _DIAGONAL_ON[row["strict"]]
    return None


def _add_diagonal(
    weights: Floats, special: npt.NDArray[np.bool_], rng: np.random.Generator
) -> Floats:
    """Mix a map with attention to the token itself, the one before, or the one after."""
    length = len(special)
    places = np.arange(length)
    line = np.zeros((length, length))
    line[places, np.clip(places + rng.integers(-1, 2), 0, length - 1)] = 1
    return _mixed(weights, line, DIAGONAL, rng)


def _add_columns(
    weights: Floats, special: npt.NDArray[np.bool_], rng: np.random.Generator
) -> Floats:
    """Mix a map with attention to the special tokens, in random proportions."""
    columns = np.zeros(len(special))
    columns[special] = rng.dirichlet(np.ones(special.sum()))
    return _mixed(weights, np.tile(columns, (len(special), 1)), COLUMNS, rng)


def _mixed(
    weights: Floats, added: Floats, bounds: tuple[float, float], rng: np.random.Generator
) -> Floats:
    share = rng.uniform(*bounds) * np.exp(rng.normal(0, _VARIATION, size=(len(weights), 1)))
    share = share.clip(0, _MOST)
    return np.asarray((1 - share) * weights + share * added, dtype=np.float64)


def vary(data: Annotations, seed: int) -> Varied:
    """Leave out tokens of labelled maps, exchange their special tokens, or mix them.

    Args:
        data: Labelled maps.
        seed: Seed of the choices.
    """
    rng = np.random.default_rng(seed)
    maps = [np.asarray(weights, dtype=np.float64) for weights in data.maps]
    texts = list(zip(data.table["special"], data.table["segments"], strict=True))
    of_length: dict[int, list[int]] = {}
    for row, weights in enumerate(maps):
        of_length.setdefault(len(weights), []).append(row)
    sources, varied, kept_texts = [], [], []
    for row, weights in enumerate(maps):
        special = np.array([mark == "1" for mark in texts[row][0]])
        for change in rng.integers(3, size=VARIATIONS):
            partner, kept = row, np.arange(len(weights))
            if change == 0:
                kept = _kept_tokens(special, rng)
                made = weights[np.ix_(kept, kept)]
            elif change == 1:
                made = _exchanged(weights, special, rng)
            else:
                partner = int(rng.choice(of_length[len(weights)]))
                share = rng.uniform(*_SHARES)
                made = share * weights + (1 - share) * maps[partner]
            left = made.sum(axis=1, keepdims=True)
            if left.min() < _LEAST_KEPT:
                continue
            sources.append((row, partner))
            varied.append(made / left)
            kept_texts.append(tuple("".join(text[i] for i in kept) for text in texts[row]))
    return Varied(
        np.array(sources, dtype=np.int64).reshape(-1, 2),
        varied,
        [special for special, _ in kept_texts],
        [segments for _, segments in kept_texts],
    )


def _kept_tokens(special: npt.NDArray[np.bool_], rng: np.random.Generator) -> npt.NDArray[np.int64]:
    """Places that stay if up to half of the tokens, in a row, are left out; special ones stay."""
    length = len(special)
    if length < _SHORTEST:
        return np.arange(length)
    dropped = int(rng.integers(1, length // 2))
    start = int(rng.integers(0, length - dropped))
    kept = np.ones(length, dtype=bool)
    kept[start : start + dropped] = False
    return np.flatnonzero(kept | special)


def _exchanged(weights: Floats, special: npt.NDArray[np.bool_], rng: np.random.Generator) -> Floats:
    """A map whose columns of special tokens have changed places."""
    places = np.flatnonzero(special)
    made = weights.copy()
    made[:, places] = weights[:, rng.permutation(places)]
    return made
