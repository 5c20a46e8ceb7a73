"""Training on: with gates that learn to close, or without some heads (Voita et al. 2019).

Training goes on from a fine-tuned model, as in fine-tuning: its weights are trained, too. The loss
is that of the task and a penalty λ times the expected number of heads that are not closed.

Gates follow the hard concrete distribution (Louizos et al. 2018). With u uniform between 0 and 1,

    z = min(1, max(0, 1.2 s - 0.1)),  s = σ((ln u - ln(1 - u) + ln a) / 0.33):

a relaxed Bernoulli variable, stretched beyond both ends and cut off, so that it is exactly 0 or 1
with positive probability. The parameter ln a is learned. Constants are Voita et al.'s (2019).
"""

from __future__ import annotations

import contextlib
import math
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

from darksecrets.core.arrays import Singles
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.disable import ZERO, Disable
from darksecrets.core.models import devices, precision
from darksecrets.core.models.hooks import Call, Intervention, intervene, shape_of
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.selectors import Heads, Shape
from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.resuming import write_arrays
from darksecrets.core.run.states import FINETUNED
from darksecrets.paper.finetuning.training import FineTuner, Settings, deterministic

TEMPERATURE = 0.33
LOW, HIGH = -0.1, 1.1
"""To where the distribution is stretched before it is cut off."""
FULLY = math.log((1 - LOW) / (HIGH - 1))
"""With ln a from this on, a gate that is not drawn is 1; from its negative down, it is 0."""
START = 2.5
"""The first ln a, just above `FULLY`: training goes on from the intact model."""
_EDGE = 1e-6  # of the noise, whose logarithm is taken


def sampled(log_a: torch.Tensor, noise: torch.Tensor) -> torch.Tensor:
    """Gates for uniform noise between 0 and 1, of the same shape."""
    noise = noise.clamp(_EDGE, 1 - _EDGE)
    return _cut(torch.sigmoid((torch.logit(noise) + log_a) / TEMPERATURE))


def settled(log_a: torch.Tensor) -> torch.Tensor:
    """Gates without noise, for the model that is used after training."""
    return _cut(torch.sigmoid(log_a))


def open_probability(log_a: torch.Tensor) -> torch.Tensor:
    """Probability that a gate is not 0, which the penalty adds up."""
    return torch.sigmoid(log_a - TEMPERATURE * math.log(-LOW / HIGH))


def _cut(relaxed: torch.Tensor) -> torch.Tensor:
    return (relaxed * (HIGH - LOW) + LOW).clamp(0, 1)


class HardConcrete(torch.nn.Module):
    """A gate for every head of a model, one draw for all examples of a batch.

    Args:
        shape: The model's layers and heads.

    Attributes:
        log_a: [layer, head], learned.
    """

    def __init__(self, shape: Shape) -> None:
        super().__init__()
        self.log_a = torch.nn.Parameter(torch.full((shape.layers, shape.heads), START))

    def forward(self, layer: int) -> torch.Tensor:
        """Gates of a layer, from 1: [head], drawn in training and settled in evaluation."""
        log_a = self.log_a[layer - 1]
        return sampled(log_a, torch.rand_like(log_a)) if self.training else settled(log_a)

    def penalty(self) -> torch.Tensor:
        """Expected number of heads that are not closed."""
        return open_probability(self.log_a).sum()


class LearnedGates(Intervention):
    """Multiplies the outputs of heads by gates that are learned."""

    def __init__(self, gates: HardConcrete) -> None:
        self.gates = gates

    def outputs(self, outputs: torch.Tensor, call: Call) -> torch.Tensor:
        """The outputs, times their gates."""
        gates: torch.Tensor = self.gates(call.layer)
        return outputs * gates[:, None, None]


CROSSINGS = 2
"""How often a gate can go from fully open to closed in a training, or back.

Adam moves a gate by about its learning rate in a step; so the rate follows from the steps.
"""


