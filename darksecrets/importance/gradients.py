"""How the loss of every example depends on every head: gradients, their integral, exact effects.

One backward pass gives the gradients of all heads and both ways to disable them, for each example
of a batch by itself, because gates are of examples. The integral over gates that open together
takes a pass for each of its nodes and is computed for some of the examples.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import numpy.typing as npt
import torch

from darksecrets.ablation.disable import UNIFORM, ZERO
from darksecrets.ablation.sets import sweep_sets
from darksecrets.ablation.sweep import choose_backend
from darksecrets.data.batches import by_length
from darksecrets.importance.gates import Gates
from darksecrets.models import devices
from darksecrets.models.hooks import intervene, shape_of
from darksecrets.models.losses import loss
from darksecrets.run.errors import InputError
from darksecrets.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.ablation.backends import Backend
    from darksecrets.data.batches import EncodedSplit
    from darksecrets.data.tasks import Task

Floats = npt.NDArray[np.float64]

BATCH_SIZE = 32
"""Examples of a batch on a CPU."""
BLOCK = 64
"""Examples whose exact effects are computed together."""


@dataclass(frozen=True)
class Gradients:
    """Gradients of the loss by the gates of heads, and what disabling the heads adds to the loss.

    Attributes:
        output: [examples, layers, heads] ∂L/∂ξ of the gate on the head's output.
        of_tokens: The same shape: Σ |∂L/∂ξ| over gates of single tokens.
        kept: The same shape: ∂L/∂ξ of the gate on the head's attention.
        integrated: [some examples, layers, heads] integral of ``output`` over gates that open
            together; over heads, it adds up to the loss with all heads, less that with none.
        incomplete: [some examples] by how much it does not, because the integral is approximate.
        exact: By mode, [examples, layers, heads] loss without the head, less that of the intact
            model.
    """

    output: Floats
    of_tokens: Floats
    kept: Floats
    integrated: Floats
    incomplete: Floats
    exact: dict[str, Floats]


def sample(examples: int, size: int, seed: int) -> list[int]:
    """Row numbers of a random sample of a split; all rows if it has no more."""
    chosen = np.random.default_rng(seed).permutation(examples)[:size]
    rows: list[int] = chosen.tolist()
    return rows


def measure(
    model: PreTrainedModel,
    split: EncodedSplit,
    task: Task,
    rows: Sequence[int],
    *,
    nodes: int,
    paths: int,
) -> Gradients:
    """Measure how the loss of examples depends on every head.

    Args:
        model: A classifier, on the device to use.
        split: Encoded examples.
        task: Their task, which decides the loss.
        rows: Row numbers of the examples to use.
        nodes: Points at which the gradient is computed for the integral (Gauss-Legendre).
        paths: For how many of the examples the integral is computed: the first ones.

    Raises:
        InputError: The model's attention cannot be reached, or a loss is not finite.
    """
    model.train(False)
    model.requires_grad_(False)
    lengths = split.lengths[list(rows)]
    output, of_tokens, kept = (_empty(model, len(rows)) for _ in range(3))
    losses = np.empty(len(rows))
    for places in by_length(lengths, _batch_size(model, lengths)):
        batch, labels = _batch(model, split, [rows[place] for place in places])
        gates = _gates(model, len(places), batch["input_ids"].shape[1], 1.0)
        losses[places], (of_output, of_kept) = _backward(model, task, batch, labels, gates)
        output[places], of_tokens[places] = of_output.sum(axis=3), np.abs(of_output).sum(axis=3)
        kept[places] = of_kept
    some = list(rows[:paths])
    integrated, closed = _integrate(model, split, task, some, nodes)
    incomplete = np.abs(integrated.sum(axis=(1, 2)) - (losses[: len(some)] - closed))
    without = {mode: exact(model, split, task, rows, mode) for mode in (ZERO, UNIFORM)}
    return Gradients(output, of_tokens, kept, integrated, incomplete, without)


def exact(
    model: PreTrainedModel, split: EncodedSplit, task: Task, rows: Sequence[int], mode: str
) -> Floats:
    """What disabling each head alone adds to the loss of examples.

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
    sets = [of_set for of_set in sweep_sets(shape) if of_set.kind != "layer"]
    backend = choose_backend(model, split, [of_set.intervention(mode) for of_set in sets])
    found = np.empty((len(sets), len(rows)))
    lengths = split.lengths[list(rows)]
    with torch.inference_mode(), progress(f"Heads, {mode}", len(rows), "examples") as advance:
        for places in by_length(lengths, BLOCK):
            found[:, places] = losses_of(backend, split, task, [rows[place] for place in places])
            advance(len(places))
    effects: Floats = (found[1:] - found[0]).T.reshape(len(rows), shape.layers, shape.heads)
    return effects


