"""Split extraction into chunks of examples, and gather chunks into the store of a single job."""

from __future__ import annotations

import logging
import os
import shutil
from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from darksecrets.attention.store import EXAMPLES, MAPS, METADATA, AttentionStore, write_store
from darksecrets.data.tables import SAMPLE
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic

_log = logging.getLogger(__name__)


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


def gather(chunks: Sequence[Path], sample: Path, output: Path) -> None:
    """Gather chunks into one store; the chunks are kept.

    A single chunk is already the store: its files are linked, not copied. With several chunks, the
    maps of only one example at a time are in memory.

    Args:
        chunks: Folders of all chunks, in order.
        sample: CSV with the column ``idx``: the examples that the store must have.
        output: Folder of the store; its files are those that a single job would write.

    Raises:
        InputError: The chunks do not make up one store of the sample.
    """
    stores = [AttentionStore.open(folder) for folder in chunks]
    table = _require_one_store(stores, sample)
    if len(stores) == 1:
        stores[0].chunks.check()
        _link(chunks[0], output)
        return
    first = stores[0]
    with write_store(output, table, first.layers, first.heads, first.windows) as writer:
        for store in stores:
            for example in range(store.examples):
                writer.append(store.maps(example))


def _require_one_store(stores: Sequence[AttentionStore], sample: Path) -> pd.DataFrame:
    """Check that the chunks make up one store of the sample; return the table of its examples."""
    shapes = {(store.layers, store.heads) for store in stores}
    windows = {store.windows for store in stores}
    table = pd.concat([store.table for store in stores], ignore_index=True)
    lengths = np.concatenate([store.lengths for store in stores])
    wanted = SAMPLE.read(sample)["idx"].tolist()
    places = list(zip(-lengths, table["idx"], strict=True))
    if len(shapes) != 1:
        problem = f"have {_listed(shapes)} layers and heads"
    elif len(windows) != 1:
        problem = f"have local attention of the windows {sorted(map(str, windows))}"
    elif sorted(table["idx"]) != sorted(wanted):
        problem = f"have {len(table)} examples that are not the {len(wanted)} of {sample}"
    elif places != sorted(places):
        problem = "are not in the order of one store, longest examples first, then by idx"
    else:
        return table
    raise InputError(
        f"{stores[0].folder.parent}: the chunks {problem}. Expected the chunks of one store, all "
        "made with the same model, sample and batch size. Remove the folder and run again."
    )


def _link(chunk: Path, output: Path) -> None:
    """Hard-link the files of a store; copy them where the file system does not support links.

    If the job is killed half-way, the chunk stays complete and need not be computed again.
    """
    with atomic(output) as temporary:
        temporary.mkdir()
        for name in (MAPS, EXAMPLES, METADATA):
            try:
                os.link(chunk / name, temporary / name)
            except OSError as error:
                _log.info("Copying %s, which cannot be linked (%s)", chunk / name, error)
                shutil.copyfile(chunk / name, temporary / name)


def _listed(shapes: set[tuple[int, int]]) -> str:
    return " and ".join(f"{layers} × {heads}" for layers, heads in sorted(shapes))
