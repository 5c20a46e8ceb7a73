"""Weights at a few steps of a fine-tuning, kept as differences from those that it began with.

A snapshot is a file of one bfloat16 tensor per parameter that has moved. Rounding a difference to
bfloat16 changes it by at most 1/256 of itself (`ROUNDING`); how much in all is recorded with every
snapshot. Weights themselves would need float32: most differences are smaller than the rounding of a
weight to bfloat16.
"""

# ruff: noqa: ANN401, ARG002 - the Trainer fixes the arguments of the methods that it calls

from __future__ import annotations

import hashlib
import json
import shutil
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file
from transformers import TrainerCallback, TrainerControl, TrainerState, TrainingArguments

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, write_json
from darksecrets.core.run.resuming import finish, whole

if TYPE_CHECKING:
    from torch import Tensor
    from transformers import PreTrainedModel

INDEX = "snapshots.json"
ROUNDING = 2.0**-8
"""Relative error of a number in bfloat16, at most: half a unit in the last of 8 binary digits."""

_FILES = "step-*.safetensors"
_SAME_NORM = 1e-5
"""Relative: a draw of new parameters may differ in its last digits on another CPU."""


@dataclass(frozen=True)
class Snapshot:
    """The weights after a step, as the index describes them.

    Attributes:
        step: The step; 0 is before the first.
        moved: ‖difference‖ from the start, of all parameters together.
        error: ‖stored difference − difference‖ / ‖difference‖; 0 for the start.
        largest: Largest absolute error of a single weight.
    """

    step: int
    moved: float
    error: float
    largest: float


@dataclass(frozen=True)
class Wanted:
    """Snapshots that a training is asked for.

    Attributes:
        folder: Folder to write them to.
        number: How many, the first and the last step included; at least 3.
    """

    folder: Path
    number: int

    def record(
        self, model: PreTrainedModel, steps: int, checkpoints: Path, identity: Mapping[str, Any]
    ) -> Recorder:
        """What keeps them, see `darksecrets.paper.finetuning.training.Record`."""
        chosen = snapshot_steps(steps, self.number)
        return Recorder(model, chosen, checkpoints, identity, self.folder)


