"""Made-up outputs of models with layers reset, of which the truth is known."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.beyond.landscape.declared import SWAPS
from darksecrets.beyond.landscape.measure.results import Reset
from darksecrets.beyond.landscape.measure.swaps import swaps

LAYERS = 3


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
        exchanged: np.ndarray | float = 0.0,
        noise: float = 0.3,
    ) -> Reset:
        """One seed. Every model adds noise by the same law, the fine-tuned one included.

        So all are equal models, up to what is asked for.

        Args:
            rng: Source of randomness.
            exchanged: [swaps] what resetting each takes from the right output.
            noise: Standard deviation of what a model adds to outputs.
        """
        right = np.eye(2)[self.labels] - 0.5

        def drawn(*shape: int, cost: np.ndarray | float = 0.0) -> np.ndarray:
            added = noise * rng.normal(size=(*shape, *self.base.shape))
            lost = np.broadcast_to(cost, shape)[..., None, None] * right
            made: np.ndarray = (self.base + added - lost).astype(np.float32)
            return made

        table = [(swap.kind, swap.first, swap.last) for swap in swaps(LAYERS)]
        return Reset(
            swaps=pd.DataFrame(table, columns=list(SWAPS.names)),
            finetuned=drawn(),
            swapped=drawn(len(table), cost=exchanged),
            idx=np.arange(len(self.labels)),
            labels=self.labels,
            units=np.arange(len(self.labels)),
        )
