"""Made-up outputs of a model with weights exchanged, of which the truth is known."""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.landscape.results import Restored
from darksecrets.landscape.swaps import interpolations, swaps
from darksecrets.landscape.tables import SWAPS

POINTS = np.array([0.0, 0.5, 1.0])


def made_up(
    rng: np.random.Generator,
    *,
    examples: int = 60,
    layers: int = 3,
    heads: int = 4,
    labels: np.ndarray | None = None,
    size: float = 1.0,
    cost: np.ndarray | float = 0.0,
    layer_cost: np.ndarray | float = 0.0,
    change: np.ndarray | None = None,
) -> Restored:
    """Outputs of two classes; every exchange adds noise, and may cost something.

    Args:
        rng: Source of randomness.
        examples: Validation examples.
        layers: Of the encoder.
        heads: Of a layer.
        labels: Gold labels; random if not given.
        size: Standard deviation of what an exchange adds to the outputs.
        cost: [layers, heads] what restoring a head takes from the right output of every example.
        layer_cost: The same for what is exchanged, in the order of `swaps`.
        change: [layers, heads] how far the heads have moved; random if not given.
    """
    gold = rng.integers(0, 2, examples) if labels is None else labels
    right = np.eye(2)[gold] - 0.5
    finetuned = (1.5 * right + rng.normal(size=(examples, 2))).astype(np.float32)
    exchanged = swaps(layers)

    def noisy(*shape: int) -> np.ndarray:
        # as many examples gain as lose, whatever the truth: the mean loss changes by chance only
        return finetuned + size * rng.normal(size=(*shape, examples, 2))

    def less(costs: np.ndarray | float, *shape: int) -> np.ndarray:
        return np.broadcast_to(costs, shape)[..., None, None] * right

    table = [(s.direction, s.kind, s.first, s.last, float(rng.random())) for s in exchanged]
    parts = len(interpolations(layers))
    of_curves = noisy(parts, len(POINTS))
    of_curves[:, -1] = finetuned
    train = rng.normal(size=(parts, len(POINTS), 10, 2))
    train[:, -1] = train[0, -1]
    return Restored(
        swaps=pd.DataFrame(table, columns=list(SWAPS.names)),
        finetuned=finetuned,
        swapped=(noisy(len(exchanged)) - less(layer_cost, len(exchanged))).astype(np.float32),
        heads=(noisy(layers, heads) - less(cost, layers, heads)).astype(np.float32),
        head_changes=rng.random((layers, heads)) if change is None else change,
        idx=np.arange(examples),
        labels=gold,
        train_labels=rng.integers(0, 2, 10),
        points=POINTS,
        validation=of_curves.astype(np.float32),
        train=train.astype(np.float32),
    )
