"""Split extraction into chunks of examples, and gather chunks into the store of a single job."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.attention.store import AttentionStore, write_store
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic


def batches_of_chunk(
    batches: Sequence[range], lengths: Sequence[int], chunk: int, chunks: int
) -> list[range]:
    """Choose the batches of a chunk; they are consecutive.

    Batches are never split, so examples are padded and computed as without chunks, and the maps
    are the same to the last bit. Chunks have about the same number of tokens, padding included: on
    a CPU, time grew with that number at BERT-base shape (2.4 to 4 ms a token at lengths from 16 to
    128, while the time for a pair of tokens fell to a ninth).

    Args:
        batches: All batches of examples, in order.
        lengths: Tokens of each example, longest first.
        chunk: Number of the chunk, from 1.
        chunks: Number of chunks. If there are few batches, some chunks are empty.
    """
    tokens = np.array([lengths[batch.start] * len(batch) for batch in batches], dtype=np.int64)
    # With all tokens split into equal shares, a batch belongs to the share that its middle is in.
    middles = 2 * np.cumsum(tokens) - tokens
    belongs = middles * chunks // (2 * max(1, tokens.sum()))
    return [batch for batch, of in zip(batches, belongs, strict=True) if of == chunk - 1]


def gather(chunks: Sequence[Path], sample: Sequence[int], output: Path) -> None:
    """Gather chunks into one store; the chunks are kept.

    The maps of only one example at a time are in memory.

    Args:
        chunks: Folders of all chunks, in order.
        sample: The ``idx`` of the examples that the store must have.
        output: Folder of the store; its files are those that a single job would write.

    Raises:
        InputError: The chunks do not make up one store of the sample.
    """
    stores = [AttentionStore.open(folder) for folder in chunks]
    table = _require_one_store(stores, sample)
    first = stores[0]
    with write_store(output, table, first.layers, first.heads, first.windows) as writer:
        for store in stores:
            for example in range(store.examples):
                writer.append(store.maps(example))


def gather_models(
    models: Sequence[str], chunks: Sequence[Path], sample: Sequence[int], output: Path
) -> None:
    """Gather the stores of several models, see `gather`; they appear when all are complete.

    Args:
        models: Names of the stores in the folder of a chunk.
        chunks: Folders of all chunks, in order.
        sample: See `gather`.
        output: Folder of the gathered stores.
    """
    with atomic(output) as whole:
        for model in models:
            gather([chunk / model for chunk in chunks], sample, whole / model)


def _require_one_store(stores: Sequence[AttentionStore], sample: Sequence[int]) -> pd.DataFrame:
    """Check that the chunks make up one store of the sample; return the table of its examples."""
    shapes = {(store.layers, store.heads) for store in stores}
    windows = {store.windows for store in stores}
    table = pd.concat([store.table for store in stores], ignore_index=True)
    lengths = np.concatenate([store.lengths for store in stores])
    places = list(zip(-lengths, table["idx"], strict=True))
    if len(shapes) != 1:
        problem = f"have {_listed(shapes)} layers and heads"
    elif len(windows) != 1:
        problem = f"have local attention of the windows {sorted(map(str, windows))}"
    elif sorted(table["idx"]) != sorted(sample):
        problem = f"have {len(table)} examples that are not the {len(sample)} of the sample"
    elif places != sorted(places):
        problem = "are not in the order of one store, longest examples first, then by idx"
    else:
        return table
    raise InputError(
        f"{stores[0].folder} and the other chunks {problem}. Expected the chunks of one store, all "
        "made with the same model, sample and batch size. Remove them and run again."
    )


def _listed(shapes: set[tuple[int, int]]) -> str:
    return " and ".join(f"{layers} × {heads}" for layers, heads in sorted(shapes))
