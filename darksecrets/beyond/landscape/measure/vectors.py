"""Parameters of several models of one shape, and points of the plane that they span."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from torch import Tensor
from transformers import PreTrainedModel

from darksecrets.beyond.landscape.declared import CORNERS
from darksecrets.core.arrays import Floats
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.states import FINETUNED, PRETRAINED

_LEAST = 1e-6
"""Sine of the angle between two directions, below which they count as parallel."""


class Vectors:
    """Weights of models by name, in float32.

    Attributes:
        shapes: Shapes of the parameters by name, once the first model is kept.
    """

    def __init__(self) -> None:
        self.shapes: dict[str, tuple[int, ...]] = {}
        self._kept: dict[str, dict[str, Tensor]] = {}

    def keep(self, vector: str, model: PreTrainedModel) -> None:
        """Keep the weights of a model under a name.

        Raises:
            InputError: It has other parameters than the models before.
        """
        found = {name: tuple(each.shape) for name, each in model.named_parameters()}
        if not self.shapes:
            self.shapes = found
        for name in {**self.shapes, **found}:
            shapes = [of.get(name) for of in (found, self.shapes)]
            if shapes[0] != shapes[1]:
                words = [" × ".join(map(str, of)) if of else "none" for of in shapes]
                raise InputError(
                    f"The models that span the plane of a loss surface differ in {name}: the "
                    f"{vector} model has {words[0]} numbers, the others {words[1]}. Give models of "
                    "one run."
                )
        self._kept[vector] = {
            name: each.detach().cpu().float().clone() for name, each in model.named_parameters()
        }

    def read(self, vector: str, parameter: str) -> Tensor:
        """One parameter of a vector, float32."""
        return self._kept[vector][parameter]

    def put(self, model: PreTrainedModel, weights: Mapping[str, float]) -> None:
        """Give a model the weighted sum of some vectors.

        A vector with the weight 0 is left out, and a single one with the weight 1 is copied bit for
        bit.
        """
        used = [(vector, weight) for vector, weight in weights.items() if weight != 0]
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                if [weight for _, weight in used] == [1.0]:
                    parameter.copy_(self.read(used[0][0], name))
                    continue
                total = torch.zeros(self.shapes[name])
                for vector, weight in used:
                    total.add_(self.read(vector, name), alpha=weight)
                parameter.copy_(total)


class Frame:
    """Two directions of a plane, and its coordinates: shares of them, and right-angled distances.

    Args:
        products: [2, 2] inner products of the directions.
        what: Words for the directions, for messages.

    Attributes:
        products: The same.
        places: [2, 2] both directions in right-angled coordinates (Gram–Schmidt): the first lies on
            the first axis.

    Raises:
        InputError: A direction is zero, they are parallel, or not finite.
    """

    def __init__(self, products: Floats, what: str) -> None:
        lengths: Floats = np.sqrt(np.diag(products))
        if not np.isfinite(products).all() or not (lengths > 0).all():
            raise InputError(
                f"{what}: the two directions have the lengths {lengths[0]:.3g} and "
                f"{lengths[1]:.3g}; both must be above 0. Two of the models are the same, or have "
                "diverged. Train again, or give other models."
            )
        along = products[0, 1] / lengths[0]
        across = max(0.0, float(products[1, 1] - along**2)) ** 0.5
        if across < _LEAST * lengths[1]:
            raise InputError(
                f"{what}: the two directions are parallel (sine of their angle "
                f"{across / lengths[1]:.1g}) and span no plane. Give three models that do not lie "
                "on one line."
            )
        self.products = products
        self.places: Floats = np.array([[lengths[0], 0.0], [along, across]])

    def distances(self, shares: Floats) -> Floats:
        """[..., 2] right-angled coordinates of points given by shares of the directions."""
        return shares @ self.places

    def shares(self, products: Floats) -> Floats:
        """[2] shares of the directions in the projection of a vector.

        Args:
            products: [2] inner products of the vector with both directions.
        """
        return np.linalg.solve(self.products, products).astype(np.float64)


def frame_of(vectors: Vectors, ends: Sequence[str], origin: str, what: str) -> Frame:
    """The frame of two models seen from an origin.

    Raises:
        InputError: See `Frame`.
    """
    products: Floats = np.zeros((2, 2))
    for name in vectors.shapes:
        begun = vectors.read(origin, name).double().flatten()
        pair = torch.stack([vectors.read(end, name).double().flatten() - begun for end in ends])
        products = products + (pair @ pair.T).numpy()
    return Frame(products, what)


def project(vectors: Vectors, frame: Frame, changes: Mapping[str, Tensor]) -> tuple[Floats, float]:
    """Project a model into the plane of the pre-trained and both fine-tuned models.

    Args:
        vectors: The three models.
        frame: Their frame, seen from the fine-tuned model.
        changes: What a training has added to the pre-trained model, by parameter; parameters that
            have not moved may be left out.

    Returns:
        [2] its place, shares of the ways from the fine-tuned model to the two others, and its
        distance from the plane.
    """
    products, square = np.zeros(2), 0.0
    for name in vectors.shapes:
        origin, *ends = (
            vectors.read(each, name).double().flatten()
            for each in (FINETUNED, *(corner for corner in CORNERS if corner != FINETUNED))
        )
        directions = torch.stack([end - origin for end in ends])
        moved = directions[0] + changes[name].double().flatten() if name in changes else None
        vector = directions[0] if moved is None else moved
        products += (directions @ vector).numpy()
        square += float(vector @ vector)
    shares = frame.shares(products)
    return shares, max(0.0, square - float(shares @ products)) ** 0.5


def put_changed(vectors: Vectors, model: PreTrainedModel, changes: Mapping[str, Tensor]) -> None:
    """Give a model the pre-trained weights plus what a training has added to them."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            start = vectors.read(PRETRAINED, name)
            parameter.copy_(start + changes[name].float() if name in changes else start)
