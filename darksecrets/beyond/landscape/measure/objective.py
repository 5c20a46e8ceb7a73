"""The loss of a sample as a function of the encoder's weights: values, slopes, Hessian products.

A product of the Hessian with a vector is the gradient of the slope in its direction (Pearlmutter
1994), by going backward twice. It is exact up to rounding and takes the time of about seven
forward passes; the Hessian itself is never stored. Fused attention has no second derivative, so
that attention has to be computed step by step (``eager``).

A vector is one flat tensor on the CPU, all of the encoder's weights one after the other: for
BERT-base 109 million numbers, 0.44 GB.

Some models have no second derivatives, or wrong ones; `require_second` finds out.
"""

from __future__ import annotations

import contextlib
import itertools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch
from transformers import PreTrainedModel

from darksecrets.beyond.landscape.measure.directions import encoder_parameters, filter_scale
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import devices
from darksecrets.core.models.losses import loss
from darksecrets.core.models.session import trial_inputs
from darksecrets.core.run.errors import InputError

BATCH_SIZE = 16
"""Examples of a batch on a CPU; what both backward passes keep is in `_KEPT` times as much memory
as a forward pass."""
_KEPT = 6
_ALL: dict[str, Any] = {"allow_unused": True, "materialize_grads": True}


class Objective:
    """The mean loss of examples as a function of the encoder's weights, without dropout.

    Args:
        model: A classifier with ``eager`` attention, on the device to use. Its other parameters
            stay as they are.
        split: The examples.
        task: Its task.

    Attributes:
        names: Names of the parameters, in their order in a vector.
        start: [weights] those of the model.
        scale: [weights] ‖filter‖ / √size, see `beyond.landscape.measure.directions.filter_scale`.
        passes: Batches that have gone through the model, times the forward passes each took.

    Raises:
        InputError: The loss at the model's weights is not finite.
    """

    def __init__(self, model: PreTrainedModel, split: EncodedSplit, task: Task) -> None:
        self.model, self.split, self.task = model.train(False), split, task
        parameters = encoder_parameters(model)
        self.names = list(parameters)
        self._parameters = list(parameters.values())
        model.requires_grad_(False)
        for parameter in self._parameters:
            parameter.requires_grad_(True)
        self.start = self._flat([parameter.detach() for parameter in self._parameters])
        self.scale = self._flat([filter_scale(each.detach()) for each in self._parameters])
        self._batches = list(batches_by_length(split.lengths, self._batch_size()))
        self.value = self.loss()
        if not torch.isfinite(torch.tensor(self.value)):
            raise InputError(
                f"{type(model).__name__}: the loss on {task.name} is {self.value}, not a finite "
                "number. The model has diverged, or its weights are damaged. Train again."
            )

    def loss(self, moved: torch.Tensor | None = None) -> float:
        """The mean loss after the weights have moved by a vector; infinite if it is not a number.

        The model's weights are bit for bit what they were afterwards.
        """
        with torch.no_grad(), self._moved(moved):
            total = sum(float(self._loss_of(rows)) for rows in self._batches)
        return total if total == total else float("inf")

    def gradient(self, moved: torch.Tensor | None = None) -> torch.Tensor:
        """[weights] the gradient after the weights have moved by a vector."""
        with self._moved(moved):
            return self._summed(lambda value: torch.autograd.grad(value, self._parameters, **_ALL))

    def product(self, vector: torch.Tensor) -> torch.Tensor:
        """[weights] the Hessian, at the model's weights, times a vector."""
        parts = self._parts(vector)

        def twice(value: torch.Tensor) -> tuple[torch.Tensor, ...]:
            slopes = torch.autograd.grad(value, self._parameters, create_graph=True, **_ALL)
            along = sum(
                (slope * part).sum()
                for slope, part in zip(slopes, parts, strict=True)
                if slope.requires_grad
            )
            if not isinstance(along, torch.Tensor):
                return tuple(map(torch.zeros_like, parts))
            return torch.autograd.grad(along, self._parameters, **_ALL)

        return self._summed(twice)

    def scaled_product(self, vector: torch.Tensor) -> torch.Tensor:
        """[weights] the same of the filter-normalised Hessian, D H D with D the `scale`."""
        return self.scale * self.product(self.scale * vector)

    def filters(self, vector: torch.Tensor) -> Iterator[torch.Tensor]:
        """Parts of a vector, one for every parameter: [filters, size]; views, not copies.

        A parameter with one dimension is one filter.
        """
        places = itertools.pairwise([0, *itertools.accumulate(p.numel() for p in self._parameters)])
        for parameter, (first, last) in zip(self._parameters, places, strict=True):
            rows = len(parameter) if parameter.dim() > 1 else 1
            yield vector[first:last].view(rows, -1)

    def _summed(
        self, derivative: Callable[[torch.Tensor], tuple[torch.Tensor, ...]]
    ) -> torch.Tensor:
        """[weights] a derivative of the mean loss, added up over batches."""
        total = torch.zeros_like(self.start)
        for rows in self._batches:
            total += self._flat(derivative(self._loss_of(rows)))
        return total

    def _loss_of(self, rows: list[int]) -> torch.Tensor:
        """What a batch contributes to the mean loss."""
        device = self.model.device
        batch = {name: tensor.to(device) for name, tensor in self.split.batch(rows).items()}
        labels = batch.pop("labels")
        logits = self.model(**batch).logits
        if self.task.is_regression:
            labels = labels.to(logits)
        return loss(self.task, logits, labels, "sum") / len(self.split)

    @contextlib.contextmanager
    def _moved(self, moved: torch.Tensor | None) -> Iterator[None]:
        """Move the parameters by a vector inside a ``with`` block; None leaves them as they are."""
        if moved is None:
            yield
            return
        kept = [parameter.detach().clone() for parameter in self._parameters]
        self._set(self._parts(self.start + moved))
        try:
            yield
        finally:
            self._set(kept)

    @torch.no_grad()
    def _set(self, values: list[torch.Tensor]) -> None:
        for parameter, value in zip(self._parameters, values, strict=True):
            parameter.copy_(value)

    def _parts(self, vector: torch.Tensor) -> list[torch.Tensor]:
        """A vector as tensors of the parameters' shapes, on their device."""
        device = self.model.device
        return [
            part.reshape(parameter.shape).to(device)
            for part, parameter in zip(self.filters(vector), self._parameters, strict=True)
        ]

    def _flat(self, parts: tuple[torch.Tensor, ...] | list[torch.Tensor]) -> torch.Tensor:
        return torch.cat([part.detach().reshape(-1).cpu() for part in parts])

    def _batch_size(self) -> int:
        longest = int(self.split.lengths.max())
        layers = int(self.model.config.num_hidden_layers)
        size = _KEPT * layers * devices.sequence_bytes(self.model.config, longest)
        return devices.batch_size(self.model.device, size, cpu=BATCH_SIZE, gpu=devices.SEQUENCES)


