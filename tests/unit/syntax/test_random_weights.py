"""An encoder that learned nothing, through all of the code: no better than the best offset."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from darksecrets.models.loading import Draw
from darksecrets.run.files import RESOURCES
from darksecrets.syntax import heads, trees
from darksecrets.syntax.measuring import Measured, measure
from darksecrets.syntax.tables import NO
from darksecrets.syntax.treebank import builtin

TINY = RESOURCES / "tiny-bert"
SENTENCES = builtin(240, 11)
DRAWS = [Draw(1, 0.02), Draw(2, 0.02), Draw(3, 0.2), Draw(4, 0.2)]
"""As BERT is initialised; and with ten times as large weights, so that attention is not even."""


@pytest.fixture(scope="module", params=DRAWS, ids=lambda draw: f"seed {draw.seed}, {draw.std}")
def measured(request: pytest.FixtureRequest) -> Measured:
    return measure(TINY, SENTENCES, max_length=64, batch_size=64, draw=request.param)


@pytest.fixture(scope="module")
def table(measured: Measured) -> pd.DataFrame:
    return heads.table(measured.read, measured.guesses, 5)


def test_the_best_head_is_no_better_than_the_best_offset(table: pd.DataFrame) -> None:
    """Each label's best head is chosen on one half of the sentences and scored on the other."""
    best = table[table["selected"]]
    assert len(best) == table["label"].nunique() > 8
    assert (best["over_offset_low"] <= 0).all(), best[["label", "accuracy", "at_offset"]]
    every = best[best["label"] == "all"].iloc[0]
    assert every["accuracy_high"] < every["at_offset"]


def test_no_head_is_called_syntactic(table: pd.DataFrame) -> None:
    assert (table["syntactic"] == NO).all()
    assert (table["p_value"] < 0.05).mean() < 0.05


def test_the_best_tree_is_no_better_than_the_chain(measured: Measured) -> None:
    found = trees.table(measured.read, measured.trees, 5)
    (best,) = found[found["selected"]].to_dict("records")
    assert best["over_chain_low"] <= 0
    assert not (found["q_value"] < 0.05).any()


def test_the_encoder_that_learned_is_better_than_the_offset() -> None:
    """The same code, and the weights that the tiny BERT was trained to have."""
    learned = measure(TINY, SENTENCES, max_length=64, batch_size=64)
    found = heads.table(learned.read, learned.guesses, 5)
    best = found[found["selected"]]
    assert np.count_nonzero(best["over_offset_low"] > 0) >= 3
