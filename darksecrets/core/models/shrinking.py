"""Smaller models by other means than removed heads: fewer layers, zeros, low rank, 8 bits.

Every function changes a model in place, but never its tensors, so that the model may be a `copy`,
which shares its tensors with the model that it is a copy of.
"""

from __future__ import annotations

import copy as copies
import itertools
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import torch
from torch.nn import functional as F

from darksecrets.core.models import precision
from darksecrets.core.models.layers import is_known
from darksecrets.core.models.session import shape_of
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

LARGEST = 127
"""Largest whole number that a weight or an input becomes; the smallest is -127."""
_TINY = torch.finfo(torch.float32).tiny
_EXACT = 2**24 // LARGEST**2
"""Products of that many whole numbers have a sum that float32 holds exactly."""


def copy(model: PreTrainedModel) -> PreTrainedModel:
    """A model with modules of its own, and the tensors of another one."""
    tensors = itertools.chain(model.parameters(), model.buffers())
    return copies.deepcopy(model, {id(tensor): tensor for tensor in tensors})


def drop_layers(model: PreTrainedModel, count: int) -> None:
    """Drop the top layers; what is left is a model that `transformers` can save and load.

    Args:
        model: A classifier of BERT, RoBERTa or ELECTRA.
        count: Number of layers to drop.

    Raises:
        InputError: No layer would be left, or layers of this architecture cannot be dropped.
    """
    if not is_known(model):
        raise InputError(
            f"{type(model).__name__}: layers of this model cannot be dropped. Expected a "
            "classifier of BERT, RoBERTa or ELECTRA, whose layers share no weights."
        )
    left = shape_of(model).layers - count
    if not 0 < left <= shape_of(model).layers:
        raise InputError(
            f"{count} layers cannot be dropped: the model has {shape_of(model).layers}, and one "
            f"must be left. Drop 0 to {shape_of(model).layers - 1}."
        )
    encoder: Any = model.base_model
    encoder.encoder.layer = encoder.encoder.layer[:left]
    model.config.num_hidden_layers = left


def matrices(model: PreTrainedModel) -> list[torch.nn.Linear]:
    """The linear maps of the encoder, without embeddings and without the classifier."""
    modules = model.base_model.modules()
    return [module for module in modules if isinstance(module, torch.nn.Linear)]


def zero_smallest(maps: Sequence[torch.nn.Linear], share: float) -> int:
    """Set the weights of linear maps to 0 whose magnitudes are smallest (magnitude pruning).

    One threshold is for all maps (global L1 pruning, as in Prasanna et al. 2020). Weights that tie
    with the last one become 0, too.

    Args:
        maps: Each once; they get new weights.
        share: The share of these weights to set to 0. Weights that are 0 already are the smallest,
            so shares of steps on the same maps are of all weights.

    Returns:
        How many weights are 0.
    """
    magnitudes = torch.cat([each.weight.detach().abs().flatten() for each in maps])
    count = round(share * len(magnitudes))
    if not count:
        return 0
    threshold = magnitudes.kthvalue(count).values
    for each in maps:
        weight = each.weight.detach()
        each.weight = torch.nn.Parameter(weight.masked_fill(weight.abs() <= threshold, 0.0))
    return int((magnitudes <= threshold).sum())


def matrix_of_words(model: PreTrainedModel) -> torch.nn.Embedding | None:
    """The embeddings of word pieces; None if the model has no such matrix."""
    try:
        found: object = model.get_input_embeddings()
    except NotImplementedError:
        return None
    return found if type(found) is torch.nn.Embedding else None


def factorise_embeddings(model: PreTrainedModel, rank: int) -> None:
    """Replace the embeddings of word pieces by the closest product of two smaller matrices.

    Args:
        model: A classifier with word embeddings.
        rank: Numbers that a word piece has then, before a map that all share.

    Raises:
        InputError: The model has no matrix of word embeddings.
    """
    old = matrix_of_words(model)
    if old is None:
        raise InputError(
            f"{type(model).__name__}: there is no matrix of word embeddings to factorise. "
            "Use an encoder of word pieces."
        )
    model.set_input_embeddings(Factorised(old.weight.detach(), rank))


