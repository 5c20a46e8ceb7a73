"""Exchange components of two classifiers: what fine-tuning began with, and what it made.

Components are the embeddings, and with them whatever lies outside the layers; every layer; and the
classifier. The pooler counts as classifier: many checkpoints lack it, so that it is newly drawn and
trained with the classifier on top of it.
"""

from __future__ import annotations

import copy
from collections.abc import Collection, Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from darksecrets.core.models.session import shape_of
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Components = Collection[int]
"""Numbers of components: 0 for the embeddings, then the layers, then the classifier."""

_POOLER = "pooler"
_RELATED = 0.5  # cosine of embeddings; those of unrelated models are orthogonal


class Mixture:
    """Two classifiers, and a third one with components of either.

    Args:
        start: What fine-tuning began with: the encoder with any classifier.
        end: What it made.

    Attributes:
        start: The first classifier.
        end: The second one.
        model: The mixture; at first, equal to ``end``.
        layers: Number of layers.

    Raises:
        InputError: Layers share their weights or cannot be told apart, the models differ in names
            or shapes, or they have nothing to do with each other.
    """

    def __init__(self, start: PreTrainedModel, end: PreTrainedModel) -> None:
        require_separable(end)
        _require_alike(start, end)
        self.start, self.end, self.layers = start, end, shape_of(end).layers
        self.model = copy.deepcopy(end)
        self._starts, self._ends, self._mixed = (
            dict(model.named_parameters()) for model in (start, end, self.model)
        )
        self._names = _components(end)
        _require_related(self.start, self.end, self._names[0])

    def reset(self, components: Components) -> None:
        """Give ``model`` these components of ``start`` and all others of ``end``, bit for bit."""
        with torch.no_grad():
            for number, names in enumerate(self._names):
                source = self._starts if number in components else self._ends
                for name in names:
                    self._mixed[name].copy_(source[name])

    def change(self, components: Components) -> float:
        """How far components have moved: ‖end − start‖ / ‖start‖ of all their parameters."""
        moved = length = 0.0
        for number in components:
            for name in self._names[number]:
                start, end = (of[name].detach().double() for of in (self._starts, self._ends))
                moved += float(((end - start) ** 2).sum())
                length += float((start**2).sum())
        return float((moved / length) ** 0.5) if length else 0.0


def require_separable(model: PreTrainedModel) -> None:
    """Check that the layers of a model can be exchanged one by one.

    Raises:
        InputError: They share their weights or are not in a list.
    """
    if not _layers(model):
        raise InputError(
            f"{type(model).__name__}: the layers of this model cannot be reset one by one, because "
            "they share their weights or are not in a list. Use a checkpoint of BERT, RoBERTa, "
            "DistilBERT, ModernBERT or another encoder whose layers have weights of their own."
        )


def layers_by_name(model: PreTrainedModel) -> list[set[str]]:
    """Names of the parameters of every layer, from the lowest; empty if layers share them."""
    if not _layers(model):
        return []
    return [set(names) for names in _components(model)[1:-1]]


def is_of_pooler(model: PreTrainedModel, parameter: str) -> bool:
    """Whether a parameter belongs to the encoder's pooler."""
    inner = parameter.removeprefix(f"{model.base_model_prefix}.")
    return inner != parameter and inner.split(".")[0] == _POOLER


def _layers(model: PreTrainedModel) -> str:
    """Name of the list of layers in the encoder; empty if there is none with one for each."""
    count = shape_of(model).layers
    modules: Iterator[tuple[str, torch.nn.Module]] = model.base_model.named_modules()
    for name, module in modules:
        if isinstance(module, torch.nn.ModuleList) and len(module) == count:
            return name
    return ""


def _components(model: PreTrainedModel) -> list[list[str]]:
    """Names of the parameters of every component."""
    layers = shape_of(model).layers
    prefix, listed = f"{model.base_model_prefix}.", f"{_layers(model)}."
    found: list[list[str]] = [[] for _ in range(layers + 2)]
    for name, _ in model.named_parameters():
        inner = name.removeprefix(prefix)
        if inner == name or inner.split(".")[0] == _POOLER:
            number = layers + 1
        elif inner.startswith(listed):
            number = int(inner.removeprefix(listed).split(".")[0]) + 1
        else:
            number = 0
        found[number].append(name)
    return found


def _require_alike(start: PreTrainedModel, end: PreTrainedModel) -> None:
    """Check that two models have the same parameters."""
    shapes = [
        {name: tuple(parameter.shape) for name, parameter in model.named_parameters()}
        for model in (start, end)
    ]
    for name in {**shapes[0], **shapes[1]}:
        found = [of.get(name) for of in shapes]
        if found[0] != found[1]:
            words = [" × ".join(map(str, of)) if of else "none" for of in found]
            raise InputError(
                f"The two models differ in {name}: {words[0]} numbers in the one that "
                f"fine-tuning began with, and {words[1]} in the fine-tuned one. Expected a model "
                "and the fine-tuned one that was made from it: give both from one run."
            )


def _require_related(start: PreTrainedModel, end: PreTrainedModel, names: Sequence[str]) -> None:
    """Check by the embeddings, most of which fine-tuning hardly touches, that one began as other.

    Layer norms and biases would be alike in any two models: only matrices are compared.
    """
    parameters = [dict(model.named_parameters()) for model in (start, end)]
    products = [0.0, 0.0, 0.0]
    for name in names:
        one, other = (of[name].detach().double() for of in parameters)
        if one.dim() > 1:
            for number, pair in enumerate(((one, other), (one, one), (other, other))):
                products[number] += float((pair[0] * pair[1]).sum())
    cosine = products[0] / ((products[1] * products[2]) ** 0.5 or 1.0)
    if cosine < _RELATED:
        raise InputError(
            f"The embeddings of the two models have a cosine of {cosine:.2f}, expected nearly 1: "
            "the fine-tuned model was not made from the other one. Give both from one run, with "
            "the seed and the standard deviation that it began with."
        )