@dataclass(frozen=True)
class Start:
    """What all trainings of one model share.

    Attributes:
        model: Folder of the fine-tuned model.
        task: Its task.
        seed: Seed of the order of the examples, the dropout and the gates.
        train: Examples to train on.
        validation: Examples whose logits are wanted.
        settings: Settings of the training.
    """

    model: Path
    task: Task
    seed: int
    train: EncodedSplit
    validation: EncodedSplit
    settings: Settings


@dataclass(frozen=True)
class Trained:
    """What is left of a training.

    Attributes:
        logits: [validation examples, outputs] with settled gates.
        log_a: [layers, heads] of the gates; empty without gates.
    """

    logits: Singles
    log_a: Singles


def train_on(
    start: Start, file: Path, *, penalty: float = 0.0, removed: Heads | None = None
) -> Trained:
    """Train a fine-tuned model on, once; a finished training is read from its file.

    Args:
        start: The model and its examples.
        file: Where what is left of the training is kept.
        penalty: λ. If it is 0, there are no gates: nothing would close them, and their noise would
            only disturb the training.
        removed: Heads that add nothing, from the start on.

    Raises:
        InputError: Training diverges, or the model's attention cannot be reached.
    """
    if not file.is_file():
        write_arrays(vars(_train(start, file.with_suffix(""), penalty, removed or {})), file)
    return Trained(**read_arrays(file))


def _train(start: Start, folder: Path, penalty: float, removed: Heads) -> Trained:
    devices.use_float32()
    model, _ = load_classifier(start.model, start.task, start.seed, attention="eager")
    run = {
        "task": start.task.name,
        "state": FINETUNED,
        "seed": start.seed,
        **asdict(start.settings),
        "order_seed": start.settings.seed_of_order(start.seed),
        "precision": precision.resolve(start.settings.precision),
    }
    run_arguments = (model, start.train, start.validation, start.task, run, folder)
    removing = intervene(model, Disable(removed, ZERO)) if removed else contextlib.nullcontext()
    with deterministic(run["order_seed"]), removing:
        if not penalty:
            trainer = FineTuner(*run_arguments, is_trained=True)
            trainer.run(None, math.inf)
            return Trained(trainer.logits, np.empty((0, 0), np.float32))
        gates = HardConcrete(shape_of(model))
        model.add_module("gates", gates)
        with intervene(model, LearnedGates(gates)):
            learner = GateLearner(gates, penalty, *run_arguments)
            learner.run(None, math.inf)
        return Trained(learner.logits, gates.log_a.detach().cpu().numpy())


class GateLearner(FineTuner):
    """Trains the weights of a model and the gates on its heads.

    Args:
        gates: The gates, a module of the model.
        penalty: λ.
        of_run: Arguments of `FineTuner`.
    """

    def __init__(self, gates: HardConcrete, penalty: float, *run_arguments: Any) -> None:  # noqa: ANN401
        self.gates, self.penalty = gates, penalty
        super().__init__(*run_arguments, is_trained=True)

    def create_optimizer(self, model: Any = None) -> torch.optim.Optimizer:  # noqa: ANN401
        """The gates have their own learning rate, and no weight decay."""
        optimizer, own = super().create_optimizer(model), self.gates.log_a
        for group in optimizer.param_groups:
            group["params"] = [each for each in group["params"] if each is not own]
        steps = self.steps_per_epoch * self.details["epochs"]
        rate = CROSSINGS * (2 * FULLY) / (steps / 2)  # the schedule halves it on average
        optimizer.add_param_group({"params": [own], "lr": rate, "weight_decay": 0.0})
        return optimizer

    def compute_loss(self, *args: Any, **named: Any) -> Any:  # noqa: ANN401
        """The loss of the task and the penalty."""
        return super().compute_loss(*args, **named) + self.penalty * self.gates.penalty()

    def loss_of_task(self, value: torch.Tensor) -> torch.Tensor:
        """Only the loss of the task shows whether training diverges."""
        return value - self.penalty * self.gates.penalty().detach()
