import numpy as np
import pandas as pd
import pytest

from darksecrets.core.interventions.results import SweepResult


def result(kinds=("baseline", "head", "layer")):
    sets = pd.DataFrame(
        {
            "kind": list(kinds),
            "layer": pd.array([None, 1, 2], dtype="Int64"),
            "head": pd.array([None, 3, None], dtype="Int64"),
            "name": ["nothing", "layer 1 head 3", "all of layer 2"],
        }
    )
    return SweepResult(
        sets, np.array([[0, 1], [1, 1], [0, 0]]), np.array([0, 1]), np.array([7, 4]), np.arange(2)
    )


def test_what_is_saved_is_read_back(tmp_path):
    result().save(tmp_path / "sweep")
    read = SweepResult.load(tmp_path / "sweep")
    pd.testing.assert_frame_equal(read.sets, result().sets)
    for name in ("predictions", "labels", "idx", "units"):
        assert np.array_equal(getattr(read, name), getattr(result(), name))


@pytest.mark.parametrize("kinds", [("head", "baseline", "layer"), ("baseline", "baseline", "head")])
def test_the_baseline_comes_first_and_once(kinds):
    with pytest.raises(ValueError, match="baseline"):
        result(kinds)
