"""Fine-tuning on one task (section 3), from the pre-trained weights or randomly initialized.

Devlin et al. (2018): batches of 32, 3 epochs, Adam with decoupled weight decay, linear warm-up and
decay, dropout 0.1, gradients clipped to norm 1. AdamW corrects the bias of its first steps, as
Mosbach et al. (2021) and Zhang et al. (2021) advise; for small data sets, there are also a warm-up
in updates and top layers that are reinitialized. All randomness derives from two seeds, of the new
parameters and of the order of the examples (Dodge et al. 2020), which are the run's seed unless
they are given. A run that was killed and resumed ends with the same weights as one that was not.
"""

# ruff: noqa: ARG002 - the Trainer fixes the arguments of the methods that it calls

from __future__ import annotations

import contextlib
import functools
import logging
import math
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
import pandas as pd
import torch
import transformers
from transformers import (
    PrinterCallback,
    Trainer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
    set_seed,
)

from darksecrets.core.data import metrics
from darksecrets.core.data.batches import EncodedSplit, GroupedByLength, load_split
from darksecrets.core.models import devices, precision
from darksecrets.core.models.hooks import intervene
from darksecrets.core.models.losses import LabelScale, loss
from darksecrets.core.models.outputs import rescale_outputs
from darksecrets.core.models.quietly import quiet
from darksecrets.core.models.starting import Start, load_start
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, fingerprint, remove
from darksecrets.core.run.progress import progress
from darksecrets.core.run.resuming import finish, resuming
from darksecrets.core.run.states import FINETUNED, FROM_NORMAL
from darksecrets.paper.finetuning.divergence import Divergence, LossWatch
from darksecrets.paper.finetuning.evaluation import batch_size_for, evaluate, write_results
from darksecrets.paper.finetuning.graphs import MULTIPLE, StepGraphs
from darksecrets.paper.finetuning.tables import LEARNING_CURVES

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from transformers import PreTrainedModel

    from darksecrets.core.data.tasks import Task
    from darksecrets.core.models.hooks import Intervention


STATES = (FINETUNED, FROM_NORMAL)

CHECKPOINT_SECONDS = 300.0  # a checkpoint of BERT-base is 1.3 GB and takes seconds to write
CURVE_POINTS = 50  # training losses kept per run

_CHECKPOINTS = "checkpoint-*"

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Settings:
    """Section ``fine_tuning`` of a configuration; ``config/README.md`` explains the keys."""

    epochs: int = 3
    batch_size: int = 32
    learning_rate: float = 2e-5
    warmup: float = 0.1
    warmup_steps: int | None = None
    weight_decay: float = 0.01
    max_length: int = 128
    precision: str = "auto"
    from_normal_std: float = 0.02
    init_seed: int | None = None
    order_seed: int | None = None
    reinitialized_layers: int = 0

    def start(self, state: str, seed: int) -> Start:
        """What a fine-tuning of a state and seed begins with."""
        return Start.of(
            state,
            seed,
            std=self.from_normal_std,
            init_seed=self.init_seed,
            layers=self.reinitialized_layers,
        )

    def seed_of_order(self, seed: int) -> int:
        """Seed of the data order and of dropout."""
        return seed if self.order_seed is None else self.order_seed

    def warmup_updates(self, updates: int) -> int:
        """How many of a training's updates the learning rate rises in."""
        share = math.ceil(updates * self.warmup)
        return share if self.warmup_steps is None else self.warmup_steps


