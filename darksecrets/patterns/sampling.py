"""A stratified, seeded sample of single maps from the attention stores of a run (section 4.1)."""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.patterns.mapset import COLUMNS, LABEL_COLUMNS, MapSet
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from darksecrets.attention.store import AttentionStore

Origin = tuple[str, str, int | None]
"""Task, state of the model, fine-tuning seed."""


def sample_maps(
    stores: Mapping[Origin, AttentionStore], size: int, seed: int, model: str, prefix: str
) -> MapSet:
    """Draw maps such that every store, layer and head is drawn equally often, to within one.

    No example is drawn twice before all examples of its store were drawn, so that most maps are of
    different sentences. The maps are in random order.

    Args:
        stores: The attention stores to draw from.
        size: Number of maps.
        seed: Seed of the sample.
        model: The pre-trained model, in words, for the table.
        prefix: Prefix of the maps' identities: ``prefix-0001`` and so on.

    Raises:
        InputError: The stores hold fewer maps than ``size``.
    """
    available = sum(store.examples * store.layers * store.heads for store in stores.values())
    if size > available:
        raise InputError(f"Found only {available} maps in the stores, expected at least {size}.")
    rng = np.random.default_rng(seed)
    chosen = _choose(stores, size, rng)
    rng.shuffle(chosen)
    names = [f"{prefix}-{number:04d}" for number in range(1, size + 1)]
    rows = [
        {"map": name, "model": model} | _describe(stores[origin], origin, *place)
        for name, (origin, place) in zip(names, chosen, strict=True)
    ]
    maps = [
        np.array(stores[origin].maps(example)[layer, head])
        for origin, (example, layer, head) in chosen
    ]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"seed": "Int64"})
    return MapSet(table, maps, pd.DataFrame(columns=list(LABEL_COLUMNS)))


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
    """Every (example, layer, head) of a store once: layers in turn, heads and examples at random.

    No head repeats before all heads were drawn, nor does an example. If the two cycles just ran in
    parallel, pairs would repeat early when their lengths share a factor; shifting one cycle by one
    after each common period lets every head meet every example.
    """
    examples = rng.permutation(store.examples)
    heads = np.stack([rng.permutation(store.heads) for _ in range(store.layers)])
    common = math.lcm(len(examples), heads.size)
    for number in range(len(examples) * heads.size):
        head, layer = divmod(number % heads.size, store.layers)
        example = examples[(number + number // common) % len(examples)]
        yield int(example), layer, int(heads[layer, head])


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
        "tokens": " ".join(store.tokens(example)),
        "segments": "".join(map(str, store.segments(example))),
        "special": "".join("1" if special else "0" for special in store.special(example)),
    }
