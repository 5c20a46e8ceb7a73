"""How much fine-tuning changes each head (section 4.3): cosine between maps before and after."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.attention.store import AttentionStore, HalfArray
from darksecrets.run.errors import InputError


def cosine(
    first: AttentionStore, second: AttentionStore, max_bytes: int = 2**24
) -> npt.NDArray[np.float64]:
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


def _inner(a: HalfArray, b: HalfArray) -> npt.NDArray[np.float64]:
    """[example, layer, head] inner products, without double-precision copies of the maps."""
    result: npt.NDArray[np.float64] = np.einsum("elhij,elhij->elh", a, b, dtype=np.float64)
    return result


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
            a, b = (" ".join(store.tokens(example)) for store in (first, second))
            fail(f"the tokens of idx {first.idx[example]} differ", repr(a), repr(b))


def table(first: AttentionStore, second: AttentionStore) -> pd.DataFrame:
    """Mean similarity per head over the examples, tidy (Figure 5).

    Returns:
        A row per head: ``layer`` and ``head`` (from 1), ``similarity`` (mean over examples),
        ``sd`` (their sample standard deviation) and ``examples``.
    """
    similarities = cosine(first, second)
    layers, heads = np.indices(similarities.shape[1:])
    return pd.DataFrame(
        {
            "layer": layers.ravel() + 1,
            "head": heads.ravel() + 1,
            "similarity": similarities.mean(axis=0).ravel(),
            "sd": similarities.std(axis=0, ddof=1).ravel(),
            "examples": len(similarities),
        }
    )
