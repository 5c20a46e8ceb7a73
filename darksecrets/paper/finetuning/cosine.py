"""How much fine-tuning changes each head (section 4.3): cosine between maps before and after.

Unrelated maps have something in common, too: all weights are positive, and most heads attend to the
same special tokens. So every cosine has three reference similarities: that of different heads of
the layer, that of uniform attention, and that of the same head in two fine-tunings.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats, Halves, Integers
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.paired import FEWEST, mean_intervals

RESAMPLES = 1000
"""Bootstrap samples of the examples."""

_MAX_BYTES = 2**24  # of a batch of maps


@dataclass(frozen=True)
class Similarities:
    """Cosine similarities of the maps of every head, all [examples, layers, heads].

    Attributes:
        idx: [examples] numbers of the examples in the data set.
        similarity: Before and after fine-tuning.
        other_heads: Of the head with the other heads of its layer, all before fine-tuning; the mean
            over these. NaN if the layer has one head.
        uniform: Of the head before fine-tuning with uniform attention.
        other_seed: After fine-tuning with two seeds; NaN if there is only one.
    """

    idx: Integers
    similarity: Floats
    other_heads: Floats
    uniform: Floats
    other_seed: Floats


def compare_seeds(
    before: AttentionStore, after: Mapping[int, AttentionStore]
) -> dict[int, Similarities]:
    """Compare the maps before fine-tuning with those after it, for every seed, see `compare`.

    Args:
        before: The pre-trained model's maps.
        after: Those of the fine-tuned models by seed, of the same examples. Each is also compared
            with the next, and the last with the first.
    """
    same, seeds = references(before), list(after)
    return {
        seed: compare(before, after[seed], None if following == seed else after[following], same)
        for seed, following in zip(seeds, seeds[1:] + seeds[:1], strict=True)
    }


def compare(
    before: AttentionStore,
    after: AttentionStore,
    other_seed: AttentionStore | None = None,
    references_before: tuple[Floats, Floats] | None = None,
) -> Similarities:
    """Compare the maps before and after fine-tuning, and compute the reference similarities.

    Args:
        before: The pre-trained model's maps.
        after: Those of the fine-tuned model, of the same examples.
        other_seed: Those of a model fine-tuned with another seed.
        references_before: What `references` found for the pre-trained model; None to compute it.

    Raises:
        InputError: See `cosine`.
    """
    similarity = cosine(before, after)
    other_heads, uniform = references_before or references(before)
    between = np.full_like(similarity, np.nan) if other_seed is None else cosine(after, other_seed)
    return Similarities(before.idx, similarity, other_heads, uniform, between)


def cosine(first: AttentionStore, second: AttentionStore, max_bytes: int = _MAX_BYTES) -> Floats:
    """Cosine similarity of the flattened maps of two models, per example and head.

    As in the paper's text, maps cover the real tokens of the input. The authors' released notebook
    pads them to 200 x 200 first and includes the rows of the padding, so its numbers differ.
    Places that local attention cannot reach are 0 in both maps and so contribute nothing.
    Products are summed in double precision; memory holds at most one batch of each store.

    Args:
        first: One model's maps, usually the pre-trained model's.
        second: Another model's maps of the same examples.
        max_bytes: Largest size of a batch of maps.

    Returns:
        [examples, layers, heads] similarities in the order of the stores.

    Raises:
        InputError: The stores differ in examples, tokens, or numbers of layers or heads.
    """
    require_same_examples(first, second)
    similarities = np.empty((first.examples, first.layers, first.heads))
    batches = zip(first.batches(max_bytes), second.batches(max_bytes), strict=True)
    for (examples, a), (_, b) in batches:
        lengths = np.sqrt(_inner(a, a) * _inner(b, b))
        similarities[examples.start : examples.stop] = _inner(a, b) / lengths
    return similarities


def references(store: AttentionStore, max_bytes: int = _MAX_BYTES) -> tuple[Floats, Floats]:
    """Cosine of every head with the other heads of its layer, and with uniform attention.

    Uniform attention gives the same weight to all tokens that a query can attend to. Products are
    summed in single precision: the result is right to about six digits.

    Args:
        store: The maps of one model.
        max_bytes: Largest size of a batch of maps.

    Returns:
        [examples, layers, heads] mean over the other heads, NaN if there are none; and
        [examples, layers, heads] similarity with uniform attention.
    """
    others, uniform = np.empty((2, store.examples, store.layers, store.heads))
    for examples, half in store.batches(max_bytes):
        maps = half.reshape(*half.shape[:3], -1).astype(np.float32)
        products = maps @ maps.swapaxes(-1, -2)
        lengths = np.sqrt(np.diagonal(products, axis1=-2, axis2=-1).astype(np.float64))
        cosines = products / (lengths[..., :, None] * lengths[..., None, :])
        rows = slice(examples.start, examples.stop)
        others[rows] = (cosines.sum(axis=-1) - 1) / (store.heads - 1) if store.heads > 1 else np.nan
        flat = store.uniform(half.shape[-1]).reshape(store.layers, -1, 1)
        uniform[rows] = (maps @ flat)[..., 0] / (lengths * np.linalg.norm(flat, axis=1))
    return others, uniform


def _inner(a: Halves, b: Halves) -> Floats:
    """[example, layer, head] inner products, without double-precision copies of the maps."""
    return np.einsum("elhij,elhij->elh", a, b, dtype=np.float64)


def require_same_examples(first: AttentionStore, second: AttentionStore) -> None:
    """Check that two stores can be compared map by map.

    Raises:
        InputError: They differ in heads, examples or tokens; the message says where.
    """

    def fail(what: str, a: object, b: object) -> None:
        raise InputError(
            f"The attention stores {first.folder} and {second.folder} cannot be compared: {what}, "
            f"{a} and {b}. Extract both from the same examples, with the same tokenizer."
        )

    shapes = [(store.layers, store.heads) for store in (first, second)]
    if shapes[0] != shapes[1]:
        fail("they differ in layers and heads", *shapes)
    if first.windows != second.windows:
        fail("they differ in the windows of local attention", first.windows, second.windows)
    if first.examples != second.examples:
        fail("they differ in the number of examples", first.examples, second.examples)
    for example in range(first.examples):
        if first.idx[example] != second.idx[example]:
            fail(f"example {example + 1} differs in idx", first.idx[example], second.idx[example])
        if first.tokens(example) != second.tokens(example):
            a, b = (store.spaced_tokens(example) for store in (first, second))
            fail(f"the tokens of idx {first.idx[example]} differ", repr(a), repr(b))


def table(found: Similarities) -> pd.DataFrame:
    """Mean similarity per head over the examples, tidy (Figure 5), with its references.

    Returns:
        A row per head: ``layer`` and ``head`` (from 1), then the columns of `COSINE`. Fewer than
        `FEWEST` examples have no interval.
    """
    similarities = found.similarity
    examples, *shape = similarities.shape
    layers, heads = np.indices(shape)
    ends = np.full((2, *shape), np.nan)
    if examples >= FEWEST:
        ends = mean_intervals(similarities, RESAMPLES, np.random.default_rng(0))
    columns = {
        "layer": layers + 1,
        "head": heads + 1,
        "similarity": similarities.mean(axis=0),
        "sd": similarities.std(axis=0, ddof=1),
        "examples": np.full(shape, examples),
        "ci_low": ends[0],
        "ci_high": ends[1],
        "other_heads": found.other_heads.mean(axis=0),
        "uniform": found.uniform.mean(axis=0),
        "other_seed": found.other_seed.mean(axis=0),
    }
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})


def layer_table(found: Similarities) -> pd.DataFrame:
    """Mean similarity over the heads of every layer, example by example.

    Returns:
        A row per example and layer, with the columns of `LAYER_SIMILARITY`.
    """
    means = {name: getattr(found, name).mean(axis=-1) for name in ("similarity", "other_heads")}
    examples, layers = np.indices(means["similarity"].shape)
    columns = {"idx": found.idx[examples], "layer": layers + 1, **means}
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})
