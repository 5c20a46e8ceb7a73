"""Mix the parameters of two classifiers of one architecture: what fine-tuning began with, and made.

Parameters belong to components: the embeddings, and with them whatever lies outside the layers; the
attention and the feed-forward part of every layer; the classifier. The pooler counts as classifier:
many checkpoints lack it, so that it is newly drawn and trained with the classifier on top of it.
"""

from __future__ import annotations

import copy
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

import torch

from darksecrets.models.session import shape_of
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

Mix = tuple[tuple[float, ...], ...]
"""Shares of the fine-tuned weights, 0 to 1: of the embeddings; of attention and feed-forward part
of every layer, from the lowest; of the classifier."""

START, END = 0.0, 1.0
"""Share of the fine-tuned weights in what fine-tuning began with, and in what it made."""

_ATTENTION = ("attention", "attn", "sa_layer_norm")
_POOLER = "pooler"
_INPUTS = frozenset(
    f"{name}{end}"
    for name, end in (
        *((name, end) for name in ("query", "key", "value") for end in ("", "_proj")),
        *((name, end) for name in "qkv" for end in ("", "_lin")),
    )
)
_OUTPUTS = frozenset({"dense", "out_lin", "o"})
_RELATED = 0.5  # cosine of embeddings; those of unrelated models are orthogonal

Place = tuple[int, int]
"""A component: its number in a `Mix`, and its number there."""


def whole(layers: int, share: float, classifier: float = END) -> Mix:
    """The mix with one share of all components of the encoder."""
    return ((share,), *[(share, share)] * layers, (classifier,))


class Mixture:
    """Two classifiers, and a third one whose parameters are a mix of theirs.

    Args:
        start: What fine-tuning began with: the encoder with any classifier.
        end: What it made.

    Attributes:
        start: The first classifier.
        end: The second one.
        model: The mix; at first, equal to ``end``.
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
        _require_related(self.start, self.end, self._names[0, 0])
        self._shares: dict[Place, float | None] = dict.fromkeys(self._names, END)
        self._unchanged = {place for place in self._names if self.change([place]) == 0}

    def simplified(self, mix: Mix) -> Mix:
        """The mix, with share 1 of what fine-tuning has not changed, where any share is the same.

        Mixes that are the same model become equal, so that none is ever compared with itself.
        """
        return tuple(
            tuple(
                END if (number, part) in self._unchanged else share
                for part, share in enumerate(shares)
            )
            for number, shares in enumerate(mix)
        )

    def apply(self, mix: Mix) -> None:
        """Give ``model`` the parameters of a mix; those with share 0 or 1 are equal bit for bit."""
        for number, shares in enumerate(mix):
            self.apply_to(number, shares)

    def apply_to(self, number: int, shares: Sequence[float]) -> None:
        """Mix the components with one number: 0 for the embeddings, then the layers."""
        with torch.no_grad():
            for place, share in enumerate(shares):
                if self._shares[number, place] != share:
                    for name in self._names[number, place]:
                        self._mix(name, share)
                    self._shares[number, place] = share

    def reset_head(self, layer: int, head: int) -> None:
        """Take the own parameters of one head from ``start``; the next `apply` undoes it.

        These are its rows of queries, keys and values, and its columns of the output projection.

        Args:
            layer: From 1.
            head: From 1.
        """
        self._shares[layer, 0] = None
        with torch.no_grad():
            for name, place in self.of_head(layer, head):
                self._mixed[name][place] = self._starts[name][place]

    def of_head(self, layer: int, head: int) -> Iterator[tuple[str, tuple[slice, ...]]]:
        """Names and slices of the own parameters of a head, see `reset_head`."""
        size = int(self.end.config.hidden_size) // shape_of(self.end).heads
        own, every = slice((head - 1) * size, head * size), slice(None)
        for name in self._names[layer, 0]:
            module, _, kind = name.rpartition(".")
            last = module.rpartition(".")[2]
            if last in _INPUTS:
                yield name, (own,)
            elif last in _OUTPUTS and kind == "weight":
                yield name, (every, own)

    def change(self, places: Sequence[Place]) -> float:
        """How far components have moved: ‖end − start‖ / ‖start‖ of all their parameters."""
        return self._distance((name, ()) for place in places for name in self._names[place])

    def change_of_head(self, layer: int, head: int) -> float:
        """The same of the own parameters of a head."""
        return self._distance(self.of_head(layer, head))

    def _distance(self, parts: Iterator[tuple[str, tuple[slice, ...]]]) -> float:
        moved = length = 0.0
        for name, place in parts:
            start, end = (of[name].detach()[place].double() for of in (self._starts, self._ends))
            moved += float(((end - start) ** 2).sum())
            length += float((start**2).sum())
        return float((moved / length) ** 0.5) if length else 0.0

    def _mix(self, name: str, share: float) -> None:
        start, end, mixed = (of[name] for of in (self._starts, self._ends, self._mixed))
        if share in (START, END):  # not by multiplication, which would lose the sign of a zero
            mixed.copy_(end if share == END else start)
        else:
            mixed.copy_((1 - share) * start + share * end)


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
    names = _components(model)
    layers = range(1, shape_of(model).layers + 1)
    return [{*names[layer, 0], *names[layer, 1]} for layer in layers]


def is_of_pooler(model: PreTrainedModel, parameter: str) -> bool:
    """Whether a parameter belongs to the encoder's pooler."""
    inner = parameter.removeprefix(f"{model.base_model_prefix}.")
    return inner != parameter and inner.split(".")[0] == _POOLER


def has_separate_heads(model: PreTrainedModel) -> bool:
    """Whether every head has its own slices of query, key, value and output projection."""
    hidden, found = model.config.hidden_size, 0
    names = _components(model)
    parameters = dict(model.named_parameters())
    for layer in range(1, shape_of(model).layers + 1):
        modules = [n.removesuffix(".weight") for n in names[layer, 0] if n.endswith(".weight")]
        for ends, count in ((_INPUTS, 3), (_OUTPUTS, 1)):
            own = [module for module in modules if module.rpartition(".")[2] in ends]
            shapes = {tuple(parameters[f"{module}.weight"].shape) for module in own}
            found += len(own) == count and shapes == {(hidden, hidden)}
    return found == 2 * shape_of(model).layers


def _layers(model: PreTrainedModel) -> str:
    """Name of the list of layers in the encoder; empty if there is none with one for each."""
    count = shape_of(model).layers
    modules: Iterator[tuple[str, torch.nn.Module]] = model.base_model.named_modules()
    for name, module in modules:
        if isinstance(module, torch.nn.ModuleList) and len(module) == count:
            return name
    return ""


def _components(model: PreTrainedModel) -> dict[Place, list[str]]:
    """Names of the parameters of every component."""
    layers = shape_of(model).layers
    prefix, listed = f"{model.base_model_prefix}.", f"{_layers(model)}."
    found: dict[Place, list[str]] = {(0, 0): []}
    found |= {(layer, part): [] for layer in range(1, layers + 1) for part in (0, 1)}
    found[layers + 1, 0] = []
    for name, _ in model.named_parameters():
        inner = name.removeprefix(prefix)
        if inner == name or inner.split(".")[0] == _POOLER:
            place = (layers + 1, 0)
        elif inner.startswith(listed):
            number, part, *_ = inner.removeprefix(listed).split(".")
            place = (int(number) + 1, 0 if part.startswith(_ATTENTION) else 1)
        else:
            place = (0, 0)
        found[place].append(name)
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
                f"The two models differ in {name}: found {words[0]} numbers in the one that "
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
