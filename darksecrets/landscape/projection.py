"""The path of a training, projected into the plane of three models (Hao et al. 2019)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING

import numpy as np
import torch

from darksecrets.landscape.surface_tables import CORNERS, FINETUNED, PRETRAINED

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

    from darksecrets.landscape.vectors import Floats, Frame, Vectors


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
