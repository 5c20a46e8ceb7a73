"""Figures of trees and of subjects from tables that lack something."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from drawn import draw_with
from made_up_figures import table
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from darksecrets.run.errors import InputError
from darksecrets.syntax import attention_to_subjects, attention_trees
from darksecrets.syntax.tables import (
    ATTENTION_TREES,
    DISTRACTORS,
)


def panels(figure: Figure) -> list[str]:
    """Names of all axes but colour bars."""
    return [str(a.get_label()) for a in figure.axes if a.get_label() != "colour bar"]


def drawn(axes: Axes, colour: str) -> list[npt.NDArray[np.float64]]:
    """The heights of each line of a colour."""
    lines = (line for line in axes.lines if line.get_color() == colour)
    return [np.asarray(line.get_ydata(), dtype=np.float64) for line in lines]


@pytest.fixture
def trees() -> pd.DataFrame:
    """One head is the best, and exceeds the chain."""
    found = table(ATTENTION_TREES).assign(selected=False, chain=0.3, over_chain=-0.1, q_value=1.0)
    found = found.assign(right_chain=0.1, left_chain=0.2)
    best = (found["state"] == "pretrained") & (found["layer"] == 2) & (found["head"] == 3)
    best &= found["direction"] == "dependent_to_head"
    found.loc[best, ["selected", "over_chain", "q_value"]] = True, 0.2, 0.01
    return found


def test_trees_need_the_pre_trained_model(trees: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="no rows with state pretrained"):
        draw_with(attention_trees.draw, [], table=trees[trees["state"] == "random"])


def test_a_treebank_without_distractors_says_so() -> None:
    found = table(DISTRACTORS)
    some = found[found["distractors"].isin(["any", "1"])]
    assert panels(draw_with(attention_to_subjects.draw, [], table=some)) == ["any", "1"]
    none = draw_with(attention_to_subjects.draw, [], table=found.head(0))
    (text,) = (text.get_text() for axes in none.axes for text in axes.texts)
    assert text.startswith("No verb")