def losses_of(backend: Backend, split: EncodedSplit, task: Task, rows: Sequence[int]) -> Floats:
    """[interventions, examples] losses of some examples under every intervention of a backend."""
    everything = np.ones((len(backend.interventions), len(rows)), dtype=bool)
    logits = torch.from_numpy(backend.logits(rows, everything))
    labels = torch.from_numpy(split.labels[list(rows)]).repeat(len(logits))
    losses = loss(task, logits.flatten(0, 1).double(), labels, "none")
    found: Floats = losses.view(len(logits), -1).numpy()
    return found


def _integrate(
    model: PreTrainedModel, split: EncodedSplit, task: Task, rows: list[int], nodes: int
) -> tuple[Floats, Floats]:
    """Integrals of the gradient from closed to open gates, and [examples] losses with closed ones.

    Sundararajan et al. (2017), over gates instead of inputs.
    """
    points, weights = np.polynomial.legendre.leggauss(nodes)
    integrated, closed = _empty(model, len(rows)), np.empty(len(rows))
    lengths = split.lengths[rows]
    for places in _progressing(by_length(lengths, _batch_size(model, lengths)), len(rows)):
        batch, labels = _batch(model, split, [rows[place] for place in places])
        for point, weight in zip(points, weights, strict=True):
            gates = _gates(model, len(places), 1, (1 + point) / 2)
            _, (of_output, _) = _backward(model, task, batch, labels, gates)
            integrated[places] += weight / 2 * of_output[..., 0]
        gates = _gates(model, len(places), 1, 0.0)
        with torch.inference_mode(), intervene(model, gates):
            of_batch = loss(task, model(**batch).logits, labels, "none")
            closed[places] = of_batch.double().cpu().numpy()
    return integrated, closed


def _progressing(batches: Iterator[list[int]], examples: int) -> Iterator[list[int]]:
    with progress("Integrated gradients", examples, "examples") as advance:
        for places in batches:
            yield places
            advance(len(places))


def _backward(
    model: PreTrainedModel,
    task: Task,
    batch: dict[str, torch.Tensor],
    labels: torch.Tensor,
    gates: Gates,
) -> tuple[Floats, tuple[Floats, Floats]]:
    """[examples] losses, and their gradients by both gates."""
    both = (gates.output.requires_grad_(), gates.kept.requires_grad_())
    with intervene(model, gates):
        losses = loss(task, model(**batch).logits, labels, "none")
    if not losses.isfinite().all():
        raise InputError(
            f"{task.name}: found a loss that is not a finite number. The model has diverged, or "
            "its weights are damaged. Train again."
        )
    first, second = torch.autograd.grad(losses.sum(), both)
    return (
        losses.detach().double().cpu().numpy(),
        (first.double().cpu().numpy(), second.double().cpu().numpy()),
    )


def _gates(model: PreTrainedModel, examples: int, tokens: int, value: float) -> Gates:
    """Gates on outputs with a value, the same for all; all attention is kept."""
    shape = shape_of(model)
    size, dtype, device = (examples, shape.layers, shape.heads), model.dtype, model.device
    output = torch.full((*size, tokens), value, dtype=dtype, device=device)
    return Gates(output, torch.ones(size, dtype=dtype, device=device))


def _empty(model: PreTrainedModel, examples: int) -> Floats:
    shape = shape_of(model)
    return np.zeros((examples, shape.layers, shape.heads))


def _batch(
    model: PreTrainedModel, split: EncodedSplit, rows: list[int]
) -> tuple[dict[str, torch.Tensor], torch.Tensor]:
    batch = {name: t.to(model.device) for name, t in split.batch(rows).items()}
    return batch, batch.pop("labels")


def _batch_size(model: PreTrainedModel, lengths: npt.NDArray[np.int64]) -> int:
    size = 4 * devices.sequence_bytes(model.config, int(lengths.max()))
    return devices.batch_size(model.device, size, cpu=BATCH_SIZE, gpu=devices.SEQUENCES)
