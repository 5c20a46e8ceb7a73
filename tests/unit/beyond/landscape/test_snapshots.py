"""Snapshots of a training: its start and end, their error, killed trainings, other trainings."""

from __future__ import annotations

import math
import shutil
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
import torch
from glue import TASKS
from safetensors.torch import load_file
from small_training import (
    STEPS_PER_EPOCH,
    break_off,
    finetune,
    flip,
    kill,
    same,
    save_inputs,
    weights,
)

from darksecrets.beyond.landscape.measure.snapshots import (
    INDEX,
    ROUNDING,
    Recorder,
    Snapshots,
    snapshot_steps,
)
from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

NUMBER = 6
LAST = 3 * STEPS_PER_EPOCH


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Folder of ``model`` and of a data set per task."""
    return save_inputs(tmp_path_factory.mktemp("inputs"))


@pytest.fixture(scope="module")
def uninterrupted(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A training without snapshots."""
    folder = tmp_path_factory.mktemp("uninterrupted")
    finetune(inputs, folder)
    return folder


@pytest.fixture(scope="module")
def followed(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """An uninterrupted training with snapshots."""
    folder = tmp_path_factory.mktemp("followed")
    finetune(inputs, folder, snapshots=NUMBER)
    return folder


def start(inputs: Path, seed: int = 3) -> PreTrainedModel:
    return load_classifier(inputs / "model", TASKS["MRPC"], seed)[0]


@pytest.mark.parametrize("total", [1, 2, 7, 30, 936, 36816])
@pytest.mark.parametrize("number", [3, 6, 8, 20])
def test_steps(total, number):
    """Both ends are included; of longer trainings, half are even and the rest geometric."""
    steps = snapshot_steps(total, number)
    assert steps == sorted(set(steps))
    assert (steps[0], steps[-1]) == (0, total)
    assert len(steps) <= min(number, total + 1)
    if total == 36816:
        assert len(steps) == number
        even = max(2, number // 2)
        for place in range(even):
            assert round(total * place / (even - 1)) in steps
        rest = number - even
        for place in range(rest):
            assert any(abs(step - 2 * (total / 2) ** (place / rest)) <= 0.5 for step in steps)


def test_results_are_the_same_bits_as_without(followed, uninterrupted):
    assert same(followed, uninterrupted)


def test_the_first_is_the_start_and_the_last_the_end(inputs, followed):
    """The start bit for bit; the end within the rounding of differences to bfloat16."""
    model, begun, ended = start(inputs), start(inputs).state_dict(), weights(followed)
    snapshots = Snapshots(followed / "snapshots")
    assert [each.step for each in snapshots.listed] == snapshot_steps(LAST, NUMBER)
    snapshots.check(model, task="MRPC", state="finetuned", seed=3)
    changes = dict(snapshots.read())
    assert changes[0] == {}, "nothing has moved"
    assert changes[LAST]
    for name, tensor in ended.items():
        found = begun[name] + changes[LAST].get(name, 0)
        allowed = ROUNDING * (tensor - begun[name]).abs() + 2**-23 * tensor.abs()
        assert ((found - tensor).abs() <= allowed).all(), name


def test_every_snapshot_is_of_its_step_with_the_error_stated(
    inputs, followed, tmp_path, monkeypatch
):
    """Against the weights in the model after each step, in float64 and number by number."""
    seen: dict[int, dict[str, torch.Tensor]] = {}
    write = Recorder._write

    def spy(self, step, model):
        seen[step] = {name: each.detach().clone() for name, each in model.named_parameters()}
        write(self, step, model)

    monkeypatch.setattr(Recorder, "_write", spy)
    finetune(inputs, tmp_path, snapshots=NUMBER)
    begun = dict(start(inputs).named_parameters())
    listed = {each.step: each for each in Snapshots(tmp_path / "snapshots").listed}
    for step, changes in Snapshots(tmp_path / "snapshots").read():
        squares = errors = largest = 0.0
        for name, tensor in seen[step].items():
            true = (tensor.double() - begun[name].detach().double()).numpy().ravel()
            stored = changes.get(name, torch.zeros_like(tensor)).double().numpy().ravel()
            for one, other in zip(true, stored, strict=True):
                squares, errors = squares + one**2, errors + (one - other) ** 2
                largest = max(largest, abs(one - other))
                assert abs(one - other) <= ROUNDING * abs(one)
        assert listed[step].moved == pytest.approx(math.sqrt(squares), rel=1e-9)
        assert listed[step].largest == largest
        if step:
            assert listed[step].error == pytest.approx(math.sqrt(errors / squares), rel=1e-9)
            assert 0 < listed[step].error < ROUNDING
    moved = [each.moved for each in listed.values()]
    assert moved[0] == 0 < moved[1] < moved[-1]
    dtypes = load_file(tmp_path / "snapshots" / f"step-{LAST:07d}.safetensors").values()
    assert {tensor.dtype for tensor in dtypes} == {torch.bfloat16}


def test_from_normal(inputs, tmp_path):
    finetune(inputs, tmp_path, state="finetuned-from-normal", epochs=1, snapshots=3)
    model, snapshots = start(inputs), Snapshots(tmp_path / "snapshots")
    with pytest.raises(InputError, match="began with other weights"):
        snapshots.check(model)
    draw_from_normal(model, 3, 0.02)
    snapshots.check(model, state="finetuned-from-normal")


# --- Killed and resumed -----------------------------------------------------------------------


def same_files(one: Path, other: Path) -> bool:
    names = [sorted(path.name for path in folder.iterdir()) for folder in (one, other)]
    return names[0] == names[1] and all(
        (one / name).read_bytes() == (other / name).read_bytes() for name in names[0]
    )


@pytest.mark.thorough
def test_killed_and_resumed_has_the_same_snapshots(inputs, followed, tmp_path):
    step = STEPS_PER_EPOCH + 3
    kill(inputs, tmp_path, step, snapshots=NUMBER)
    assert finetune(inputs, tmp_path, snapshots=NUMBER)["resumed_from_step"] == step
    assert same(tmp_path, followed)
    assert same_files(tmp_path / "snapshots", followed / "snapshots")
    assert not list(tmp_path.glob(".model.partial"))


@pytest.fixture(scope="module")
def interrupted(inputs: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """What a training leaves that is broken off after the checkpoints of steps 4 and 5."""
    return break_off(inputs, tmp_path_factory.mktemp("interrupted"), snapshots=NUMBER)


@pytest.mark.slow
@pytest.mark.parametrize(("damaged", "number"), [(True, NUMBER), (False, 20)])
def test_without_its_snapshots_a_checkpoint_is_not_resumed(
    damaged, number, inputs, interrupted, uninterrupted, tmp_path
):
    """One is damaged, or others are asked for than before."""
    shutil.copytree(interrupted, tmp_path, dirs_exist_ok=True)
    if damaged:
        flip(tmp_path / ".model.partial" / "step-0000002.safetensors")
    assert finetune(inputs, tmp_path, snapshots=number)["resumed_from_step"] is None
    assert same(tmp_path, uninterrupted)
    listed = Snapshots(tmp_path / "snapshots").listed
    assert [each.step for each in listed] == snapshot_steps(LAST, number)


def test_a_training_that_needs_no_snapshots_resumes_one_that_did(
    inputs, interrupted, uninterrupted, tmp_path
):
    shutil.copytree(interrupted, tmp_path, dirs_exist_ok=True)
    assert finetune(inputs, tmp_path)["resumed_from_step"] == 5
    assert same(tmp_path, uninterrupted)
    assert not (tmp_path / "snapshots").exists()


# --- Of another training ----------------------------------------------------------------------


@pytest.mark.parametrize(
    ("expected", "words"),
    [
        ({"seed": 4}, "training with seed 3, not 4"),
        ({"task": "RTE"}, "training with task MRPC, not RTE"),
        ({"model": "abc"}, ", not abc"),
    ],
)
def test_of_another_run(expected, words, inputs, followed):
    with pytest.raises(InputError, match=words):
        Snapshots(followed / "snapshots").check(start(inputs), **expected)


def test_of_a_start_with_other_weights_or_shapes(inputs, followed):
    snapshots = Snapshots(followed / "snapshots")
    with pytest.raises(InputError, match=r"classifier\.weight has a norm of"):
        snapshots.check(start(inputs, seed=4))
    with pytest.raises(InputError, match=r"found classifier\.bias of 2 numbers .* 1 in the model"):
        snapshots.check(load_classifier(inputs / "model", TASKS["STS-B"], 3)[0])


def test_files_of_two_trainings_are_refused(inputs, followed, tmp_path):
    finetune(inputs, tmp_path, seed=4, snapshots=NUMBER)
    name = f"step-{LAST:07d}.safetensors"
    shutil.copytree(followed / "snapshots", tmp_path / "mixed")
    shutil.copyfile(tmp_path / "snapshots" / name, tmp_path / "mixed" / name)
    with pytest.raises(InputError, match=f"{name}: this snapshot is of another training"):
        Snapshots(tmp_path / "mixed")
    shutil.copyfile(followed / "snapshots" / "step-0000002.safetensors", tmp_path / "mixed" / name)
    with pytest.raises(InputError, match=f"not step {LAST} of the one"):
        Snapshots(tmp_path / "mixed")


@pytest.mark.parametrize("damage", ["no index", "no JSON", "no file", "half a file"])
def test_damaged(damage, followed, tmp_path):
    folder = tmp_path / "snapshots"
    shutil.copytree(followed / "snapshots", folder)
    file = folder / "step-0000002.safetensors"
    if damage == "no index":
        (folder / INDEX).unlink()
    elif damage == "no JSON":
        (folder / INDEX).write_text("{")
    elif damage == "no file":
        file.unlink()
    else:
        file.write_bytes(file.read_bytes()[:40])
    with pytest.raises(InputError, match=r"no readable .*Remove this folder and run again"):
        Snapshots(folder)
