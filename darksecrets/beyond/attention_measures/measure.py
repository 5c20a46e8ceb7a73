"""Heads measured by other definitions of attention, in one pass over a model."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from types import MappingProxyType
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.core.arrays import Halves
from darksecrets.core.attention.extraction import Inputs, encode_longest_first, pad
from darksecrets.core.attention.store import DTYPE, Maps
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import observe, require_projections, shape_of
from darksecrets.core.models.reach import windows_of
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.columns import EFFECTIVE, MEASURE, NORMS, WEIGHTS
from darksecrets.core.run.progress import progress
from darksecrets.core.run.tables import identify
from darksecrets.paper.features.measuring import measure_several
from darksecrets.paper.features.profiles import Collector, Profiles
from darksecrets.paper.features.tokens import describe
from darksecrets.paper.framenet.heads import Linked, measure, tables
from darksecrets.paper.framenet.links import Annotation

# Other measures of attention than its weights, as maps: norms and effective attention.
#
# A head adds α f(x) for each token x, where f(x) = (x W_V + b_V) W_O. Norms (Kobayashi et al. 2020)
# are the lengths ‖α f(x)‖. Effective attention (Brunner et al. 2020) is what of the weights A makes
# a difference to A T, where the rows of T are the f(x): A minus the projection of its rows onto the
# left null space of T, the combinations of tokens whose vectors add up to 0. So A_eff T = A T.
#
# T has the bias b_V, because a head adds it, too. Without it, A_eff T would not be what the head
# adds, as rows of A_eff need not add up to 1; A_eff can also be negative. The analyses are about
# shares of a row. So both measures are made shares: magnitudes, divided by their sum over the row.

ROUNDING = torch.finfo(torch.float32).eps
"""Models compute in single precision: singular values of T up to this, times the number of keys or
the size of a head, the larger of the two, and its greatest singular value, count as 0. That is the
larger dimension of T in the coordinates of its head, where it has the same singular values. The
hidden size, 6 to 12 times larger, would take directions that are well above rounding for 0."""

Measure = Callable[[torch.Tensor, torch.Tensor, torch.Tensor | None], torch.Tensor]


def basis(weight: torch.Tensor) -> torch.Tensor:
    """What value vectors are multiplied with instead of W_O to get `coordinates`.

    Args:
        weight: [head, size, hidden] output projection.

    Returns:
        [head, size, size], in double precision: R' of the decomposition W_O = R' Q with orthonormal
        rows of Q.
    """
    _, triangle = torch.linalg.qr(weight.double().mT)
    return triangle.mT


def coordinates(values: torch.Tensor, of_head: torch.Tensor) -> torch.Tensor:
    """f(x) in orthonormal coordinates of the space of each head.

    Lengths, inner products and null space are those of f(x); there are ``size`` numbers instead of
    ``hidden``.

    Args:
        values: [example, head, key, size] value vectors.
        of_head: [head, size, size] from `basis`.

    Returns:
        [example, head, key, size], in double precision.
    """
    return values.double() @ of_head


def weights(maps: torch.Tensor, *_: torch.Tensor | None) -> torch.Tensor:
    """Attention weights as they are; see `effective`."""
    return maps


def norms(maps: torch.Tensor, vectors: torch.Tensor, *_: torch.Tensor | None) -> torch.Tensor:
    """Shares of the lengths ‖α f(x)‖ of what a query gets; see `effective`."""
    return shares(maps * torch.linalg.vector_norm(vectors, dim=-1)[..., None, :])


def effective(
    maps: torch.Tensor, vectors: torch.Tensor, reach: torch.Tensor | None = None
) -> torch.Tensor:
    """Shares of the magnitudes of effective attention.

    Args:
        maps: [example, head, query, key] attention weights, without padding.
        vectors: [example, head, key, size] from `coordinates`.
        reach: [query, key] which keys a query may attend to; None for all.

    Returns:
        [example, head, query, key], rows add up to 1; 0 in rows of heads that add nothing.
    """
    return shares(effective_attention(maps, vectors, reach))


def effective_attention(
    maps: torch.Tensor, vectors: torch.Tensor, reach: torch.Tensor | None = None
) -> torch.Tensor:
    """Effective attention itself, signed; see `effective`.

    A query with local attention has a null space of its own, that of the keys in its reach.
    """
    if reach is None:
        return _projected(maps.double(), vectors)
    result = torch.zeros_like(maps, dtype=torch.float64)
    for query, keys in enumerate(reach):
        row = maps[..., query : query + 1, keys].double()
        result[..., query : query + 1, keys] = _projected(row, vectors[..., keys, :])
    return result


def shares(maps: torch.Tensor) -> torch.Tensor:
    """Magnitudes divided by their sum over a row; rows of zeros stay as they are."""
    sizes = maps.abs()
    total = sizes.sum(dim=-1, keepdim=True)
    return sizes / torch.where(total > 0, total, 1)


OF: Mapping[str, Measure] = MappingProxyType({WEIGHTS: weights, NORMS: norms, EFFECTIVE: effective})
"""The function of every measure."""


def _projected(rows: torch.Tensor, vectors: torch.Tensor) -> torch.Tensor:
    """Rows without their part in the left null space of the vectors, [..., row, key].

    Where a QR decomposition shows that the vectors have full rank, it gives the projection;
    elsewhere, singular values decide the rank.
    """
    keys, size = vectors.shape[-2:]
    tolerance = max(keys, size) * ROUNDING
    orthonormal, triangle = torch.linalg.qr(vectors if keys > size else vectors.mT)
    result = rows.clone() if keys <= size else (rows @ orthonormal) @ orthonormal.mT
    unsure = ~_surely_of_full_rank(triangle, tolerance)
    if unsure.any():
        left, values, _ = torch.linalg.svd(vectors[unsure], full_matrices=False)
        left = left * (values > tolerance * values[..., :1])[..., None, :]
        result[unsure] = (rows[unsure] @ left) @ left.mT
    return result


def _surely_of_full_rank(triangle: torch.Tensor, tolerance: float) -> torch.Tensor:
    """[...] whether all singular values are above `tolerance` times the greatest.

    The least one is at least 1 / ‖R⁻¹‖ and the greatest at most ‖R‖ (Frobenius norms), so this may
    be false where it is true, but not the reverse.
    """
    ones = torch.eye(triangle.shape[-1], dtype=triangle.dtype, device=triangle.device)
    inverse = torch.linalg.solve_triangular(triangle, ones, upper=True)
    size = torch.linalg.matrix_norm(triangle) * torch.linalg.matrix_norm(inverse)
    return size * tolerance < 1


# Maps of several measures of several models, computed batch by batch and never stored.

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


# What heads attend to, by several measures of attention (sections 4.4, 4.5 and 5).


def attended(
    maps: Running, annotation: Path, task: str, seed: int
) -> tuple[dict[str, pd.DataFrame], dict[tuple[str, str], Profiles]]:
    """Measure all heads of a task's models.

    Args:
        maps: Maps of all measures and models on the sampled examples.
        annotation: Annotation of the examples.
        task: Name of the task.
        seed: Seed of the controls.

    Returns:
        The `paper.features.measures.TABLES`, with the column ``measure``; and, by
        measure and model, what comparisons of models need of every example.
    """
    collectors = [Collector() for _ in maps.variants]
    found = measure_several(maps, describe(maps, annotation), seed, collectors)
    tables = {
        name: pd.concat(
            [
                variant.named(variant_maps[name], task)
                for variant, variant_maps in zip(maps.variants, found, strict=True)
            ],
            ignore_index=True,
        )
        for name in found[0]
    }
    kept = {
        (variant.measure, variant.model): collector.profiles()
        for variant, collector in zip(maps.variants, collectors, strict=True)
    }
    return tables, kept


# Attention along frame-semantic links, by several measures of attention (section 4.2).


def linked(
    maps: Running, annotations: Sequence[Annotation], draws: int, seed: int
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Measure all heads of some models, each model and measure tested by itself.

    Args:
        maps: Maps of all measures and models on the sentences.
        annotations: Their links.
        draws: See `paper.framenet.heads.tables`.
        seed: See `paper.framenet.heads.tables`.

    Returns:
        `paper.framenet.tables.HEADS` and `CONTROLS_OF_HEADS`, with the column ``measure``.
    """
    weights = measure(Linked(maps, annotations))
    heads, controls = [], []
    for variant in maps.variants:
        head_rows, control_rows = tables(weights.of(variant.heads), draws, seed)
        heads.append(variant.named(head_rows, None))
        controls.append(variant.named(control_rows, None))
    return pd.concat(heads, ignore_index=True), pd.concat(controls, ignore_index=True)
