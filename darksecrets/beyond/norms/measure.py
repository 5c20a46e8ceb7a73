"""Weights and norms of all heads of a model on the sampled examples (section 4.4)."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.norms.declared import KINDS, NORM_LEVELS, NORM_STATISTICS
from darksecrets.core.arrays import Flags, Floats, Integers
from darksecrets.core.attention.contributions import lengths, lengths_of_sums, products, transformed
from darksecrets.core.attention.extraction import batches_for, batches_of, encode_longest_first, pad
from darksecrets.core.attention.punctuation import punctuation
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import observe, require_projections
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.progress import progress
from darksecrets.core.run.tables import Table
from darksecrets.core.stats.correlation import correlate_moments
from darksecrets.core.stats.crossed import distance_to_new_models
from darksecrets.core.stats.paired import ends_of_means, mean_over_heads, nanmean
from darksecrets.core.stats.resampling import resampled_means

# Weights and norms of all heads of a model on the sampled examples, in one pass (section 4.4).
#
# Maps and vectors are reduced layer by layer and batch by batch; what is kept does not depend on
# their sizes: for each example, sums over the tokens of each kind.


def kinds_of(table: pd.DataFrame, examples: Mapping[str, Sequence[Any]]) -> list[Flags]:
    """Which kinds every token is of.

    Punctuation is a token of punctuation characters (Unicode's category P). A word piece is
    frequent if it occurs more often in all examples than the piece of the median word token does,
    so frequent tokens are at most half of the word tokens.

    Args:
        table: A row per example, see `core.attention.extraction.encode_longest_first`.
        examples: The same examples: ``idx`` and their sentences.

    Returns:
        For every row, [L, kinds] in the order of `KINDS`.
    """
    rows = table.to_dict("records")
    plain = [
        ~(np.asarray(row["special"], dtype=bool) | flags)
        for row, flags in zip(rows, punctuation(table, examples), strict=True)
    ]
    frequent = _frequent(rows, plain)
    return [_flags(row, words, frequent) for row, words in zip(rows, plain, strict=True)]


def _pieces(row: Mapping[Any, Any]) -> list[str]:
    return [piece.lower() for piece in row["tokens"]]


def _frequent(rows: Sequence[Mapping[Any, Any]], plain: Sequence[Flags]) -> set[str]:
    """Word pieces that occur more often than that of the median word token."""

    def words() -> Iterator[str]:
        for row, flags in zip(rows, plain, strict=True):
            yield from (
                piece for piece, is_word in zip(_pieces(row), flags, strict=True) if is_word
            )

    counts = Counter(words())
    middle = np.median([counts[piece] for piece in words()]) if counts else 0
    return {piece for piece, count in counts.items() if count > middle}


def _flags(row: Mapping[Any, Any], words: Flags, frequent: set[str]) -> Flags:
    special = np.asarray(row["special"], dtype=bool)
    first = special & (np.arange(len(special)) == 0)
    often = words & np.array([piece in frequent for piece in _pieces(row)])
    separator, marks = special & ~first, ~special & ~words
    kinds = (first, separator, special, marks, often, words & ~often)
    assert len(kinds) == len(KINDS)
    return np.stack(kinds, axis=-1)


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


# The tables of weights beside norms, from what is measured of every example.

RESAMPLES = 1000
"""Bootstrap samples of the examples."""
LEAST_SPREAD = 1e-4
"""Logarithms of weights or lengths that vary less are equal up to rounding."""


@dataclass(frozen=True)
class Means:
    """Estimates of one model; arrays are [..., kinds, layers, heads], with resamples first, if any.

    Attributes:
        uniform: Share under uniform attention; like ``summed``, of one head.
        weight: Share of weight.
        norm: Share of norm.
        shuffled: The same with random lengths.
        length: Relative length.
        summed: Share of the norm of all heads' sum.
        correlation: Of weight and length; NaN where either does not vary.
    """

    uniform: Floats
    weight: Floats
    norm: Floats
    shuffled: Floats
    length: Floats
    summed: Floats
    correlation: Floats

    @property
    def over_control(self) -> Floats:
        """How much more of the norm a kind has than with random lengths."""
        return self.norm - self.shuffled

    @property
    def norm_weight_ratio(self) -> Floats:
        """What norms leave of the share of weight; NaN without weight."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.where(self.weight > 0, self.norm / self.weight, np.nan)

    def mean_over_heads(self) -> Means:
        """The same, [..., kinds, layers + 1]: means over the heads of a layer, and of all."""
        return Means(**{name: mean_over_heads(values) for name, values in vars(self).items()})


_SHARES = ("uniform", "weight", "norm", "shuffled", "length", "summed")
_WITH_ENDS = {
    "weight": (0, 1),
    "norm": (0, 1),
    "over_control": (-1, 1),
    "norm_weight_ratio": (0, np.inf),
    "length": (0, np.inf),
    "correlation": (-1, 1),
    "summed": (0, 1),
}
"""Estimates with intervals, and their bounds; heads have no sums."""


def tables(
    models: Mapping[str, Measured], random: str, seed: int
) -> dict[str, tuple[pd.DataFrame, pd.DataFrame]]:
    """The tables `norm_statistics` and `norm_levels` of a task, without the columns of the model.

    Args:
        models: Every model's measurements, on the same examples.
        random: Name of the encoder with random weights.
        seed: Seed of the bootstrap samples, the same for all models.

    Returns:
        Both tables of every model.
    """
    control = means(models[random]).mean_over_heads()
    layer_values = {"random": control.over_control, "random_correlation": control.correlation}
    found = {}
    for name, measured in models.items():
        mean, drawn = means(measured), drawn_means(measured, seed)
        shape = mean.weight.shape  # every head has the value of its layer
        head_values = {
            key: np.broadcast_to(of[:, :-1, None], shape) for key, of in layer_values.items()
        }
        heads = _table(mean, drawn, head_values, measured, NORM_STATISTICS)
        moved = distances_to_other_heads(mean, seed)
        mean, drawn = mean.mean_over_heads(), drawn.mean_over_heads()
        found[name] = heads, _table(mean, drawn, layer_values, measured, NORM_LEVELS, moved)
    return found


def means(measured: Measured) -> Means:
    """Means over the examples that have tokens of a kind; correlations over all their tokens."""
    shares = {name: nanmean(getattr(measured, name), axis=0) for name in _SHARES}
    return Means(
        **shares, correlation=correlate_moments(measured.moments.sum(axis=0), LEAST_SPREAD)
    )


def drawn_means(measured: Measured, seed: int) -> Means:
    """The same of examples drawn with replacement: resamples first."""
    values = {name: getattr(measured, name) for name in (*_SHARES, "moments")}
    flat = [one.reshape(len(one), -1) for one in values.values()]
    rng = np.random.default_rng(seed)
    drawn = resampled_means(np.concatenate(flat, axis=1), RESAMPLES, rng)
    parts = np.split(drawn, np.cumsum([one.shape[1] for one in flat])[:-1], axis=1)
    shaped = {
        name: part.reshape(len(part), *of.shape[1:])
        for (name, of), part in zip(values.items(), parts, strict=True)
    }
    shaped["correlation"] = correlate_moments(shaped.pop("moments"), LEAST_SPREAD)
    return Means(**shaped)


def distances_to_other_heads(mean: Means, seed: int) -> dict[str, Floats]:
    """How far estimates of a layer may be from those over all heads that might have been trained.

    An encoder with random weights has some lengths for [CLS] on all examples alike, but not the
    same in all heads. Examples alone would call them a finding.

    Args:
        mean: Estimates of every head.
        seed: Seed of the samples.

    Returns:
        By column, [resamples, kinds, layers + 1] deviations: Student's t over the heads of a layer,
        and of the encoder; 0 with one head.
    """
    names = ("over_control", "length", "norm_weight_ratio", "correlation")
    kinds, layers, _ = mean.weight.shape
    moved = {name: np.zeros((RESAMPLES, kinds, layers + 1)) for name in names}
    for kind, place in np.ndindex(kinds, layers + 1):
        own = kind, slice(None) if place == layers else place
        for name, effects in zip(names, _effects(mean, own), strict=True):
            known = effects[~np.isnan(effects)]
            if known.size:
                rng = np.random.default_rng([seed, place])
                moved[name][:, kind, place] = distance_to_new_models(
                    known[:, None], RESAMPLES, rng
                )[:, 0]
    return moved


def _effects(mean: Means, own: tuple[int, slice | int]) -> tuple[Floats, ...]:
    """[heads] what each head adds to the estimates of its layer; to a ratio, to first order."""
    weight, norm = mean.weight[own].ravel(), mean.norm[own].ravel()
    total = weight.mean()
    with np.errstate(invalid="ignore", divide="ignore"):
        ratio = (norm - weight * norm.mean() / total) / total
    ratio = np.where(np.isfinite(ratio), ratio, np.nan)
    over, length, correlation = mean.over_control, mean.length, mean.correlation
    return over[own].ravel(), length[own].ravel(), ratio, correlation[own].ravel()


def _table(
    mean: Means,
    drawn: Means,
    random: Mapping[str, Floats],
    measured: Measured,
    table: Table,
    moved: Mapping[str, Floats] | None = None,
) -> pd.DataFrame:
    """Rows of the kinds that the task has, for one place after the other.

    Args:
        mean: Estimates.
        drawn: The same of other examples.
        random: Columns of the encoder with random weights.
        measured: Which kinds the examples have.
        table: The table.
        moved: What other heads would add to the resamples of a column.
    """
    moved = moved or {}
    shape = mean.weight.shape
    places = np.indices(shape)
    examples = np.broadcast_to((measured.tokens > 0).sum(axis=0), shape[::-1]).T
    columns = {"uniform": mean.uniform, "shuffled": mean.shuffled, **random, "examples": examples}
    for name, bounds in _WITH_ENDS.items():
        columns[name] = getattr(mean, name)
        samples = getattr(drawn, name) + moved.get(name, 0)
        ends = np.clip(ends_of_means(samples, columns[name], examples), *bounds)
        columns[f"{name}_low"], columns[f"{name}_high"] = ends
    found = pd.DataFrame(
        {name: np.broadcast_to(values, shape).ravel() for name, values in columns.items()}
    )
    found["kind"] = np.array(KINDS)[places[0].ravel()]
    found["layer"] = pd.array(places[1].ravel() + 1, dtype="Int64")
    if len(shape) == 3:
        found["head"] = places[2].ravel() + 1
    else:
        found.loc[found["layer"] == shape[1], "layer"] = None
    known = found[found["examples"] > 0]
    return table.select(known).reset_index(drop=True)
