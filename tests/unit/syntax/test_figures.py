"""Figures of trees and of subjects from tables that lack something."""

from __future__ import annotations

import pytest
from drawn import draw_with
from made_up_figures import table

from darksecrets.run.errors import InputError
from darksecrets.syntax import attention_to_subjects, attention_trees
from darksecrets.syntax.tables import (
    ATTENTION_TREES,
    DISTRACTORS,
)


def test_trees_need_the_pre_trained_model() -> None:
    trees = table(ATTENTION_TREES)
    with pytest.raises(InputError, match="no rows with state pretrained"):
        draw_with(attention_trees.draw, [], table=trees[trees["state"] == "random"])


def test_a_treebank_without_distractors_says_so() -> None:
    found = table(DISTRACTORS)
    some = found[found["distractors"].isin(["any", "1"])]
    figure = draw_with(attention_to_subjects.draw, [], table=some)
    assert [axes.get_label() for axes in figure.axes] == ["any", "1"]
    none = draw_with(attention_to_subjects.draw, [], table=found.head(0))
    (text,) = (text.get_text() for axes in none.axes for text in axes.texts)
    assert text.startswith("No verb")
