"""How the loss depends on heads and MLPs: gradients, and leave-one-out losses.

One backward pass gives the gradients of all MLPs, of all heads and of both ways to disable these,
for each example of a batch by itself, because gates are of examples. Logits without some
heads, and the greedy order of heads to remove, are computed likewise.
"""

from __future__ import annotations

import logging
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.importance.measure.orders import Order, Place
from darksecrets.beyond.importance.measure.steps import pruning_counts
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.data.batches import EncodedSplit, batches_by_length
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.backends import Logits
from darksecrets.core.interventions.disable import UNIFORM, ZERO, Disable, uniform
from darksecrets.core.interventions.sets import HeadSet, sweep_sets
from darksecrets.core.interventions.sweep import choose_backend
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import Call, Intervention, intervene, shape_of
from darksecrets.core.models.losses import loss
from darksecrets.core.models.mlps import mlps_of
from darksecrets.core.models.selectors import Heads
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.units import first_of_each

_log = logging.getLogger(__name__)

Changes = Sequence[Intervention | None]
"""Interventions; None leaves a model intact."""
BATCH_SIZE = 32
"""Examples of a batch on a CPU."""
BLOCK = 64
"""Examples whose leave-one-out losses are computed together."""


@dataclass(frozen=True)
class Gates(Intervention):
    """Gates on every head of every example; all are open at 1.

    Closed at 0, the first disables a head in mode ``zero``, the second in mode ``uniform``.

    Attributes:
        output: [example, layer, head, token or 1] factor ξ of the head's output at each token.
        kept: [example, layer, head] share ξ of the head's own attention A; the rest of the weight
            is uniform, U: ξ A + (1 - ξ) U.
    """

    output: torch.Tensor
    kept: torch.Tensor

    def weights(self, weights: torch.Tensor, call: Call) -> torch.Tensor:
        """The weights, as far as they are kept."""
        even = uniform(weights, call)
        return even + self.kept[:, call.layer - 1, :, None, None] * (weights - even)

    def outputs(self, outputs: torch.Tensor, call: Call) -> torch.Tensor:
        """The outputs, times their gates."""
        return outputs * self.output[:, call.layer - 1, :, :, None]


@dataclass(frozen=True)
class MlpGates(Intervention):
    """Gates on the MLP of every layer.

    Attributes:
        output: [example or 1, layer] factor ξ of what the MLP adds to the hidden states; all are
            open at 1, and at 0 the MLP adds nothing.
    """

    output: torch.Tensor

    def mlp(self, output: torch.Tensor, layer: int) -> torch.Tensor:
        """The output, times its gate."""
        return output * self.output[:, layer - 1, None, None]


@dataclass(frozen=True)
class Gradients:
    """Gradients of the loss by gates, and what disabling heads and MLPs adds to the loss.

    Attributes:
        output: [examples, layers, heads] ∂L/∂ξ of the gate on the head's output.
        kept: The same shape: ∂L/∂ξ of the gate on the head's attention.
        exact: By mode, [examples, layers, heads] loss without the head, minus that of the intact
            model.
        mlp: [examples, layers, 1] ∂L/∂ξ of the gate on the layer's MLP; None if the MLPs of the
            model cannot be reached.
        mlp_exact: The same shape: loss without the MLP, minus that of the intact model.
    """

    output: Floats
    kept: Floats
    exact: dict[str, Floats]
    mlp: Floats | None = None
    mlp_exact: Floats | None = None


