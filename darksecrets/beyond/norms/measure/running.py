"""Weights and norms of all heads of a model on the sampled examples, in one pass (section 4.4).

Maps and vectors are reduced layer by layer and batch by batch; what is kept does not depend on
their sizes: for each example, sums over the tokens of each kind.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.norms.measure.kinds import kinds_of
from darksecrets.core.arrays import Flags, Floats, Integers
from darksecrets.core.attention.contributions import lengths, lengths_of_sums, products, transformed
from darksecrets.core.attention.extraction import batches_for, batches_of, encode_longest_first, pad
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import observe, require_projections
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.progress import progress

DRAWS = 10
"""Random assignments of the lengths to the tokens of an example."""
_LEAST = 1e-7
"""Smaller weights, relative to uniform attention, are rounding; so are smaller lengths."""


@dataclass(frozen=True)
class Measured:
    """What one model does with each example; all shares are of the whole example.

    Attributes:
        idx: [examples] the data set's number of each.
        tokens: [examples, kinds] tokens of each of `KINDS`.
        uniform: [examples, kinds, layers, 1] share of weight under uniform attention.
        weight: [examples, kinds, layers, heads] share of weight; like all others but ``moments``,
            NaN for a kind that the example lacks.
        norm: The same of ‖α f(x)‖.
        shuffled: The same if the lengths ‖f(x)‖ are assigned to the tokens at random.
        length: The same shape: mean ‖f(x)‖, divided by that of all tokens.
        summed: [examples, kinds, layers, 1] share of ‖Σ α f(x)‖, summed over the heads.
        moments: [examples, kinds, layers, heads, 6] see
            `core.stats.correlation.correlate_moments`: of the logarithms of weight, relative to
            uniform attention, and of length.
    """

    idx: Integers
    tokens: Integers
    uniform: Floats
    weight: Floats
    norm: Floats
    shuffled: Floats
    length: Floats
    summed: Floats
    moments: Floats


@dataclass(frozen=True)
class Tokens:
    """The tokens of a batch, padded.

    Attributes:
        real: [example, token] which are no padding.
        kinds: [example, token, kind] 1 for tokens of a kind.
        orders: [draws, example, token] random orders of the real tokens.
    """

    real: torch.Tensor
    kinds: torch.Tensor
    orders: torch.Tensor


def measure(reading: Reading, examples: Mapping[str, Sequence[Any]], seed: int) -> Measured:
    """Measure a model on some examples.

    Args:
        reading: The model.
        examples: Columns ``idx``, ``sentence1`` and, for pairs, ``sentence2``.
        seed: Seed of the random assignments of lengths.

    Raises:
        InputError: The model's values cannot be observed.
    """
    tokenizer = reading.tokenizer()
    table, inputs = encode_longest_first(examples, tokenizer, reading.max_length)
    kinds, numbers = kinds_of(table, examples), table["idx"].tolist()
    model = reading.load()
    require_projections(model)
    sizes = [len(flags) for flags in kinds]
    parts: list[dict[str, Floats]] = []
    with progress("Norms", len(numbers), "examples") as advance:
        for batch in batches_for(model, batches_of(len(numbers), reading.batch_size), sizes):
            batch_rows = slice(batch.start, batch.stop)
            tokens = _tokens(kinds[batch_rows], numbers[batch_rows], seed)
            parts.append(_measure_batch(model, pad(inputs, batch, tokenizer.pad_token_id), tokens))
            advance(len(batch))
    every = {name: np.concatenate([part[name] for part in parts]) for name in parts[0]}
    counts = np.stack([flags.sum(axis=0) for flags in kinds])
    absent = counts == 0
    for name, values in every.items():
        if name != "moments":
            values[absent] = np.nan
    assert {"idx", "tokens", *every} == {field.name for field in fields(Measured)}
    return Measured(np.array(numbers), counts, **every)


def _tokens(kinds: Sequence[Flags], numbers: Sequence[int], seed: int) -> Tokens:
    """The tokens of a batch; the orders depend on the example and the seed only."""
    longest = max(map(len, kinds))
    flags = np.zeros((len(kinds), longest, kinds[0].shape[1]), dtype=np.float32)
    real = np.zeros((len(kinds), longest), dtype=np.float32)
    orders = np.tile(np.arange(longest), (DRAWS, len(kinds), 1))
    for example, (own, number) in enumerate(zip(kinds, numbers, strict=True)):
        count = len(own)
        flags[example, :count], real[example, :count] = own, 1
        rng = np.random.default_rng([seed, number])
        for order in orders[:, example]:
            order[:count] = rng.permutation(count)
    return Tokens(*map(torch.from_numpy, (real, flags, orders)))


def _measure_batch(
    model: PreTrainedModel, inputs: dict[str, torch.Tensor], tokens: Tokens
) -> dict[str, Floats]:
    """Fields of `Measured` for a batch of examples."""
    device = model.device
    tokens = Tokens(*(getattr(tokens, field.name).to(device) for field in fields(Tokens)))
    with (
        torch.inference_mode(),
        observe(model, maps=True, reach=True, values=True, projections=True) as seen,
    ):
        model(**devices.move(inputs, device))
        layers = []
        for number, maps in seen.maps.items():
            vectors = transformed(seen.values[number], seen.projections[number].weight)
            layers.append(_measure_layer(maps, seen.reach[number], vectors, tokens))
    return {
        name: torch.stack([layer[name] for layer in layers], dim=2).double().cpu().numpy()
        for name in layers[0]
    }


def _measure_layer(
    maps: torch.Tensor, reach: torch.Tensor, vectors: torch.Tensor, tokens: Tokens
) -> dict[str, torch.Tensor]:
    """Fields of `Measured` for one layer: [example, kind, head or 1], of ``moments`` [..., 6].

    Args:
        maps: [example, head, query, key] weights; 0 for keys at padding.
        reach: [example or 1, 1, query, key] whether a query may attend to a key.
        vectors: [example, token, head, hidden] f(x).
        tokens: The tokens of the batch, padded.
    """
    real, kinds = tokens.real, tokens.kinds
    queries = real[:, None, :, None]
    received = (maps * queries).sum(dim=2)  # [example, head, key]
    size = lengths(vectors)
    reached = reach * queries * real[:, None, None]
    chance = (reached / reached.sum(dim=-1, keepdim=True).clamp(min=1)).sum(dim=2)
    together = (lengths_of_sums(maps, products(vectors)) * real[:, :, None]).sum(dim=1)
    shuffled = torch.stack(
        [_shares(received * _reordered(size, order), kinds) for order in tokens.orders]
    )
    counts = kinds.sum(dim=1)[:, :, None]
    everywhere = (size * real[:, None]).sum(dim=-1) / real.sum(dim=1)[:, None]
    return {
        "uniform": _shares(chance, kinds),
        "weight": _shares(received, kinds),
        "norm": _shares(received * size, kinds),
        "shuffled": shuffled.mean(dim=0),
        "length": _sums(size, kinds) / counts.clamp(min=1) / everywhere[:, None].clamp(min=_LEAST),
        "summed": _shares(together[:, None], kinds),
        "moments": _moments(received / chance.clamp(min=_LEAST), size, kinds),
    }


def _sums(values: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    """[example, kind, head] sums over the tokens of a kind, of [example, head, token]."""
    return torch.einsum("bhk,bkc->bch", values, kinds)


def _shares(values: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    """The same, divided by the sum over all tokens; 0 if that is 0. Values at padding are 0."""
    total = values.sum(dim=-1)[:, None]
    return _sums(values, kinds) / torch.where(total > 0, total, 1)


def _reordered(size: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """[example, head, token] lengths in another order of the tokens, [example, token]."""
    return size.gather(-1, order[:, None].expand_as(size))


def _moments(weight: torch.Tensor, size: torch.Tensor, kinds: torch.Tensor) -> torch.Tensor:
    """[example, kind, head, 6] see `core.stats.correlation.correlate_moments`."""
    kinds = kinds.double()
    x, y = (values.double().clamp(min=_LEAST).log() for values in (weight, size))
    terms = (torch.ones_like(x), x, y, x * x, y * y, x * y)
    return torch.stack([_sums(term, kinds) for term in terms], dim=-1)