class Factorised(torch.nn.Module):
    """Embeddings as a product of matrices, [pieces, rank] and [rank, size].

    It has the least squared error of all such products (Eckart and Young 1936).

    Args:
        weight: [pieces, size].
        rank: At most the smaller of both.
    """

    def __init__(self, weight: torch.Tensor, rank: int) -> None:
        super().__init__()
        left, values, right = torch.linalg.svd(weight, full_matrices=False)
        self.pieces = torch.nn.Parameter(left[:, :rank] * values[:rank])
        self.shared = torch.nn.Parameter(right[:rank].clone())

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Embeddings [..., size] of word pieces [...]."""
        return F.embedding(ids, self.pieces) @ self.shared


def quantize(model: PreTrainedModel) -> None:
    """Store all linear maps and embeddings of a classifier in 8 bits, and multiply in 8 bits.

    Everything else (norms, biases, attention itself) stays in float32. Nothing is trained or
    calibrated.
    """
    found = list(model.named_modules())
    for name, module in found:
        if type(module) is torch.nn.Linear:
            model.set_submodule(name, Linear8(module))
        elif type(module) is torch.nn.Embedding:
            model.set_submodule(name, Embedding8(module))


def whole_numbers(rows: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
    """Rows as whole numbers from -127 to 127, int8, and what to multiply each of them by.

    Args:
        rows: [rows, columns], float32.

    Returns:
        The numbers of the same shape, and their units, [rows, 1].
    """
    units = rows.abs().amax(dim=1, keepdim=True).clamp(min=_TINY * LARGEST) / LARGEST
    return torch.round(rows / units).to(torch.int8), units


def product_of_whole_numbers(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """[rows, inputs] times [outputs, inputs], int8 from -127 to 127, as [rows, outputs] in int32.

    Where 8-bit products overflow, it is computed in float32, so much of it at a time that nothing
    is rounded: slower, but equal.
    """
    if one.device.type != "cpu" or precision.int8_is_exact():
        return torch._int_mm(one, other.T)
    parts = zip(*(torch.split(each.float(), _EXACT, dim=1) for each in (one, other)), strict=True)
    return torch.stack([(a @ b.T).int() for a, b in parts]).sum(dim=0, dtype=torch.int32)


class Linear8(torch.nn.Module):
    """A linear map whose weights have 8 bits, with a unit for every output.

    Inputs are rounded to 8 bits when they arrive, with a unit for every row, so that the product is
    one of whole numbers. PyTorch's own dynamic quantisation is similar, but deprecated.
    """

    def __init__(self, old: torch.nn.Linear) -> None:
        super().__init__()
        numbers, units = whole_numbers(old.weight.detach())
        self.weight = torch.nn.Parameter(numbers, requires_grad=False)
        self.units = torch.nn.Parameter(units.T.contiguous(), requires_grad=False)
        self.bias = old.bias

    def forward(self, inputs: torch.Tensor) -> torch.Tensor:
        """[..., inputs] to [..., outputs]."""
        numbers, units = whole_numbers(inputs.reshape(-1, inputs.shape[-1]))
        product = product_of_whole_numbers(numbers, self.weight) * (units * self.units)
        if self.bias is not None:
            product = product + self.bias
        return product.reshape(*inputs.shape[:-1], -1)


class Embedding8(torch.nn.Module):
    """Embeddings of 8 bits, with a unit for every row."""

    def __init__(self, old: torch.nn.Embedding) -> None:
        super().__init__()
        numbers, units = whole_numbers(old.weight.detach())
        self.weight = torch.nn.Parameter(numbers, requires_grad=False)
        self.units = torch.nn.Parameter(units, requires_grad=False)

    def forward(self, ids: torch.Tensor) -> torch.Tensor:
        """Embeddings [..., size] of rows [...]."""
        return F.embedding(ids, self.weight).float() * F.embedding(ids, self.units)
