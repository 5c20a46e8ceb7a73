"""Heads that know of coreference a little, or all."""

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

from darksecrets.beyond.syntax.measure.coreference import Expression

Floats = npt.NDArray[np.float64]


def knowing(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """What refers to the same, and a little else."""
    entities = np.array([each.entity for each in found])
    return (entities[:, None] == entities) + 1.1 * rng.random((len(found), len(found)))


def right(found: Sequence[Expression], rng: np.random.Generator) -> Floats:
    """What refers to the same."""
    entities = np.array([each.entity for each in found])
    return np.asarray(entities[:, None] == entities, dtype=float)
