"""A training of a second, which tests of trainings share."""

import math
import os
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
import torch
from glue import TASKS
from hub.client import ROOT
from safetensors.torch import load_file
from toy_data import save_bert, save_dataset

from darksecrets.paper.finetuning import training

TRAIN, VALIDATION = 39, 21
SETTINGS: dict[str, Any] = {
    "batch_size": 4,
    "learning_rate": 3e-3,
    "max_length": 32,
    "precision": "float32",
}
STEPS_PER_EPOCH = math.ceil(TRAIN / SETTINGS["batch_size"])


def save_inputs(folder: Path) -> Path:
    """Save ``model`` and a data set per task in a folder."""
    save_bert(folder / "model")
    for name in ("MRPC", "STS-B", "SST-2"):
        save_dataset(folder / name, TASKS[name], TRAIN, VALIDATION)
    return folder


def finetune(
    inputs: Path,
    folder: Path,
    task: str = "MRPC",
    state: str = "finetuned",
    seed: int = 3,
    checkpoint_seconds: float = 300.0,
    **settings: Any,
) -> dict[str, Any]:
    return training.finetune(
        inputs / "model",
        inputs / task,
        folder / "model",
        task=TASKS[task],
        state=state,
        seed=seed,
        settings=training.Settings(**{**SETTINGS, **settings}),
        threads=1,
        scores=folder / "scores.csv",
        predictions=folder / "predictions.csv",
        curve=folder / "curve.csv",
        checkpoint_seconds=checkpoint_seconds,
    )


def weights(folder: Path) -> dict[str, torch.Tensor]:
    return load_file(folder / "model" / "model.safetensors")


def same(one: Path, other: Path) -> bool:
    """Whether two runs ended with the same bits and the same tables."""
    a, b = weights(one), weights(other)
    tables = ("scores.csv", "predictions.csv", "curve.csv")
    return (
        a.keys() == b.keys()
        and all(torch.equal(a[name], b[name]) for name in a)
        and all((one / t).read_bytes() == (other / t).read_bytes() for t in tables)
    )


KILLED = """
import os, signal
from pathlib import Path
import small_training
from darksecrets.paper.finetuning import training
save = training._Checkpoints.on_save
def on_save(self, args, state, control, **others):
    kill = state.global_step == {step}
    if not (kill and {unfinished}):
        save(self, args, state, control, **others)
    if kill:
        os.kill(os.getpid(), signal.SIGKILL)
training._Checkpoints.on_save = on_save
small_training.finetune(Path({inputs!r}), Path({folder!r}), checkpoint_seconds=0.0, **{settings})
"""


def kill(
    inputs: Path, folder: Path, step: int, *, unfinished: bool = False, **settings: Any
) -> None:
    """Kill a training, in a process of its own, at a step's checkpoint, which may be unfinished."""
    code = KILLED.format(
        step=step, unfinished=unfinished, inputs=str(inputs), folder=str(folder), settings=settings
    )
    path = [ROOT, ROOT / "tests", ROOT / "tests" / "unit"]
    own = {"PYTHONPATH": ":".join(map(str, path)), "OMP_NUM_THREADS": "1"}
    environment = os.environ | own
    done = subprocess.run([sys.executable, "-c", code], env=environment, capture_output=True)
    assert done.returncode == -9, done.stderr.decode()
    assert not (folder / "model").exists()


class InterruptedHereError(Exception):
    pass


def break_off(inputs: Path, folder: Path, **settings: Any) -> Path:
    """Break a training off after the checkpoints of steps 4 and 5."""
    save = training._Checkpoints.on_save

    def on_save(self: Any, args: Any, state: Any, control: Any, **others: Any) -> None:
        save(self, args, state, control, **others)
        if state.global_step == 5:
            raise InterruptedHereError

    with pytest.MonkeyPatch.context() as patched:
        patched.setattr(training._Checkpoints, "on_save", on_save)
        with pytest.raises(InterruptedHereError):
            finetune(inputs, folder, checkpoint_seconds=0.0, **settings)
    steps = sorted(path.name for path in (folder / ".model.partial").glob("checkpoint-*"))
    assert steps == ["checkpoint-4", "checkpoint-5"]
    return folder


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
