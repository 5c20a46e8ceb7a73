"""Figures of trees and of subjects: what is drawn is what the tables say."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from drawn import axes_named, cells_of, draw_with, line_named
from made_up_figures import table
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from darksecrets.plotting import kit
from darksecrets.run.errors import InputError
from darksecrets.syntax import attention_to_subjects, attention_trees, syntactic_changes
from darksecrets.syntax.tables import (
    ATTENTION_TREES,
    DEPENDENT_TO_HEAD,
    DISTRACTORS,
    HEAD_TO_DEPENDENT,
    SYNTACTIC_CHANGES,
)

SCORES = {"uuas": "Without direction (UUAS)", "uas": "With direction (UAS)"}
MAPS = {
    DEPENDENT_TO_HEAD: "dependents → heads heads",
    HEAD_TO_DEPENDENT: "heads → dependents heads",
}


def panels(figure: Figure) -> list[str]:
    """Names of all axes but colour bars."""
    return [str(a.get_label()) for a in figure.axes if a.get_label() != "colour bar"]


def drawn(axes: Axes, colour: str) -> list[npt.NDArray[np.float64]]:
    """The heights of each line of a colour."""
    lines = (line for line in axes.lines if line.get_color() == colour)
    return [np.asarray(line.get_ydata(), dtype=np.float64) for line in lines]


def dots(axes: Axes, marker: str) -> list[tuple[int, float, bool]]:
    """The line of each marker of a kind, from 0, its value, and whether it is filled."""
    return sorted(
        (round(y), x, line.get_markerfacecolor() != "white")
        for line in axes.lines
        if line.get_marker() == marker
        for x, y in np.asarray(line.get_xydata()).tolist()
        if not np.isnan(x)
    )


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
    figure = draw_with(attention_trees.draw, [], table=trees)
    own = trees[trees["state"] == "pretrained"]
    for score, name in SCORES.items():
        axes = axes_named(figure, name)
        for direction, colour in ((DEPENDENT_TO_HEAD, kit.MARK), (HEAD_TO_DEPENDENT, "white")):
            (heights,) = drawn(axes, colour)
            expected = own.loc[own["direction"] == direction, score]
            np.testing.assert_allclose(np.sort(heights), np.sort(expected))
        (best,) = drawn(axes, "none")
        assert best.tolist() == own.loc[own["selected"], score].tolist()
        bars = [(bar.get_y(), bar.get_y() + bar.get_height()) for bar in axes.patches]  # type: ignore[attr-defined]
        random = trees[trees["state"] == "random"].groupby("layer")[score]
        np.testing.assert_allclose(bars, random.agg(["min", "max"]))
    chains = {
        n: [y[0] for y in drawn(axes_named(figure, n), kit.BASELINE)] for n in SCORES.values()
    }
    assert list(chains.values()) == [[0.3], [0.1, 0.2]]
    for direction, name in MAPS.items():
        means = own[own["direction"] == direction].groupby(["layer", "head"])["uuas"].mean()
        np.testing.assert_allclose(cells_of(figure, name), means.unstack())
        places = [np.asarray(line.get_xydata()).tolist() for line in axes_named(figure, name).lines]
        best_head = [[2.5, 1.5]] if direction == DEPENDENT_TO_HEAD else []
        assert places == [best_head], "head 3 of layer 2, in one direction"


def test_trees_of_one_layer_and_head(trees: pd.DataFrame) -> None:
    one = trees[(trees["layer"] == 2) & (trees["head"] == 3)].assign(layer=1, head=1)
    figure = draw_with(attention_trees.draw, [], table=one)
    assert panels(figure) == [*SCORES.values(), *MAPS.values()]


def test_trees_need_the_pre_trained_model(trees: pd.DataFrame) -> None:
    with pytest.raises(InputError, match="no rows with state pretrained"):
        draw_with(attention_trees.draw, [], table=trees[trees["state"] == "random"])


def test_subjects_are_drawn_by_layer_beside_their_controls() -> None:
    found = table(DISTRACTORS)
    figure = draw_with(attention_to_subjects.draw, [], table=found)
    own = found[(found["state"] == "pretrained") & found["layer"].notna()]
    counts = ["any", "1", "2", "3 or more"]
    assert panels(figure) == counts
    for count in counts:
        axes, rows = axes_named(figure, count), own[own["distractors"] == count]
        for name, column in (("subject", "share"), ("nearest", "nearest"), ("random", "random")):
            line = line_named(axes, name)
            np.testing.assert_allclose(np.asarray(line.get_xdata(), dtype=float), rows["layer"])
            np.testing.assert_allclose(np.asarray(line.get_ydata(), dtype=float), rows[column])
        assert drawn(axes, kit.BASELINE)[0][0] == rows["uniform"].iloc[0]
        assert f"n = {rows['verbs'].iloc[0]}" in axes.get_title()


def test_a_treebank_without_distractors_says_so() -> None:
    found = table(DISTRACTORS)
    some = found[found["distractors"].isin(["any", "1"])]
    assert panels(draw_with(attention_to_subjects.draw, [], table=some)) == ["any", "1"]
    none = draw_with(attention_to_subjects.draw, [], table=found.head(0))
    (text,) = (text.get_text() for axes in none.axes for text in axes.texts)
    assert text.startswith("No verb")


def test_changes_are_drawn_for_every_label_and_seed() -> None:
    found = table(SYNTACTIC_CHANGES)
    tasks = list(dict.fromkeys(found["task"]))
    figure = draw_with(syntactic_changes.draw, tasks, table=found)
    assert panels(figure) == tasks
    labels = list(dict.fromkeys(found["label"]))
    for task in tasks:
        axes = axes_named(figure, task)
        rows = found[(found["task"] == task) & (found["state"] == "finetuned")]
        places = rows["label"].map(labels.index)
        sure = rows["q_value"] < 0.05
        assert dots(axes, "o") == sorted(zip(places, rows["change"], sure, strict=True))
        others = [(place, value) for place, value, _ in dots(axes, "|")]
        assert others == sorted(zip(places, rows["change_of_others"], strict=True))
        new = [
            (a.direction, a.layer, a.head) != (a.best_direction, a.best_layer, a.best_head)
            for a in rows.itertuples()
        ]
        expected = sorted(zip(places[new], rows.loc[new, "best_change"], strict=True))
        assert [(place, value) for place, value, _ in dots(axes, "x")] == expected
    with pytest.raises(InputError, match="no rows with task other"):
        draw_with(syntactic_changes.draw, ["other"], table=found)
