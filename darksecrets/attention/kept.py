"""Maps of a few examples in memory, exactly as the store would have them, for models on the way."""

from __future__ import annotations

import io
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from darksecrets.arrays import Halves
from darksecrets.attention.extraction import Inputs, maps_of, write_maps
from darksecrets.attention.store import DTYPE, AttentionWriter, Maps
from darksecrets.models.hooks import shape_of
from darksecrets.models.reach import windows_of

if TYPE_CHECKING:
    import pandas as pd
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class KeptMaps(Maps):
    """Maps of many examples in memory, see `darksecrets.attention.store.Maps`.

    Attributes:
        numbers: All maps one after the other, half precision.
    """

    numbers: Halves

    @property
    def origin(self) -> str:
        """Where the maps are from, for messages."""
        return "maps in memory"

    def batch(self, examples: range) -> Halves:
        """Maps of consecutive examples of equal length, [example, layer, head, query, key]."""
        length = int(self.lengths[examples.start])
        part = self.numbers[self.starts[examples.start] : self.starts[examples.stop]]
        return part.reshape(len(examples), self.layers, self.heads, length, length)


def keep(
    model: PreTrainedModel,
    table: pd.DataFrame,
    inputs: Inputs,
    batches: Sequence[range],
    pad_token_id: int,
) -> KeptMaps:
    """Run a model on examples and keep its maps, with the checks of the store.

    Args:
        model: An encoder, with or without a classifier, on the device to use.
        table: The rows of the examples, see `extraction.encode_longest_first`.
        inputs: The model's inputs, in the same order.
        batches: All examples in batches, see `extraction.batches_for`.
        pad_token_id: The tokenizer's.

    Raises:
        InputError: The maps are not softmaxed attention over the real tokens.
    """
    shape, lengths = shape_of(model), table["tokens"].map(len).to_numpy(np.int64)
    count = shape.layers * shape.heads * int((lengths**2).sum())
    windows = windows_of(model, int(lengths[0]))
    stream = io.BytesIO(bytes(count * DTYPE.itemsize))  # does not grow by copying
    writer = AttentionWriter(stream, table, shape.layers, shape.heads, windows)
    arrays = maps_of(model, inputs, batches, pad_token_id)
    for batch in batches:
        rows = slice(batch.start, batch.stop)
        write_maps(next(arrays), lengths[rows], table["idx"].iloc[rows], writer)
    numbers = np.frombuffer(stream.getbuffer(), dtype=DTYPE)
    return KeptMaps(shape.layers, shape.heads, table, windows, numbers)
