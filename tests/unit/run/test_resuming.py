"""Steps that a killed computation left, and which computation may use them."""

import json

import numpy as np
import pytest

from darksecrets.run.errors import InputError
from darksecrets.run.resuming import different, read_arrays, resuming, write_arrays

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
