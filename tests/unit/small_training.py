"""A training of a second, which tests of trainings share."""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import pytest
import torch
from glue import TASKS
from safetensors.torch import load_file
from toy_data import save_bert, save_dataset

from darksecrets.finetuning import training
from darksecrets.finetuning.snapshots import Wanted

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
    snapshots: int | None = None,
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
        snapshots=Wanted(folder / "snapshots", snapshots) if snapshots else None,
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


class InterruptedHereError(Exception):
    pass


def break_off(monkeypatch: pytest.MonkeyPatch) -> None:
    """Break training off at the checkpoint of step 5."""
    save = training._Checkpoints.on_save

    def on_save(self: Any, args: Any, state: Any, control: Any, **others: Any) -> None:
        save(self, args, state, control, **others)
        if state.global_step == 5:
            raise InterruptedHereError

    monkeypatch.setattr(training._Checkpoints, "on_save", on_save)


def flip(file: Path) -> None:
    content = bytearray(file.read_bytes())
    content[len(content) // 2] ^= 1
    file.write_bytes(content)
