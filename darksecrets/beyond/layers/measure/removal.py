"""Take a property out of the states of a layer, and see what that costs (Elazar et al. 2021)."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.layers.measure.linear import fit
from darksecrets.beyond.layers.measure.properties import Property
from darksecrets.core.arrays import Flags, Singles
from darksecrets.core.data import metrics
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.models.devices import place
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.states import change_states
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.draws import reach_of_one_more
from darksecrets.core.stats.resampling import interval_of_known
from darksecrets.paper.finetuning.evaluation import batch_size_for, outputs

ROUNDS = 30
"""Probes that are trained and projected out, at most."""
NEAR = 0.01
"""A property is gone if probes find it at most this much more often than its most frequent
class."""
RANDOM = 5
"""Random subspaces of the same size that the cost is compared with."""
_RESAMPLES = 1000
_LEAST = 1e-4  # singular values below this share of the largest are rounding


@dataclass(frozen=True)
class Removal:
    """A subspace without which a property cannot be read linearly.

    Attributes:
        basis: [size, dimensions] orthonormal.
        mean: [size] mean of the states, which stays.
        left: Accuracy of a new probe without it, on words that had no part in the choice.
        majority: Share of the most frequent class among these.
    """

    basis: Singles
    mean: Singles
    left: float
    majority: float

    def project(self, states: torch.Tensor) -> torch.Tensor:
        """States [..., size] without the subspace."""
        return projected(states, torch.from_numpy(self.basis), torch.from_numpy(self.mean))


def projected(states: torch.Tensor, basis: torch.Tensor, mean: torch.Tensor) -> torch.Tensor:
    """States without their part in a subspace, about a mean: x − (x − μ) U Uᵀ."""
    basis, mean = basis.to(states), mean.to(states)
    return states - (states - mean) @ basis @ basis.T


def remove(found: Property, training: Flags, layer: int, seed: int) -> Removal:
    """Train probes and project their weights out, one after the other (Ravfogel et al. 2020).

    Three quarters of the training sentences train probes, the others say when to stop.

    Args:
        found: The property.
        training: [items] which items are for training.
        layer: Number of the layer.
        seed: Seed of the quarters.
    """
    classes, labels = len(found.classes), found.labels
    features = found.features(layer)
    mean = features[training].mean(axis=0)
    chosen = np.random.default_rng(seed).random(int(found.groups.max()) + 1) < 3 / 4
    fitting, stopping = training & chosen[found.groups], training & ~chosen[found.groups]
    chance = np.bincount(labels[stopping], minlength=classes).max() / stopping.sum()
    basis = np.zeros((features.shape[1], 0), dtype=np.float32)
    for _ in range(ROUNDS):
        left = _projected_out(features, basis, mean)
        probe = fit(left[fitting], labels[fitting], classes)
        right = (probe.predict(left[stopping]) == labels[stopping]).mean()
        if right <= chance + NEAR:
            break
        basis = extended(basis, probe.directions())
    left = _projected_out(features, basis, mean)
    probe = fit(left[training], labels[training], classes)
    scored = ~training
    return Removal(
        basis=basis,
        mean=mean,
        left=float((probe.predict(left[scored]) == labels[scored]).mean()),
        majority=float(np.bincount(labels[scored]).max() / scored.sum()),
    )


def _projected_out(features: Singles, basis: Singles, mean: Singles) -> Singles:
    return np.asarray(features - (features - mean) @ basis @ basis.T, dtype=np.float32)


def extended(basis: Singles, directions: Singles) -> Singles:
    """A basis with the further directions [size, number], orthonormal; rounding is left out."""
    rest = directions - basis @ (basis.T @ directions)
    rest = rest - rest.mean(axis=1, keepdims=True)  # what all classes share decides nothing
    rest = rest - basis @ (basis.T @ rest)
    vectors, sizes, _ = np.linalg.svd(rest.astype(np.float64), full_matrices=False)
    new = vectors[:, sizes > _LEAST * max(float(sizes.max(initial=0)), _LEAST)]
    both, _ = np.linalg.qr(np.concatenate([basis, new], axis=1))
    found: Singles = both.astype(np.float32)
    return found


def random_basis(size: int, dimensions: int, rng: np.random.Generator) -> Singles:
    """[size, dimensions] an orthonormal basis of a random subspace."""
    found, _ = np.linalg.qr(rng.standard_normal((size, dimensions)))
    basis: Singles = found.astype(np.float32)
    return basis


def removal_rows(
    properties: list[tuple[Property, Flags]],
    folder: Path,
    task: Task,
    validation: EncodedSplit,
    seed: int,
) -> pd.DataFrame:
    """Rows of `REMOVED_PROPERTIES` of one fine-tuned model.

    Args:
        properties: What is removed, and which items are for training.
        folder: The fine-tuned model.
        task: Its task.
        validation: Examples on which it is scored.
        seed: Seed of quarters, random subspaces and the bootstrap.
    """
    loaded, _ = load_classifier(folder, task, seed)
    model = place(loaded)
    intact = _predictions(model, task, validation)
    rows = []
    layers = range(len(properties[0][0].states) if properties else 0)
    with progress(f"Removal, {task.name}", len(layers) * len(properties), "layers") as advance:
        for found, training in properties:
            for layer in layers:
                removal = remove(found, training, layer, seed)
                changes = [removal.project, *_random(removal, seed)]
                predicted = [
                    _predictions(model, task, validation, layer, change) for change in changes
                ]
                row = {"property": found.name, "layer": layer, "left": removal.left}
                row |= {"majority": removal.majority, "dimensions": removal.basis.shape[1]}
                rows.append(row | costs(task, intact, predicted, validation, seed))
                advance(1)
    return pd.DataFrame(rows)


def _random(removal: Removal, seed: int) -> Iterator[Callable[[torch.Tensor], torch.Tensor]]:
    """Projections out of random subspaces of the same size."""
    rng, mean = np.random.default_rng(seed), torch.from_numpy(removal.mean)
    size, dimensions = removal.basis.shape
    for _ in range(RANDOM):
        basis = torch.from_numpy(random_basis(size, dimensions, rng))
        yield partial(projected, basis=basis, mean=mean)


def _predictions(
    model: PreTrainedModel,
    task: Task,
    validation: EncodedSplit,
    layer: int = 0,
    change: Callable[[torch.Tensor], torch.Tensor] | None = None,
) -> np.ndarray:
    """[examples] what the model predicts, with changed states if they are."""
    size = batch_size_for(model, validation)
    if change is None:
        return metrics.predict(task, outputs(model, validation, size))
    with change_states(model, layer, change):
        return metrics.predict(task, outputs(model, validation, size))


def costs(
    task: Task,
    intact: np.ndarray,
    predicted: list[np.ndarray],
    validation: EncodedSplit,
    seed: int,
) -> dict[str, float]:
    """Scores without the property and without random subspaces, with intervals.

    That of ``delta`` is over examples, that of ``over_random`` over random subspaces, too.

    Args:
        task: Its first metric is the score.
        intact: [examples] predictions of the model as it is.
        predicted: The same without the property, then without each random subspace.
        validation: The examples.
        seed: Seed of the bootstrap.
    """
    rng = np.random.default_rng(seed)
    models, labels, units = np.stack([intact, *predicted]), validation.labels, validation.units
    scores = metrics.score_resampled(task.metrics[0], models, labels, units, _RESAMPLES, rng)
    delta = scores[:, 1] - scores[:, 0]
    over = scores[:, 1] - scores[:, 2:].mean(axis=1)
    low, high = interval_of_known(delta[1:])
    # A subspace that was chosen for nothing is one more random one.
    half = float(reach_of_one_more(over[1:].var(ddof=1), scores[0, 2:]))
    found = {
        "score": scores[0, 1],
        "intact": scores[0, 0],
        "random": delta[0] - over[0],
        "delta": delta[0],
        "delta_low": low,
        "delta_high": high,
        "over_random": over[0],
        "over_random_low": over[0] - half,
        "over_random_high": over[0] + half,
    }
    return {name: float(value) for name, value in found.items()}
