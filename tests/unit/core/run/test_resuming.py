"""Steps that a killed computation left, and which computation may use them."""

import json
from pathlib import Path

import numpy as np
import pytest

from darksecrets.core.run.arrays import read_arrays
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.resuming import different, read_identity, resuming, write_arrays

IDENTITY = {"sets": ["a"], "version": (1, 2), "heads": {1: [2]}}


def work(output, identity=IDENTITY, error=None, steps=2):
    """Do the steps that are missing; return those that were done before."""
    with resuming(output, identity, "step-*.npz") as folder:
        before = sorted(int(file.stem[-1]) for file in folder.glob("step-*.npz"))
        for step in set(range(steps)) - set(before):
            write_arrays({"square": np.array([step**2])}, folder / f"step-{step}.npz")
        if error:
            raise error
        values = [read_arrays(folder / f"step-{n}.npz")["square"].tolist() for n in range(steps)]
        output.write_text(json.dumps(values))
    return before


def names(folder):
    return sorted(path.name for path in folder.iterdir())


def test_a_computation_resumes_and_leaves_only_its_output(tmp_path):
    output = tmp_path / "output"
    with pytest.raises(KeyboardInterrupt):
        work(output, error=KeyboardInterrupt())
    assert names(tmp_path) == [".output.partial"]
    assert work(output, steps=3) == [0, 1]
    assert names(tmp_path) == ["output"]
    assert json.loads(output.read_text()) == [[0], [1], [4]]


@pytest.mark.parametrize(
    "change", [{"sets": ["b"]}, {"version": (1, 3)}, {"heads": {2: [2]}}, {"new": 1}]
)
def test_what_another_computation_left_is_removed(tmp_path, change):
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path / "output", error=KeyboardInterrupt())
    assert work(tmp_path / "output", {**IDENTITY, **change}) == []
    assert different(IDENTITY, {**IDENTITY, **change}) == list(change)


def test_steps_before_an_input_error_are_not_kept(tmp_path):
    with pytest.raises(InputError):
        work(tmp_path / "output", error=InputError("damaged"))
    assert names(tmp_path) == []


def test_without_finished_steps_nothing_is_left(tmp_path):
    with pytest.raises(OSError, match="full"):
        work(tmp_path / "output", error=OSError("full"), steps=0)
    assert names(tmp_path) == []


def left(tmp_path):
    """Leave two finished steps; return their folder."""
    with pytest.raises(KeyboardInterrupt):
        work(tmp_path / "output", error=KeyboardInterrupt())
    return tmp_path / ".output.partial"


def test_a_damaged_step_is_thrown_away_said_and_computed_again(tmp_path, caplog):
    step = left(tmp_path) / "step-1.npz"
    step.write_bytes(step.read_bytes()[:-9])
    assert work(tmp_path / "output") == [0]
    assert json.loads((tmp_path / "output").read_text()) == [[0], [1]]
    assert f"Discarded {step}, which cannot be used: {step}" in caplog.text


@pytest.mark.parametrize("damage", [Path.unlink, lambda file: file.write_text("{")])
def test_a_step_without_a_sound_record_is_computed_again(tmp_path, damage, caplog):
    folder = left(tmp_path)
    damage(folder / ".finished" / "step-0.npz.json")
    assert work(tmp_path / "output") == [1]
    assert "Discarded" in caplog.text


@pytest.mark.parametrize("content", ["", '{"sets"', "\0"])
def test_a_damaged_identity_is_that_of_another_computation(tmp_path, content, caplog):
    folder = left(tmp_path)
    (folder / "identity.json").write_text(content)
    assert work(tmp_path / "output") == []
    assert f"{folder / 'identity.json'} does not say" in caplog.text


def test_a_damaged_identity_of_a_chunk_is_named(tmp_path):
    (tmp_path / "identity.json").write_text("{")
    with pytest.raises(InputError, match=r"identity.json does not say"):
        read_identity(tmp_path)
