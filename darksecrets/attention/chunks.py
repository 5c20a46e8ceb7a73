"""Extraction split into shards, and shards put together to the store that one job would write."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.attention.store import AttentionStore, write_store
from darksecrets.data.tables import SAMPLE
from darksecrets.run.errors import InputError


def batches_of_shard(
    batches: Sequence[range], lengths: Sequence[int], shard: int, shards: int
) -> list[range]:
    """Choose the batches of a shard: a run of them.

    No batch is cut, so that its examples are padded and computed as without shards, and the maps
    are the same to the last bit. Shards have about equally many tokens, padding included: on a
    processor, time grew with these at BERT-base shape (2.4 to 4 ms a token at lengths from 16 to
    128, while the time for a pair of tokens fell to a ninth).

    Args:
        batches: All batches of examples, in their order.
        lengths: Tokens of each example, longest first.
        shard: Which one, from 1.
        shards: How many there are. Where batches are few, some shards are empty.
    """
    tokens = np.array([lengths[batch.start] * len(batch) for batch in batches], dtype=np.int64)
    # A batch belongs to the shard in whose equal share of all tokens its middle lies.
    middles = 2 * np.cumsum(tokens) - tokens
    belongs = middles * shards // (2 * max(1, tokens.sum()))
    return [batch for batch, of in zip(batches, belongs, strict=True) if of == shard - 1]


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
    wanted = SAMPLE.read(sample)["idx"].tolist()
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
