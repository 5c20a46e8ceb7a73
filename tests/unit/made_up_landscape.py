"""Made-up outputs of models with weights exchanged, of which the truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.landscape.results import Reset
from darksecrets.landscape.swaps import interpolations, swaps
from darksecrets.landscape.tables import SWAPS

POINTS = np.array([0.0, 0.5, 1.0])
LAYERS, HEADS = 3, 4


@dataclass(frozen=True)
class MadeUp:
    """What all seeds of a task have in common.

    Attributes:
        labels: [examples] of two classes.
        base: [examples, 2] outputs that every model has, up to noise of its own.
    """

    labels: np.ndarray
    base: np.ndarray

    @classmethod
    def draw(cls, rng: np.random.Generator, examples: int = 80) -> MadeUp:
        labels = rng.integers(0, 2, examples)
        right = np.eye(2)[labels] - 0.5
        return cls(labels, 1.2 * right + rng.normal(size=(examples, 2)))

    def model(
        self,
        rng: np.random.Generator,
        *,
        heads: np.ndarray | float = 0.0,
        exchanged: np.ndarray | float = 0.0,
        change: np.ndarray | None = None,
        noise: float = 0.3,
    ) -> Reset:
        """One seed. Every model adds noise by the same law, the fine-tuned one included.

        So all are equal models, up to what is asked for.

        Args:
            rng: Source of randomness.
            heads: [layers, heads] what resetting each takes from the right output.
            exchanged: [swaps] the same for whatever else is exchanged.
            change: [layers, heads] how far heads have moved; random if not given.
            noise: Standard deviation of what a model adds to outputs.
        """
        right = np.eye(2)[self.labels] - 0.5

        def drawn(*shape: int, cost: np.ndarray | float = 0.0) -> np.ndarray:
            added = noise * rng.normal(size=(*shape, *self.base.shape))
            lost = np.broadcast_to(cost, shape)[..., None, None] * right
            made: np.ndarray = (self.base + added - lost).astype(np.float32)
            return made

        table = [(s.direction, s.kind, s.first, s.last, rng.random()) for s in swaps(LAYERS)]
        parts, finetuned = len(interpolations(LAYERS)), drawn()
        validation = drawn(parts, len(POINTS))
        validation[:, -1] = finetuned
        train = validation[:, :, ::2].copy()
        return Reset(
            swaps=pd.DataFrame(table, columns=list(SWAPS.names)),
            finetuned=finetuned,
            swapped=drawn(len(table), cost=exchanged),
            heads=drawn(LAYERS, HEADS, cost=heads),
            head_changes=rng.random((LAYERS, HEADS)) if change is None else change,
            idx=np.arange(len(self.labels)),
            labels=self.labels,
            train_labels=self.labels[::2],
            points=POINTS,
            validation=validation,
            train=train,
        )
