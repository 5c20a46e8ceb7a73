"""Definitions of the importance of heads and MLPs, from gradients and leave-one-out losses.

All are greater, the more the task needs the head or MLP. Where released code differs from what the
papers say, both are here; `docs/protocol.md` has the differences.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

import numpy as np

from darksecrets.ablation.disable import UNIFORM, ZERO
from darksecrets.arrays import Floats, Integers
from darksecrets.importance import tables
from darksecrets.importance.gradients import Gradients
from darksecrets.stats.resampling import bootstrap_weights

ORDERS = 20
"""Random orders of the examples, for the definition that depends on their order."""
BATCH = 32
"""Batch size of the authors of that definition, in examples."""

Definition = Callable[[Integers], Floats]
"""A function from weights, [draws, examples], to importances, [draws, layers, heads]."""


def definitions(found: Gradients, seed: int) -> dict[tuple[str, str], Definition]:
    """All definitions, by mode and name.

    Args:
        found: What was measured.
        seed: Seed of the orders in which `ACCUMULATED` takes the examples.
    """
    rng = np.random.default_rng([seed, 1])

    def per_token(weights: Integers) -> Floats:
        return per_layer(_means(found.of_tokens, weights))

    def accumulated(weights: Integers) -> Floats:
        return np.concatenate([_accumulated(found.output, row, rng) for row in weights])

    made: dict[tuple[str, str], Definition] = {
        (ZERO, tables.ABSOLUTE): lambda weights: _means(np.abs(found.output), weights),
        (ZERO, tables.PER_TOKEN): per_token,
        (ZERO, tables.ACCUMULATED): accumulated,
        (ZERO, tables.SIGNED): lambda weights: -_means(found.output, weights),
        (ZERO, tables.INTEGRATED): lambda weights: -_means(found.integrated, weights),
        (UNIFORM, tables.ABSOLUTE): lambda weights: _means(np.abs(found.kept), weights),
        (UNIFORM, tables.SIGNED): lambda weights: -_means(found.kept, weights),
    }
    for mode in (ZERO, UNIFORM):
        made[mode, tables.EXACT] = partial(_means, found.exact[mode])
    return made


def definitions_of_mlps(found: Gradients) -> dict[str, Definition]:
    """Definitions of the importance of MLPs, as functions to [draws, layers, 1]; none without MLPs.

    Args:
        found: What was measured.
    """
    if found.mlp is None or found.mlp_exact is None:
        return {}
    values = {
        tables.ABSOLUTE: np.abs(found.mlp),
        tables.SIGNED: -found.mlp,
        tables.EXACT: found.mlp_exact,
    }
    return {name: partial(_means, of_examples) for name, of_examples in values.items()}


def estimates(found: Gradients, definition: Definition, name: str) -> Floats:
    """[layers, heads] a definition on all examples; `ACCUMULATED` is a mean over orders."""
    every = np.ones(
        (ORDERS if name == tables.ACCUMULATED else 1, examples_of(found, name)), np.int64
    )
    return np.asarray(definition(every).mean(axis=0))


def drawn(found: Gradients, definition: Definition, name: str, resamples: int, seed: int) -> Floats:
    """[resamples, layers, heads] a definition on examples drawn with replacement."""
    rng = np.random.default_rng(seed)
    return np.concatenate(
        [
            definition(weights)
            for weights in bootstrap_weights(resamples, examples_of(found, name), rng)
        ]
    )


def examples_of(found: Gradients, name: str) -> int:
    """Of how many examples a definition is."""
    return len(found.integrated if name == tables.INTEGRATED else found.output)


def orders(found: Gradients, seed: int) -> Floats:
    """[orders, layers, heads] `ACCUMULATED` on the same examples in random orders."""
    rng, every = np.random.default_rng([seed, 2]), np.ones(len(found.output), np.int64)
    return np.concatenate([_accumulated(found.output, every, rng) for _ in range(ORDERS)])


def per_layer(values: Floats) -> Floats:
    """Divide by the Euclidean norm over the heads of a layer, as released code does."""
    norms = np.sqrt((values**2).sum(axis=-1, keepdims=True))
    return values / np.where(norms > 0, norms, 1)


def _means(values: Floats, weights: Integers) -> Floats:
    """[draws, layers, heads] weighted means over examples."""
    totals = weights.sum(axis=1)[:, None, None]
    return np.tensordot(weights.astype(np.float64), values, axes=1) / totals


def _accumulated(gradients: Floats, weights: Integers, rng: np.random.Generator) -> Floats:
    """[1, layers, heads] absolute gradients that are never set to zero between batches.

    Each batch adds the absolute value of the sum of the mean gradients of all batches so far.
    """
    rows = rng.permutation(np.repeat(np.arange(len(weights)), weights))
    starts = np.arange(0, len(rows), BATCH)
    sums = np.add.reduceat(gradients[rows], starts, axis=0)
    sizes = np.diff(np.append(starts, len(rows)))[:, None, None]
    return per_layer(np.abs((sums / sizes).cumsum(axis=0)).sum(axis=0))[None]
