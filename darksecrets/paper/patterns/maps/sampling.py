"""A stratified, seeded sample of single maps from the attention stores of a run (section 4.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Integers
from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.maps.identities import identities
from darksecrets.paper.patterns.maps.mapset import COLUMNS, MapSet, no_labels

if TYPE_CHECKING:
    from darksecrets.core.attention.store import AttentionStore

Origin = tuple[str, str, int | None]
"""Task, state of the model, fine-tuning seed."""


LONGEST = 128
"""Tokens of the longest example whose maps are drawn."""
_BINS = 4
"""Ranges of lengths that are drawn from equally often."""


def sample_set(mapset: MapSet, size: int, seed: int) -> MapSet:
    """Draw maps of a set, each equally probable, in random order and without their labels."""
    rows = np.random.default_rng(seed).permutation(len(mapset.table))[:size]
    table = mapset.table.iloc[rows].reset_index(drop=True)
    return MapSet(table, [mapset.maps[row] for row in rows], no_labels())


def sample_maps(
    stores: Mapping[Origin, AttentionStore], size: int, seed: int, model: str
) -> MapSet:
    """Draw maps such that every store, layer and head is drawn equally often, to within one.

    Short and long examples are drawn equally often as far as there are some: from `_BINS` ranges of
    lengths, equal on a logarithmic scale; none is longer than `LONGEST`. No example is drawn twice
    before all examples of its store were drawn, so that most maps are of different sentences. The
    maps are in random order, and their names are opaque, see `identities`.

    Args:
        stores: The attention stores to draw from, of one pre-trained model and any states of it.
        size: Number of maps.
        seed: Seed of the sample and of the names.
        model: The pre-trained model, in words, for the table.

    Raises:
        InputError: The stores hold fewer maps than ``size``.
    """
    available = sum(
        int((store.lengths <= LONGEST).sum()) * store.layers * store.heads
        for store in stores.values()
    )
    if size > available:
        raise InputError(
            f"The stores have only {available} maps of at most {LONGEST} tokens; {size} are needed."
        )
    rng = np.random.default_rng(seed)
    chosen = _choose(stores, size, rng)
    rng.shuffle(chosen)
    rows = [
        {"model": model, "earlier": ""} | _describe(stores[origin], origin, *place)
        for origin, place in chosen
    ]
    maps = [
        np.array(stores[origin].maps(example)[layer, head])
        for origin, (example, layer, head) in chosen
    ]
    table = pd.DataFrame(rows).assign(map=identities(rows, maps, seed)).astype({"seed": "Int64"})
    return MapSet(table[list(COLUMNS)], maps, no_labels())


def _choose(
    stores: Mapping[Origin, AttentionStore], size: int, rng: np.random.Generator
) -> list[tuple[Origin, tuple[int, int, int]]]:
    """Draw from the stores in turn, from each the next head of the next layer."""
    decks = {origin: _places(store, rng) for origin, store in stores.items()}
    chosen: list[tuple[Origin, tuple[int, int, int]]] = []
    while len(chosen) < size:
        for origin in list(decks):
            place = next(decks[origin], None)
            if place is None:
                del decks[origin]
            elif len(chosen) < size:
                chosen.append((origin, place))
    return chosen


def _places(store: AttentionStore, rng: np.random.Generator) -> Iterator[tuple[int, int, int]]:
    """Every (example, layer, head) of a store once: layers in turn, heads at random.

    No head repeats before all heads were drawn, nor does an example. If the two cycles just ran in
    parallel, pairs would repeat early when their lengths share a factor; shifting one cycle by one
    after each common period lets every head meet every example.
    """
    examples = _spread(store.lengths, rng)
    heads = np.stack([rng.permutation(store.heads) for _ in range(store.layers)])
    common = math.lcm(max(len(examples), 1), heads.size)
    for number in range(len(examples) * heads.size):
        head, layer = divmod(number % heads.size, store.layers)
        example = examples[(number + number // common) % len(examples)]
        yield int(example), layer, int(heads[layer, head])


def _spread(lengths: Integers, rng: np.random.Generator) -> Integers:
    """All examples of at most `LONGEST` tokens, so ordered that each stretch has all lengths.

    Each round takes one example of each range of lengths that still has some; the order of the
    ranges is drawn anew in each round, because with a fixed one, lengths would go with layers.
    """
    kept = np.flatnonzero(lengths <= LONGEST)
    if not len(kept):
        return kept
    logs = np.log(lengths[kept])
    inner = np.linspace(logs.min(), logs.max(), _BINS + 1)[1:-1]
    ranges = np.digitize(logs, inner)
    shuffled = rng.permutation(len(kept))
    rounds = pd.Series(ranges[shuffled]).groupby(ranges[shuffled]).cumcount().to_numpy()
    order = np.lexsort((rng.random(len(kept)), rounds))
    return np.asarray(kept[shuffled][order], dtype=np.int64)


def _describe(
    store: AttentionStore, origin: Origin, example: int, layer: int, head: int
) -> dict[str, Any]:
    task, state, seed = origin
    return {
        "task": task,
        "state": state,
        "seed": seed,
        "idx": int(store.idx[example]),
        "layer": layer + 1,
        "head": head + 1,
        "tokens": store.spaced_tokens(example),
        "segments": "".join(map(str, store.segments(example))),
        "special": "".join("1" if special else "0" for special in store.special(example)),
    }
