"""What a fine-tuning begins with: pre-trained weights, random ones, or both.

A new classifier is always drawn. For small data sets, Zhang et al. (2021, "Revisiting Few-sample
BERT Fine-tuning", section 5) also draw the pooler and the top layers again: these are the most
specialised in the task of pre-training.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Literal

import numpy as np

from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.models.mixing import is_of_pooler, layers_by_name
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.states import FROM_NORMAL

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.core.data.tasks import Task

_STREAM = 1  # random numbers of redrawn layers are not those of the classifier


@dataclass(frozen=True)
class Start:
    """How to make the weights that a fine-tuning begins with.

    Attributes:
        seed: Seed of everything that is drawn.
        std: Standard deviation of the normal distribution that all weights are drawn from; None if
            the fine-tuning begins with the pre-trained ones.
        layers: How many of the top layers are reinitialized, and with them the pooler.
    """

    seed: int
    std: float | None = None
    layers: int = 0

    @classmethod
    def of(cls, state: str, seed: int, *, std: float, init_seed: int | None, layers: int) -> Start:
        """What a fine-tuning begins with.

        Args:
            state: ``finetuned`` or ``finetuned-from-normal``, to which alone ``std`` applies.
            seed: Seed of the fine-tuning.
            std: Standard deviation of the normal distribution.
            init_seed: Seed of what is drawn; None for that of the fine-tuning.
            layers: How many of the top layers are reinitialized.
        """
        drawn = seed if init_seed is None else init_seed
        return cls(drawn, std if state == FROM_NORMAL else None, layers)


def load_start(
    folder: Path, task: Task, start: Start, attention: Literal["sdpa", "eager"] = "sdpa"
) -> tuple[PreTrainedModel, list[str]]:
    """Load the model that a fine-tuning begins with.

    Args:
        folder: The pre-trained checkpoint.
        task: The task, which gives the classifier's outputs.
        start: What is drawn.
        attention: Attention implementation.

    Returns:
        The model, in evaluation mode, and the sorted names of the parameters that are random.

    Raises:
        InputError: See `redraw_top`.
    """
    model, new = load_classifier(folder, task, start.seed, attention)
    if start.std is not None:
        draw_from_normal(model, start.seed, start.std)
        return model, sorted(name for name, _ in model.named_parameters())
    return model, sorted({*new, *redraw_top(model, start.layers, start.seed)})


def redraw_top(model: PreTrainedModel, layers: int, seed: int) -> list[str]:
    """Draw the top layers and the pooler again, in place, as pre-training first drew them.

    Matrices become normal with mean 0 and the standard deviation ``initializer_range`` of the
    model's configuration (0.02 for BERT), biases 0 and layer-norm scales 1 (Devlin et al. 2018).

    Args:
        model: A classifier.
        layers: How many layers, from the top; with 0 nothing changes, the pooler included.
        seed: Seed of the draw, which depends on nothing else but the shapes.

    Returns:
        Names of the parameters drawn.

    Raises:
        InputError: The model has fewer layers, its layers share weights, or its configuration does
            not say how pre-training draws them.
    """
    if not layers:
        return []
    names, std = _top(model, layers), _std(model)
    state = np.random.SeedSequence([seed, _STREAM]).generate_state(1, np.uint64)
    draw_from_normal(model, int(state[0] >> 1), std, names)
    return sorted(names)


def _top(model: PreTrainedModel, layers: int) -> set[str]:
    """Names of the parameters of the top layers and of the pooler."""
    every = layers_by_name(model)
    if not every:
        raise InputError(
            f"{type(model).__name__}: the top layers of this model cannot be reinitialized, "
            "because its layers share their weights or are not in a list. Set "
            "fine_tuning.reinitialized_layers to 0."
        )
    if layers > len(every):
        raise InputError(
            f"fine_tuning.reinitialized_layers is {layers}, but {type(model).__name__} has "
            f"{len(every)} layers. Lower it."
        )
    pooler = {name for name, _ in model.named_parameters() if is_of_pooler(model, name)}
    return pooler.union(*every[-layers:])


def _std(model: PreTrainedModel) -> float:
    """Standard deviation of the weights that pre-training begins with."""
    std = getattr(model.config, "initializer_range", None)
    if not std:
        raise InputError(
            f"{type(model).__name__}: config.json has no initializer_range, expected the standard "
            "deviation that pre-training draws weights with. Set it, or set "
            "fine_tuning.reinitialized_layers to 0."
        )
    return float(std)
