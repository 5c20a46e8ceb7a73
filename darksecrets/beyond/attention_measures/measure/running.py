"""Maps of several measures of several models, computed batch by batch and never stored."""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.attention_measures.measure.definitions import OF, basis, coordinates
from darksecrets.core.arrays import Halves
from darksecrets.core.attention.extraction import Inputs, encode_longest_first, pad
from darksecrets.core.attention.store import DTYPE, Maps
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import observe, require_projections, shape_of
from darksecrets.core.models.reach import windows_of
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.columns import MEASURE
from darksecrets.core.run.progress import progress
from darksecrets.core.run.tables import identify

_PASS_BYTES = 2**28
"""Most memory for the maps of a pass, of all variants."""


@dataclass(frozen=True)
class Variant:
    """What one group of heads is.

    Attributes:
        measure: The measure of attention.
        model: Name of the model, such as ``finetuned/seed-1``.
        heads: Its heads among all heads of a layer.
    """

    measure: str
    model: str
    heads: slice

    def named(self, table: pd.DataFrame, task: str | None) -> pd.DataFrame:
        """A table of the model on a task, or on none, with the columns that say what it is of."""
        rows = identify(table, task, self.model)
        rows.insert(0, MEASURE.name, self.measure)
        return rows


@dataclass(frozen=True)
class Layer:
    """What a layer does with a padded batch.

    Attributes:
        maps: [example, head, query, key] weights.
        vectors: [example, head, key, size] f(x), see `coordinates`.
        reach: [query, key] which keys a query of the longest example may attend to.
    """

    maps: torch.Tensor
    vectors: torch.Tensor
    reach: torch.Tensor

    def measured(self, measure: str, examples: slice, length: int) -> torch.Tensor:
        """A measure of examples of equal length, without padding: [example, head, query, key]."""
        reach = self.reach[:length, :length]
        return OF[measure](
            self.maps[examples, :, :length, :length],
            self.vectors[examples, :, :length],
            None if bool(reach.all()) else reach,
        )


@dataclass(frozen=True)
class Encoder:
    """A model, and what the values of its layers are multiplied with, see `basis`."""

    model: PreTrainedModel
    bases: dict[int, torch.Tensor] = field(default_factory=dict)

    def layers(self, batch: Mapping[str, torch.Tensor]) -> Iterator[Layer]:
        """Run a padded batch, the longest example first, and yield what every layer does."""
        wanted = {"maps": True, "reach": True, "values": True, "projections": True}
        with torch.inference_mode(), observe(self.model, **wanted) as seen:
            self.model(**devices.move(batch, self.model.device))
            for layer, maps in seen.maps.items():
                if layer not in self.bases:
                    self.bases[layer] = basis(seen.projections[layer].weight)
                vectors = coordinates(seen.values[layer], self.bases[layer])
                yield Layer(maps, vectors, seen.reach[layer][0, 0])


@dataclass(frozen=True)
class Running(Maps):
    """Maps that are computed when they are read, in half precision as those of a store.

    The heads of a layer are those of the first variant, then those of the second, and so on.
    Examples are run in padded batches, those of extraction on a CPU, and maps are cropped to the
    tokens of each example before anything is measured.

    Attributes:
        encoders: The models.
        variants: What the heads are: every measure of the first model, then of the second.
        inputs: What the models are given.
        pad_token_id: The tokenizer's.
        batch_size: Most examples in a pass of a model.
    """

    encoders: Sequence[Encoder]
    variants: Sequence[Variant]
    inputs: Inputs
    pad_token_id: int
    batch_size: int

    @property
    def origin(self) -> str:
        """Where the maps are from, for messages."""
        return " and ".join(str(encoder.model.name_or_path) for encoder in self.encoders)

    def batches(self, max_bytes: int = 2**26) -> Iterator[tuple[range, Halves]]:
        """As `core.attention.store.Maps`; several batches are from one pass of the models."""
        with progress("Alternative attention measures", self.examples, "examples") as advance:
            first = 0
            while first < self.examples:
                most = max(1, _PASS_BYTES // self._bytes(first))
                examples = range(first, min(self.examples, first + min(self.batch_size, most)))
                for alike, maps in self._run(examples):
                    size = max(1, max_bytes // self._bytes(alike.start))
                    for start in range(0, len(alike), size):
                        yield alike[start : start + size], maps[start : start + size]
                first = examples.stop
                advance(len(examples))

    def batch(self, examples: range) -> Halves:
        """Run all models, and measure; see `core.attention.store.Maps`."""
        ((_, maps),) = self._run(examples)
        return maps

    def _bytes(self, example: int) -> int:
        """Size of the maps of an example."""
        return self.layers * self.heads * int(self.lengths[example]) ** 2 * DTYPE.itemsize

    def _run(self, examples: range) -> list[tuple[range, Halves]]:
        """Run all models on consecutive examples: maps of all that are equally long together."""
        found = []
        for length in np.unique(self.lengths[examples.start : examples.stop])[::-1].tolist():
            first, end = (
                int(np.searchsorted(-self.lengths, -length, side)) for side in ("left", "right")
            )
            alike = range(max(first, examples.start), min(end, examples.stop))
            shape = (len(alike), self.layers, self.heads, length, length)
            found.append((alike, np.empty(shape, DTYPE)))
        batch = pad(self.inputs, examples, self.pad_token_id)
        for encoder, model_variants in zip(self.encoders, self._group_variants(), strict=True):
            for number, layer in enumerate(encoder.layers(batch)):
                for (alike, maps), variant in itertools.product(found, model_variants):
                    rows = slice(alike.start - examples.start, alike.stop - examples.start)
                    own = layer.measured(variant.measure, rows, maps.shape[-1])
                    maps[:, number, variant.heads] = own.half().cpu().numpy()
        return found

    def _group_variants(self) -> list[Sequence[Variant]]:
        """The variants of each model."""
        count = len(self.variants) // len(self.encoders)
        return [
            self.variants[first : first + count] for first in range(0, len(self.variants), count)
        ]


def run(
    models: Mapping[str, Reading], examples: Mapping[str, Sequence[Any]], measures: Sequence[str]
) -> Running:
    """Load models whose maps are measured in several ways.

    All models are in memory at the same time.

    Args:
        models: The models by name: with the same architecture, tokenizer and sizes.
        examples: See `core.attention.extraction.extract`.
        measures: Measures of attention.

    Raises:
        InputError: The values of a model cannot be observed.
    """
    encoders = [Encoder(reading.load()) for reading in models.values()]
    for encoder in encoders:
        require_projections(encoder.model)
    first = next(iter(models.values()))
    tokenizer = first.tokenizer()
    table, inputs = encode_longest_first(examples, tokenizer, first.max_length)
    shape = shape_of(encoders[0].model)
    names = [(measure, model) for model in models for measure in measures]
    variants = [
        Variant(measure, model, slice(number * shape.heads, (number + 1) * shape.heads))
        for number, (measure, model) in enumerate(names)
    ]
    return Running(
        layers=shape.layers,
        heads=len(variants) * shape.heads,
        table=table,
        windows=windows_of(encoders[0].model, len(inputs["input_ids"][0])),
        encoders=encoders,
        variants=variants,
        inputs=inputs,
        pad_token_id=tokenizer.pad_token_id,
        batch_size=first.batch_size,
    )
