"""Which keys a layer's queries may attend to: all, or those within a window (local attention).

ModernBERT's local layers, for example, reach 64 tokens in both directions. The window is read from
the masks that the model passes to its attention, not from its configuration.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from darksecrets.core.arrays import Flags
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def windows_of(model: PreTrainedModel, tokens: int) -> tuple[int | None, ...]:
    """Windows of a model's layers, as far as they show in a text.

    Args:
        model: An encoder, with or without a classifier.
        tokens: Length of the text.

    Returns:
        For each layer, the largest distance between a query and its keys; None if queries reach the
        whole text. An encoder without the attention interface passes no masks and is taken to reach
        everything; `suitability.check_maps` refuses it if it does not.

    Raises:
        InputError: The keys of a query are not those within a distance.
    """
    import torch

    from darksecrets.core.models.session import is_reachable, observe, trial_inputs

    if not is_reachable(model):
        return (None,) * int(model.config.num_hidden_layers)
    inputs = {name: rows[:1] for name, rows in trial_inputs(model, tokens).items()}
    with torch.inference_mode(), observe(model, reach=True) as seen:
        model(**inputs)
    return tuple(
        _window(reach[0, 0].cpu().numpy(), layer, model) for layer, reach in seen.reach.items()
    )


def _window(reach: Flags, layer: int, model: PreTrainedModel) -> int | None:
    """The window of a layer, from which of [query, key] it reaches."""
    if reach.all():
        return None
    places = np.arange(len(reach))
    distances = np.abs(places[:, None] - places)
    window = int(distances[reach].max(initial=0))
    if not np.array_equal(reach, distances <= window):
        raise InputError(
            f"{type(model).__name__}: in layer {layer}, queries attend neither to all keys nor to "
            f"all within a distance of {window} tokens. Use a model with one of the two."
        )
    return window