Tensors = Sequence[torch.Tensor]

_TOKENS = 6
_STEP = 1e-5
_WRONG = 1e-3
"""Share by which a product may differ from differences of gradients, in double precision."""


def require_second(model: PreTrainedModel) -> None:
    """Check that a product with a model's Hessian is what differences of its gradients say.

    PyTorch may refuse a second derivative, but a gradient that is written by hand may also count as
    constant without a word.

    Args:
        model: A small model of the type; it is changed to ``eager`` attention and float64.

    Raises:
        InputError: It cannot be differentiated twice, or not rightly.
    """
    model.train(False).double().set_attn_implementation("eager")
    parameters, generator = list(encoder_parameters(model).values()), torch.Generator()
    along = [torch.randn(p.shape, generator=generator.manual_seed(1)).double() for p in parameters]
    try:
        product = _exact(model, parameters, along)
    except (RuntimeError, NotImplementedError) as error:
        raise InputError(
            f"{type(model).__name__}: this model cannot be differentiated twice ({error}), which "
            "the Hessian needs. Use a checkpoint of another encoder."
        ) from error
    expected = _difference(model, parameters, along)
    wrong = float((product - expected).norm() / expected.norm())
    if not wrong <= _WRONG:  # so that NaN is wrong
        raise InputError(
            f"{type(model).__name__}: a product with the Hessian is wrong by {wrong:.2g} of its "
            "length; a part of this model has no correct second derivative. Use a checkpoint of "
            "another encoder."
        )


def _exact(model: PreTrainedModel, parameters: Tensors, along: Tensors) -> torch.Tensor:
    slopes = _slopes(model, parameters, create_graph=True)
    total = torch.stack([(one * d).sum() for one, d in zip(slopes, along, strict=True)]).sum()
    return _joined(torch.autograd.grad(total, parameters, **_ALL))


def _difference(model: PreTrainedModel, parameters: Tensors, along: Tensors) -> torch.Tensor:
    """The same from gradients on both sides."""
    found = []
    for step in (_STEP, -2 * _STEP):
        with torch.no_grad():
            for parameter, direction in zip(parameters, along, strict=True):
                parameter.add_(step * direction)
        found.append(_joined(_slopes(model, parameters)))
    return (found[0] - found[1]) / (2 * _STEP)


def _slopes(model: PreTrainedModel, parameters: Tensors, **more: Any) -> Tensors:  # noqa: ANN401
    value = model(**trial_inputs(model, _TOKENS)).logits.square().sum()
    return torch.autograd.grad(value, parameters, **_ALL, **more)


def _joined(parts: Tensors) -> torch.Tensor:
    return torch.cat([part.detach().flatten() for part in parts])