def snapshot_steps(total: int, number: int) -> list[int]:
    """Steps of snapshots: 0, the last, and others that are partly even, partly geometric.

    Much happens in the first steps, which even spacing alone would miss; but with a warm-up, the
    learning rate of the very first is 0.

    Args:
        total: Steps of the training.
        number: Snapshots, at most; fewer if some of both kinds coincide.
    """
    even = np.linspace(0, total, max(2, number // 2))
    geometric = (
        np.geomspace(min(2, total), total, number - len(even) + 1) if number > len(even) else ()
    )
    return sorted({round(float(step)) for step in (*even, *geometric)})


class Recorder(TrainerCallback):
    """Writes snapshots of a training beside its checkpoints, so that a resumed one has them all.

    Args:
        model: The model as training begins, on any device.
        steps: Steps to keep.
        folder: Folder of the training's checkpoints.
        identity: Everything that the training depends on.
        output: Folder to write the snapshots of the finished training to.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        steps: Sequence[int],
        folder: Path,
        identity: Mapping[str, Any],
        output: Path,
    ) -> None:
        self.steps, self.folder, self.identity = list(steps), folder, dict(identity)
        self.output = output
        self.start = {name: _copy_to_cpu(each).clone() for name, each in model.named_parameters()}

    def usable(self, step: int) -> bool:
        """Whether all snapshots up to a step are as they were written: only then may it resume."""
        files = whole(self.folder.glob(_FILES))
        return {self.file(each) for each in self.steps if each <= step} <= set(files)

    def file(self, step: int) -> Path:
        """The unfinished training's file of a step."""
        return self.folder / _name(step)

    def on_train_begin(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: Any
    ) -> None:
        """Write the snapshot of step 0."""
        if state.global_step == 0:
            self._write(0, others["model"])

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **others: Any
    ) -> None:
        """Write the snapshot of a step, if it is to be kept."""
        if state.global_step in self.steps:
            self._write(state.global_step, others["model"])

    def save(self) -> None:
        """Write the finished training's snapshots and their index."""
        with atomic(self.output) as temporary:
            temporary.mkdir()
            described = []
            for step in self.steps:
                shutil.copyfile(self.file(step), temporary / _name(step))
                described.append(asdict(_described(self.file(step))[0]))
            norms = {name: _norm(tensor) for name, tensor in self.start.items()}
            shapes = {name: list(tensor.shape) for name, tensor in self.start.items()}
            content = {"run": self.identity, "norms": norms, "shapes": shapes}
            write_json({**content, "snapshots": described}, temporary / INDEX)

    def _write(self, step: int, model: PreTrainedModel) -> None:
        changes, sums, largest = {}, np.zeros(2), 0.0
        with torch.no_grad():
            for name, parameter in model.named_parameters():
                change = _copy_to_cpu(parameter).double() - self.start[name].double()
                if change.any():
                    changes[name] = change.to(torch.bfloat16).contiguous()
                    error = changes[name].double() - change
                    sums += [float((change**2).sum()), float((error**2).sum())]
                    largest = max(largest, float(error.abs().max()))
        moved, wrong = np.sqrt(sums)
        about = Snapshot(step, float(moved), float(wrong / moved) if moved else 0.0, largest)
        with atomic(self.file(step)) as temporary:
            # One entry, as several would be written in any order.
            described = json.dumps({**asdict(about), "run": _digest(self.identity)})
            save_file(changes, temporary, metadata={"snapshot": described})
        finish(self.file(step))


class Snapshots:
    """The snapshots of a finished training.

    Args:
        folder: What `Recorder.save` wrote.

    Attributes:
        run: What the training depended on: ``task``, ``state``, ``seed``, settings, and
            fingerprints of ``model`` and ``data``.
        listed: The snapshots, by ascending step; the first is the start, the last the end.

    Raises:
        InputError: The folder is incomplete or damaged, or has files of different trainings.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        try:
            content = json.loads((folder / INDEX).read_bytes())
            self.run: dict[str, Any] = content["run"]
            self.listed = [Snapshot(**each) for each in content["snapshots"]]
            self._norms: dict[str, float] = content["norms"]
            self._shapes = {name: tuple(shape) for name, shape in content["shapes"].items()}
        except (OSError, ValueError, KeyError, TypeError, AttributeError) as error:
            raise InputError(
                f"{folder / INDEX}: there is no readable index of snapshots ({error}). {_AGAIN}"
            ) from None
        for each in self.listed:
            found, run = _described(folder / _name(each.step))
            if found != each or run != _digest(self.run):
                raise InputError(
                    f"{folder / _name(each.step)}: this snapshot is of another training, not "
                    f"step {each.step} of the one in {INDEX}. {_AGAIN}"
                )

    def check(self, model: PreTrainedModel, /, **expected: object) -> None:
        """Check that a model is the one that this training began with.

        Args:
            model: The model to check.
            expected: Entries of ``run``, such as ``task``, ``state`` and ``seed``.

        Raises:
            InputError: It is not, or an entry of ``run`` is another.
        """
        for name, value in expected.items():
            if self.run.get(name) != value:
                raise InputError(
                    f"{self.folder}: these snapshots are of a training with {name} "
                    f"{self.run.get(name)}, not {value}. {_AGAIN}"
                )
        parameters = dict(model.named_parameters())
        for name in {**self._shapes, **parameters}:
            found = tuple(parameters[name].shape) if name in parameters else None
            if found != self._shapes.get(name):
                raise InputError(
                    f"{self.folder}: found {name} of {_words(self._shapes.get(name))} numbers in "
                    f"the snapshots and {_words(found)} in the model. Expected the model that the "
                    f"training began with. {_AGAIN}"
                )
            norm = _norm(parameters[name])
            if not np.isclose(norm, self._norms[name], rtol=_SAME_NORM, atol=0):
                raise InputError(
                    f"{self.folder}: these snapshots are of a training that began with other "
                    f"weights: {name} has a norm of {self._norms[name]:.6g} there and of "
                    f"{norm:.6g} in the model that the run began with. {_AGAIN}"
                )

    def read(self) -> Iterator[tuple[int, dict[str, Tensor]]]:
        """Step and differences from the start, float32, of each snapshot; one is kept in memory.

        Parameters that have not moved are left out.
        """
        for each in self.listed:
            yield each.step, self.at(each.step)

    def at(self, step: int) -> dict[str, Tensor]:
        """Differences from the start, float32, of the snapshot of one step."""
        with _opened(self.folder / _name(step)) as content:
            names = content.keys()
            return {name: content.get_tensor(name).float() for name in names}


_AGAIN = "Remove this folder and run again: the training is repeated."


def _name(step: int) -> str:
    return f"step-{step:07d}.safetensors"


def _opened(file: Path) -> Any:
    try:
        return safe_open(file, framework="pt")
    except (OSError, SafetensorError) as error:
        raise InputError(f"{file} is no readable snapshot ({error}). {_AGAIN}") from None


def _described(file: Path) -> tuple[Snapshot, str]:
    """A file's own description, and the digest of its training's identity."""
    with _opened(file) as content:
        metadata = content.metadata() or {}
    try:
        about = json.loads(metadata["snapshot"])
        run = about.pop("run")
        return Snapshot(**about), run
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise InputError(f"{file} does not describe a snapshot ({error}). {_AGAIN}") from None


def _digest(identity: Mapping[str, Any]) -> str:
    return hashlib.sha256(json.dumps(identity, sort_keys=True).encode()).hexdigest()


def _norm(tensor: Tensor) -> float:
    return float(_copy_to_cpu(tensor).double().norm())


def _copy_to_cpu(tensor: Tensor) -> Tensor:
    return tensor.detach().cpu()


def _words(shape: tuple[int, ...] | None) -> str:
    return "no" if shape is None else " × ".join(map(str, shape))
