"""Figures of trees and of subjects: what is drawn is what the tables say."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from made_up_figures import table
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from darksecrets.plotting.style import BASELINE, GREY, MARK
from darksecrets.run.errors import InputError
from darksecrets.syntax.attention_to_subjects import attention_to_subjects
from darksecrets.syntax.attention_trees import attention_trees
from darksecrets.syntax.syntactic_changes import syntactic_changes
from darksecrets.syntax.tables import ATTENTION_TREES, DISTRACTORS, SYNTACTIC_CHANGES


def panels(figure: Figure) -> Iterator[Axes]:
    """All axes with a title."""
    return (axes for axes in figure.axes if axes.get_title(loc="left"))


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


def test_trees_of_every_head_are_drawn_beside_chains(trees: pd.DataFrame) -> None:
    uuas, uas, *maps = panels(attention_trees(trees, "run"))
    own = trees[trees["state"] == "pretrained"]
    for axes, score in ((uuas, "uuas"), (uas, "uas")):
        (dots,) = drawn(axes, MARK)
        expected = own.loc[own["direction"] == "dependent_to_head", score]
        np.testing.assert_allclose(np.sort(dots), np.sort(expected))
    assert [each[0] for each in drawn(uuas, BASELINE)] == [0.3]
    assert [each[0] for each in drawn(uas, BASELINE)] == [0.1, 0.2]
    bars = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in uuas.patches]  # type: ignore[attr-defined]
    random = trees[trees["state"] == "random"].groupby("layer")["uuas"]
    np.testing.assert_allclose(bars, random.agg(["min", "max"]))
    marks = [[line.get_xydata().tolist() for line in axes.lines] for axes in maps]  # type: ignore[union-attr]
    assert marks == [[[[3, 2]]], [[]]], "a dot on head 3 of layer 2, in one direction"


def test_trees_of_one_layer_and_head(trees: pd.DataFrame) -> None:
    one = trees[(trees["layer"] == 2) & (trees["head"] == 3)].assign(layer=1, head=1)
    assert len(list(panels(attention_trees(one, "run")))) == 4


def test_trees_need_the_pre_trained_model(trees: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="no rows of the state pretrained"):
        attention_trees(trees[trees["state"] == "random"], "run")
    with pytest.raises(InputError, match="missing: uuas"):
        attention_trees(trees.drop(columns="uuas"), "run")


def test_subjects_are_drawn_by_layer_beside_their_controls() -> None:
    found = table(DISTRACTORS)
    shown = list(panels(attention_to_subjects(found, "run")))
    own = found[(found["state"] == "pretrained") & found["layer"].notna()]
    counts = ["any", "1", "2", "3 or more"]
    assert len(shown) == len(counts)
    for axes, count in zip(shown, counts, strict=True):
        rows = own[own["distractors"] == count]
        np.testing.assert_allclose(drawn(axes, MARK)[0], rows["share"])
        np.testing.assert_allclose(drawn(axes, GREY)[0], rows["random"])
        assert drawn(axes, BASELINE)[0][0] == rows["uniform"].iloc[0]
        assert f"n = {rows['verbs'].iloc[0]}" in axes.get_title(loc="left")


def test_a_treebank_without_distractors_says_so() -> None:
    found = table(DISTRACTORS)
    some = attention_to_subjects(found[found["distractors"].isin(["any", "1"])], "run")
    assert len(list(panels(some))) == 2
    none = attention_to_subjects(found.head(0), "run")
    (text,) = (text.get_text() for axes in none.axes for text in axes.texts)
    assert text.startswith("No verb")


def test_changes_are_drawn_for_every_label_and_seed() -> None:
    found = table(SYNTACTIC_CHANGES)
    tasks = list(dict.fromkeys(found["task"]))
    shown = list(panels(syntactic_changes(found, tasks, "run")))
    assert len(shown) == len(tasks)
    for axes, task in zip(shown, tasks, strict=True):
        rows = found[(found["task"] == task) & (found["state"] == "finetuned")]
        dots = [line for line in axes.lines if line.get_marker() == "o"]
        places = [float(np.asarray(line.get_xdata())[0]) for line in dots]
        np.testing.assert_allclose(np.sort(places), np.sort(rows["change"]))
        filled = [line.get_color() == MARK for line in dots]
        by_place = dict(zip(rows["change"], rows["q_value"] < 0.05, strict=True))
        assert filled == [by_place[place] for place in places]
        (first, *_) = (line for line in axes.lines if line.get_marker() == "x")
        one = rows[rows["seed"] == rows["seed"].min()]
        new = one["best_change"].where(
            [
                (a.direction, a.layer, a.head) != (a.best_direction, a.best_layer, a.best_head)
                for a in one.itertuples()
            ]
        )
        np.testing.assert_allclose(np.asarray(first.get_xdata(), dtype=float), new)
    with pytest.raises(InputError, match="no rows of other"):
        syntactic_changes(found, ["other"], "run")