def sample(split: EncodedSplit, size: int, seed: int) -> list[int]:
    """Row numbers of a random sample of different texts of a split, at most half of them."""
    rows = _shuffled(split, seed)
    return rows[: min(size, (len(rows) + 1) // 2)]


def held_out(split: EncodedSplit, size: int, seed: int) -> list[int]:
    """Row numbers of as many others, as far as there are, for what `sample` must not choose."""
    rows = _shuffled(split, seed)
    size = min(size, (len(rows) + 1) // 2)
    return rows[size : 2 * size]


def _shuffled(split: EncodedSplit, seed: int) -> list[int]:
    return np.random.default_rng(seed).permutation(first_of_each(split.units)).tolist()


def measure(
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    rows: Sequence[int],
) -> Gradients:
    """Measure how the loss of examples depends on every head, and on the MLP of every layer.

    Args:
        model: A classifier, on the device to use.
        split: Encoded examples.
        task: Their task, which decides the loss.
        rows: Row numbers of the examples to use.

    Raises:
        InputError: The model's attention cannot be reached, or a loss is not finite.
    """
    model.train(False)
    model.requires_grad_(False)
    lengths = split.lengths[list(rows)]
    output, kept = (_empty(model, len(rows)) for _ in range(2))
    with_mlps = can_change_mlps(model)
    mlp = np.empty((len(rows), shape_of(model).layers, 1)) if with_mlps else None
    for places in batches_by_length(lengths, batch_size_of(model, lengths)):
        batch, labels = batch_of(model, split, [rows[place] for place in places])
        gates = _gates(model, len(places), batch["input_ids"].shape[1], 1.0)
        also = [_mlp_gates(model, len(places))] if with_mlps else []
        found = backward(model, task, batch, labels, gates, *also)
        output[places] = found[0].sum(axis=3)
        kept[places] = found[1]
        if mlp is not None:
            mlp[places] = found[2][..., None]
    without = {mode: exact(model, split, task, rows, mode) for mode in (ZERO, UNIFORM)}
    mlp_exact = exact_of_mlps(model, split, task, rows) if with_mlps else None
    return Gradients(output, kept, without, mlp, mlp_exact)


def exact(
    model: PreTrainedModel, split: EncodedSplit, task: Task, rows: Sequence[int], mode: str
) -> Floats:
    """The leave-one-out loss: what disabling each head alone adds to the loss of examples.

    Args:
        model: See `measure`.
        split: See `measure`.
        task: See `measure`.
        rows: See `measure`.
        mode: ``zero`` or ``uniform``.

    Returns:
        [examples, layers, heads].
    """
    shape = shape_of(model)
    sets = [one_set for one_set in sweep_sets(shape) if one_set.kind != "layer"]
    changes = [one_set.intervention(mode) for one_set in sets]
    added = _added(model, split, task, rows, changes, title=f"Heads, {mode}")
    return added.reshape(len(rows), shape.layers, shape.heads)


def exact_of_mlps(
    model: PreTrainedModel, split: EncodedSplit, task: Task, rows: Sequence[int]
) -> Floats:
    """What disabling the MLP of each layer alone adds to the loss of examples.

    Args:
        model: See `measure`; its MLPs can be reached.
        split: See `measure`.
        task: See `measure`.
        rows: See `measure`.

    Returns:
        [examples, layers, 1].
    """
    open_, count = torch.ones_like(_mlp_gates(model, 1).output), shape_of(model).layers
    closed = open_.repeat(count, 1).fill_diagonal_(0)
    changes = [None, *(MlpGates(each[None]) for each in closed)]
    return _added(model, split, task, rows, changes, title="MLPs")[..., None]


def _added(
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    rows: Sequence[int],
    changes: Changes,
    *,
    title: str,
) -> Floats:
    """[examples, others] what every intervention but the first adds to the losses of the first."""
    found = _losses(logits_under(model, split, rows, changes, title=title), split, task, rows)
    return (found[1:] - found[0]).T


def can_change_mlps(model: PreTrainedModel) -> bool:
    """Whether the MLPs of a model can be reached; if not, the log says why."""
    try:
        mlps_of(model)
    except InputError as error:
        _log.warning("Only the importance of heads is measured. %s", error)
        return False
    return True


def _losses(outputs: Logits, split: EncodedSplit, task: Task, rows: Sequence[int]) -> Floats:
    """[interventions, examples] losses of some examples from their logits."""
    logits = torch.from_numpy(outputs)
    labels = torch.from_numpy(split.labels[list(rows)]).repeat(len(logits))
    losses = loss(task, logits.flatten(0, 1).double(), labels, "none")
    return losses.view(len(logits), -1).numpy()


def backward(
    model: PreTrainedModel,
    task: Task,
    batch: dict[str, torch.Tensor],
    labels: torch.Tensor,
    gates: Gates,
    *of_mlps: MlpGates,
) -> list[Floats]:
    """Gradients of [examples] losses by all gates: outputs, attention, MLPs.

    Raises:
        InputError: A loss is not finite.
    """
    every = [gates.output, gates.kept, *(each.output for each in of_mlps)]
    for each in every:
        each.requires_grad_()
    with intervene(model, gates, *of_mlps):
        losses = loss(task, model(**batch).logits, labels, "none")
    if not losses.isfinite().all():
        raise InputError(
            f"{task.name}: the loss is not a finite number. The model has diverged, or "
            "its weights are damaged. Train again."
        )
    slopes = torch.autograd.grad(losses.sum(), every)
    return [each.double().cpu().numpy() for each in slopes]


def _gates(model: PreTrainedModel, examples: int, tokens: int, value: float) -> Gates:
    """Gates on outputs with a value, the same for all; all attention is kept."""
    shape = shape_of(model)
    size, dtype, device = (examples, shape.layers, shape.heads), model.dtype, model.device
    output = torch.full((*size, tokens), value, dtype=dtype, device=device)
    return Gates(output, torch.ones(size, dtype=dtype, device=device))


def _mlp_gates(model: PreTrainedModel, examples: int) -> MlpGates:
    """Open gates on all MLPs."""
    size = (examples, shape_of(model).layers)
    return MlpGates(torch.ones(size, dtype=model.dtype, device=model.device))


def _empty(model: PreTrainedModel, examples: int) -> Floats:
    shape = shape_of(model)
    return np.zeros((examples, shape.layers, shape.heads))


def batch_of(
    model: PreTrainedModel, split: EncodedSplit, rows: list[int]
) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    """What a model is given, on its device, and the labels."""
    batch = devices.move(split.batch(rows), model.device)
    return batch, batch.pop("labels")


def batch_size_of(model: PreTrainedModel, lengths: Integers) -> int:
    """Examples of a batch whose gradients are computed."""
    size = 4 * devices.sequence_bytes(model.config, int(lengths.max()))
    return devices.batch_size(model.device, size, cpu=BATCH_SIZE, gpu=devices.SEQUENCES)


def logits_without(
    model: PreTrainedModel, split: EncodedSplit, rows: Sequence[int], removed: Sequence[Heads]
) -> Logits:
    """Logits with all heads, and without each of some sets of them.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        split: Encoded examples.
        rows: Row numbers of the examples to use.
        removed: The sets of heads; a set may be empty.

    Returns:
        [1 + sets, rows, outputs]; the first are of the intact model.

    Raises:
        InputError: The model's attention cannot be reached, or an output is not finite.
    """
    changes = [None, *(Disable(heads, ZERO) if heads else None for heads in removed)]
    return logits_under(model, split, rows, changes)


def logits_under(
    model: PreTrainedModel,
    split: EncodedSplit,
    rows: Sequence[int],
    changes: Changes,
    title: str = "Heads removed",
) -> Logits:
    """Logits under each of some interventions.

    Args:
        model: See `logits_without`.
        split: See `logits_without`.
        rows: See `logits_without`.
        changes: The interventions; None leaves the model intact.
        title: Text of the progress bar.

    Returns:
        [interventions, rows, outputs].

    Raises:
        InputError: The model's attention cannot be reached, or an output is not finite.
    """
    backend = choose_backend(model, split, changes)
    found, lengths = backend.empty(len(rows)), split.lengths[list(rows)]
    with torch.inference_mode(), progress(title, len(rows), "examples") as advance:
        for places in batches_by_length(lengths, BLOCK):
            everything = np.ones((len(changes), len(places)), dtype=bool)
            found[:, places] = backend.logits([rows[place] for place in places], everything)
            advance(len(places))
    return found


def greedy_order(
    model: PreTrainedModel, split: EncodedSplit, task: Task, rows: Sequence[int]
) -> list[Place]:
    """Remove heads in the steps of `pruning_counts`, each time those that add least to the loss.

    Before every step, each head that is left is removed alone, beside those that are gone.

    Args:
        model: A classifier, on the device to use.
        split: Encoded training examples.
        task: Their task, which decides the loss.
        rows: Row numbers of the examples to use.

    Returns:
        All heads, in the order in which they are removed.
    """
    shape = shape_of(model)
    layers, heads = range(1, shape.layers + 1), range(1, shape.heads + 1)
    left = [(layer, head) for layer in layers for head in heads]
    gone: list[Place] = []
    with progress("Greedy order", len(left), "heads") as advance:
        for count in pruning_counts(len(left)):
            ranked = left
            if len(left) > 1:
                means = _losses_without_each(model, split, task, rows, gone, left)
                ranked = [left[number] for number in np.argsort(means, kind="stable")]
            step = ranked[: count - len(gone)]
            gone += step
            left = [place for place in left if place not in step]
            advance(len(step))
    return gone


def _losses_without_each(
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    rows: Sequence[int],
    gone: list[Place],
    left: list[Place],
) -> list[float]:
    """Mean losses without the heads that are gone and one of those left."""
    sets = [HeadSet("set", Order("", (*gone, one)).first(len(gone) + 1), "") for one in left]
    changes = [one_set.intervention(ZERO) for one_set in sets]
    found = _losses(logits_under(model, split, rows, changes, title="Greedy"), split, task, rows)
    return found.mean(axis=1).tolist()
