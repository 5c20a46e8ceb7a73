"""Extraction split into shards, and shards put together to the store that one job would write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.errors import InputError
from darksecrets.store import AttentionStore, write_store


def rows_of_shard(
    lengths: npt.NDArray[np.int64], batch_size: int, shard: int, shards: int
) -> slice:
    """Choose the examples of a shard: a run of whole batches.

    A batch never is in two shards, so that its examples are padded and computed as without shards,
    and the maps are the same to the last bit. Shards have about equally many tokens, padding
    included: on a processor, time grew with these at BERT-base shape (2.4 to 4 ms a token at
    lengths from 16 to 128, while the time for a pair of tokens fell to a ninth).

    Args:
        lengths: [examples] tokens of each example, longest first.
        batch_size: Examples that the model sees at once.
        shard: Which one, from 1.
        shards: How many there are. Where batches are few, some shards are empty.

    Returns:
        The examples; it begins where a batch does.
    """
    starts = np.arange(0, len(lengths), batch_size)
    tokens = lengths[starts] * np.minimum(batch_size, len(lengths) - starts)
    # A batch belongs to the shard in whose equal share of all tokens its middle lies.
    middles = 2 * np.cumsum(tokens) - tokens
    belongs = middles * shards // (2 * max(1, tokens.sum()))
    first, end = np.searchsorted(belongs, [shard - 1, shard])
    return slice(int(first) * batch_size, int(end) * batch_size)


def merge(shards: Sequence[Path], sample: Path, output: Path) -> None:
    """Put the shards of a store together; one example's maps at a time are in memory.

    Args:
        shards: Folders of all shards, in their order.
        sample: CSV with the column ``idx``: the examples that the store must have.
        output: Folder of the store, the same files as one job would write.

    Raises:
        InputError: The shards do not make up one store of the sample.
    """
    stores = [AttentionStore.open(folder) for folder in shards]
    shapes = {(store.layers, store.heads) for store in stores}
    table = pd.concat([store.table for store in stores], ignore_index=True)
    lengths = np.concatenate([store.lengths for store in stores])
    wanted = pd.read_csv(sample)["idx"].tolist()
    places = list(zip(-lengths, table["idx"], strict=True))
    if len(shapes) != 1:
        problem = f"have {_listed(shapes)} layers and heads"
    elif sorted(table["idx"]) != sorted(wanted):
        problem = f"have {len(table)} examples that are not the {len(wanted)} of {sample}"
    elif places != sorted(places):
        problem = "are not in the order of one store, longest examples first, then by idx"
    else:
        problem = ""
    if problem:
        raise InputError(
            f"{shards[0].parent}: the shards {problem}. Expected the shards of one store, all made "
            "with the same model, sample and batch size. Remove the folder and run again."
        )
    layers, heads = shapes.pop()
    with write_store(output, table, layers, heads) as writer:
        for store in stores:
            for example in range(store.examples):
                writer.append(store.maps(example))


def _listed(shapes: set[tuple[int, int]]) -> str:
    return " and ".join(f"{layers} × {heads}" for layers, heads in sorted(shapes))