def finetune(
    model_folder: Path,
    dataset_folder: Path,
    output: Path,
    *,
    task: Task,
    state: str,
    seed: int,
    settings: Settings,
    threads: int,
    scores: Path,
    predictions: Path,
    curve: Path,
    removal: Intervention | None = None,
    checkpoint_seconds: float = CHECKPOINT_SECONDS,
) -> dict[str, Any]:
    """Fine-tune a model on the train split, scoring it on the validation split after every epoch.

    The last two checkpoints are kept beside ``output`` and removed at the end. When called again
    with the same arguments, the function resumes from the last one that is not damaged; checkpoints
    of other arguments are deleted. The number of threads may differ, but then sums are rounded
    differently.

    Args:
        model_folder: The pre-trained checkpoint.
        dataset_folder: A data set on disk, see the data contract.
        output: Folder to write the model and its tokenizer to.
        task: The data set's task.
        state: ``finetuned``, or ``finetuned-from-normal`` to begin with random weights.
        seed: Seed of the new parameters, the order of the examples and the dropout, unless the
            settings have seeds of their own for these.
        settings: Settings of the training.
        threads: Number of CPU threads.
        scores: File for the final scores, see `evaluation.write_results`.
        predictions: File for the final predictions.
        curve: File for the learning curve, see `learning_curve`.
        removal: What removes parts of the model, in training and scoring; its text identifies it.
        checkpoint_seconds: Time between checkpoints.

    Returns:
        For the record: the settings and the results of the training.

    Raises:
        InputError: Training diverges, or an input cannot be used.
    """
    torch.set_num_threads(threads)
    tokenizer = load_tokenizer(model_folder)
    train, validation = (
        load_split(dataset_folder, split, tokenizer, task, settings.max_length)
        for split in ("train", "validation")
    )
    model, new = _initial_model(model_folder, task, state, seed, settings)
    order_seed = settings.seed_of_order(seed)
    run = {
        "task": task.name,
        "state": state,
        "seed": seed,
        **asdict(settings),
        "init_seed": settings.start(state, seed).seed,
        "order_seed": order_seed,
        "precision": precision.resolve(settings.precision),
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    identity = {
        **run,
        **({"removal": str(removal)} if removal else {}),
        "model": fingerprint(model_folder),
        "data": [train.fingerprint(), validation.fingerprint()],
    }
    with resuming(output, identity, _CHECKPOINTS) as checkpoints:
        without = intervene(model, removal) if removal else contextlib.nullcontext()
        with deterministic(order_seed), without:
            trainer = FineTuner(model, train, validation, task, run, checkpoints)
            if trainer.args.device.type == "cuda" and not removal:
                trainer.capture_steps()
            last = next(reversed(_checkpoints(checkpoints)), None)
            trainer.run(last, checkpoint_seconds)
            rescale_outputs(model, trainer.scale)
        values = write_results(
            trainer.logits, validation, task, state, seed, scores=scores, predictions=predictions
        )
        LEARNING_CURVES.write(learning_curve(trainer.state.log_history, task, state, seed), curve)
        with atomic(output) as temporary, quiet():
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
    return {
        **run,
        "scores": values,
        **({"label_scale": asdict(trainer.scale)} if trainer.scale.is_needed else {}),
        "new_parameters": new,
        "device": str(model.device),
        "scoring_batch_size": trainer.scoring_batch_size,
        "steps": trainer.state.global_step,
        "resumed_from_step": _step(last) if last else None,
        "train_examples": len(train),
        "validation_examples": len(validation),
    }


def learning_curve(
    history: Sequence[Mapping[str, Any]], task: Task, state: str, seed: int
) -> pd.DataFrame:
    """Turn a Trainer's log into a tidy table.

    Returns:
        Rows of `LEARNING_CURVES`. Quantities of ``train``: ``loss``, the mean over the steps since
        the previous row. Of ``validation``, after every epoch: ``loss`` and the task's metrics
        (×100).
    """
    rows = []
    for entry in history:
        at = (task.name, state, seed, entry["step"], entry["epoch"])
        if "loss" in entry:
            rows.append((*at, "train", "loss", entry["loss"]))
        if "validation_loss" in entry:
            rows.append((*at, "validation", "loss", entry["validation_loss"]))
            rows += [(*at, "validation", m, 100 * entry[f"validation_{m}"]) for m in task.metrics]
    return pd.DataFrame(rows, columns=list(LEARNING_CURVES.names))


class FineTuner(Trainer):
    """A ``Trainer`` for one task: it resumes exactly, scores in float32, and stops on divergence.

    Args:
        model: The classifier to train.
        train: Examples to train on.
        validation: Examples to score after every epoch.
        task: Their task.
        run: The settings, with ``precision`` and ``order_seed`` resolved, and ``seed`` and
            ``state``.
        checkpoints: Folder for checkpoints.
        is_trained: Whether the model has learned before, and its outputs are in the unit of the
            labels; else they are on the scale of `LabelScale`.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        train: EncodedSplit,
        validation: EncodedSplit,
        task: Task,
        run: Mapping[str, Any],
        checkpoints: Path,
        *,
        is_trained: bool = False,
    ) -> None:
        self.scale = LabelScale.fit(task, train.labels)
        self.outputs_scale = self.scale if is_trained else LabelScale()
        self.task, self.details, self.checkpoints = task, run, checkpoints
        self.train_split, self.validation_split = train, validation
        self.steps_per_epoch = math.ceil(len(train) / run["batch_size"])
        self.logits: NDArray[np.float32] = np.empty((0, task.num_labels), np.float32)
        self.scoring_batch_size = 0
        self.watch = LossWatch.start(task, self.scale.standardize(train.labels))
        self.graphs: StepGraphs | None = None
        super().__init__(
            model=model,
            args=_arguments(run, self.steps_per_epoch * run["epochs"], checkpoints),
            train_dataset=range(len(train)),  # the collator makes a batch from row numbers
            eval_dataset=range(len(validation)),
            data_collator=self._batch,
        )
        self.remove_callback(PrinterCallback)

    @property
    def steps(self) -> int:
        """Steps of the whole training."""
        return int(self.steps_per_epoch * self.details["epochs"])

    def run(self, checkpoint: Path | None, checkpoint_seconds: float) -> None:
        """Train from the start or from a checkpoint; afterwards, ``logits`` are the final ones."""
        self.add_callback(_Checkpoints(self.steps_per_epoch, checkpoint_seconds))
        done = _step(checkpoint) if checkpoint else 0
        with progress(f"Fine-tuning {self.task.name}", self.steps, "steps", done) as advance:
            self.add_callback(Progress(advance, done))
            self.train(resume_from_checkpoint=str(checkpoint) if checkpoint else None)

    def capture_steps(self) -> None:
        """From now on, launch each step at once (`graphs`), if the model allows it."""
        model: Any = self.model
        self.graphs = StepGraphs(model, functools.partial(super().training_step, model))

    def training_step(
        self,
        model: torch.nn.Module,
        inputs: dict[str, torch.Tensor],
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> torch.Tensor:
        """Do a step as the Trainer does; stop if the loss shows that training has diverged."""
        value = self._captured_step(inputs)
        if value is None:
            value = super().training_step(model, inputs, num_items_in_batch)
        self.watch.add(self.state.global_step + 1, self._rate(), self.loss_of_task(value))
        if self.watch.is_due:
            self._check_losses()
        return value

    def loss_of_task(self, value: torch.Tensor) -> torch.Tensor:
        """The loss of the task within that of a step."""
        return value

    def log(self, *args: Any, **kwargs: Any) -> None:  # noqa: ANN401 - the Trainer's
        """Log as the Trainer does, which has just read a loss from the device."""
        self._check_losses()
        super().log(*args, **kwargs)

    def compute_loss(
        self,
        model: torch.nn.Module,
        inputs: dict[str, torch.Tensor],
        return_outputs: bool = False,
        num_items_in_batch: torch.Tensor | int | None = None,
    ) -> Any:  # noqa: ANN401 - loss, or loss and outputs
        """Loss in float32, from logits computed in the precision of the run.

        The Trainer's own mixed precision would also be active when the model is scored.
        """
        labels = inputs.pop("labels")
        mixed = self.details["precision"] == "bfloat16"
        with torch.autocast(labels.device.type, torch.bfloat16, enabled=mixed):
            outputs = model(**inputs)
        made = self.outputs_scale.standardize(outputs.logits.float())
        value = loss(self.task, made, self.scale.standardize(labels))
        return (value, outputs) if return_outputs else value

    def evaluate(self, *_: Any, **__: Any) -> dict[str, float]:  # noqa: ANN401 - the Trainer's
        """Score the validation split; the log history, and so checkpoints, keep the scores."""
        self._check_losses()
        split = self.validation_split
        model: Any = self.model
        self.scoring_batch_size = batch_size_for(model, split)
        logits = evaluate(model, split, f"Scoring {self.task.name}", self.scoring_batch_size)
        made = self.outputs_scale.standardize(logits)
        self.logits = self.scale.restore(made)
        if not np.isfinite(self.logits).all():
            found = "the model's outputs are not finite"
            raise self._diverged(Divergence(self.state.global_step, self._rate(), found))
        labels = torch.from_numpy(self.scale.standardize(split.labels))
        values = {
            "validation_loss": loss(self.task, torch.from_numpy(made), labels).item(),
            **{
                f"validation_{name}": value
                for name, value in metrics.compute(self.task, self.logits, split.labels).items()
            },
        }
        self.log(dict(values))
        return values

    def floating_point_ops(self, inputs: dict[str, Any]) -> int:
        """Count none: the count is not used, and takes a loop over all parameters per step."""
        return 0

    def _get_train_sampler(self, train_dataset: Any = None) -> GroupedByLength:  # noqa: ANN401
        return GroupedByLength(
            self.train_split.lengths, self.details["batch_size"], self.details["order_seed"]
        )

    def _batch(self, rows: list[int]) -> dict[str, torch.Tensor]:
        return self.train_split.batch(rows, MULTIPLE if self.graphs else 1)

    def _captured_step(self, inputs: dict[str, torch.Tensor]) -> torch.Tensor | None:
        """The loss of a step that is launched at once; None if steps are not captured."""
        if self.graphs is None:
            return None
        try:
            return self.graphs.run(inputs)
        except RuntimeError as error:
            _log.warning("Steps cannot be captured as CUDA graphs, which is slower: %s", error)
            self.graphs = None
            return None

    def _check_losses(self) -> None:
        divergence = self.watch.read()
        if divergence:
            raise self._diverged(divergence)

    def _rate(self) -> float:
        return float(self.lr_scheduler.get_last_lr()[0]) if self.lr_scheduler else math.nan

    def _diverged(self, divergence: Divergence) -> InputError:
        run = self.details
        return InputError(
            f"{run['task']}, {run['state']}, seed {run['seed']}: training diverged at step "
            f"{divergence.step} of {self.state.max_steps}: {divergence.found}, at a learning rate "
            f"of {divergence.rate:.3g} (peak {run['learning_rate']:.3g}, {run['precision']}). "
            "Lower fine_tuning.learning_rate, or raise fine_tuning.warmup, or set "
            "fine_tuning.precision to float32 if it is not."
        )


class _Checkpoints(TrainerCallback):
    """Saves checkpoints from time to time; all but the last one are removed before a new one.

    So there are never more than two, and one remains if the other turns out to be damaged.

    A checkpoint is saved when a training loss is logged, so that the next loss is a mean over the
    same steps in a resumed run; at the end of an epoch, it is saved after the scores.
    """

    def __init__(self, steps_per_epoch: int, seconds: float) -> None:
        self.steps_per_epoch, self.seconds = steps_per_epoch, seconds
        self.last, self.wanted = time.monotonic(), False

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        due = time.monotonic() - self.last >= self.seconds
        logged = state.global_step % args.logging_steps == 0
        self.wanted = due and logged and state.global_step < state.max_steps
        if self.wanted:
            for old in _checkpoints(Path(str(args.output_dir)))[:-1]:
                remove(old)
        if self.wanted and state.global_step % self.steps_per_epoch:
            control.should_save = True

    def on_epoch_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        control.should_save = self.wanted

    def on_save(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        finish(Path(str(args.output_dir)) / f"checkpoint-{state.global_step}")
        self.last, self.wanted = time.monotonic(), False


class Progress(TrainerCallback):
    """Reports progress in steps.

    Args:
        advance: To be called with the number of steps just done.
        done: Steps before a resumption.
    """

    def __init__(self, advance: Callable[[int], object], done: int) -> None:
        self.advance, self.done = advance, done

    def on_step_end(
        self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **_: object
    ) -> None:
        """Report the steps since the last report."""
        self.advance(state.global_step - self.done)
        self.done = state.global_step


def _initial_model(
    folder: Path, task: Task, state: str, seed: int, settings: Settings
) -> tuple[PreTrainedModel, list[str]]:
    """Load or initialize the model to train, and name the parameters that are random."""
    if state not in STATES:
        raise InputError(f"No state is called {state!r}. Choose one of {', '.join(STATES)}.")
    # On a CPU, the fused kernel has the slower backward pass.
    devices.use_float32()
    kernel: Literal["sdpa", "eager"] = "sdpa" if devices.best().type == "cuda" else "eager"
    return load_start(folder, task, settings.start(state, seed), kernel)


def settings_of(run: Mapping[str, Any]) -> Settings:
    """The settings among the details of a training."""
    return Settings(**{each.name: run[each.name] for each in fields(Settings)})


def _arguments(run: Mapping[str, Any], steps: int, checkpoints: Path) -> TrainingArguments:
    """The Trainer's arguments for the settings, on one device."""
    on_gpu = devices.best().type == "cuda"
    arguments = TrainingArguments(
        output_dir=str(checkpoints),
        num_train_epochs=run["epochs"],
        per_device_train_batch_size=run["batch_size"],
        learning_rate=run["learning_rate"],
        lr_scheduler_type="linear",
        warmup_steps=settings_of(run).warmup_updates(steps),
        weight_decay=run["weight_decay"],
        max_grad_norm=1.0,
        seed=run["order_seed"],
        data_seed=run["order_seed"],
        logging_steps=max(1, steps // CURVE_POINTS),
        logging_nan_inf_filter=False,  # a loss that is not finite must be seen
        eval_strategy="epoch",
        save_strategy="no",  # the callback decides
        remove_unused_columns=False,
        dataloader_pin_memory=on_gpu,
        accelerator_config={"non_blocking": on_gpu},
        disable_tqdm=True,
        report_to="none",
    )
    if arguments.n_gpu > 1:  # several GPUs would multiply the batch size
        arguments._n_gpu = 1
    return arguments


def _checkpoints(folder: Path) -> list[Path]:
    """Checkpoints in a folder, the last one last."""
    return sorted(folder.glob(_CHECKPOINTS), key=_step)


def _step(checkpoint: Path) -> int:
    return int(checkpoint.name.rsplit("-", 1)[1])


@contextlib.contextmanager
def deterministic(seed: int) -> Iterator[None]:
    """Seed every generator and use deterministic algorithms within a ``with`` block.

    The Trainer's ``full_determinism`` does the same, but cannot be undone and fills all new memory.
    """
    os.environ.setdefault("CUBLAS_WORKSPACE_CONFIG", ":4096:8")
    before = torch.are_deterministic_algorithms_enabled()
    memory: Any = torch.utils.deterministic
    fill = memory.fill_uninitialized_memory
    torch.use_deterministic_algorithms(True)
    memory.fill_uninitialized_memory = False
    set_seed(seed)
    try:
        yield
    finally:
        torch.use_deterministic_algorithms(before)
        memory.fill_uninitialized_memory = fill
