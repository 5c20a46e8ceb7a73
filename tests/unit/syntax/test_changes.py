"""What fine-tuning changes for the best heads: planted changes, none, and loops."""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from made_up_syntax import Rule, anywhere, guesses, offset, read, relation

from darksecrets.models.reading import Reading
from darksecrets.run.files import RESOURCES
from darksecrets.run.tables import identify
from darksecrets.syntax import changes, heads, measuring
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.pairs import halves
from darksecrets.syntax.tables import ALL, SYNTACTIC_CHANGES
from darksecrets.syntax.treebank import ROOT, builtin

SEED = 5
BEFORE: Mapping[str, Rule] = {
    "det": relation("det", 0.9),
    "dobj": relation("dobj", 0.9),
    "next": offset(1),
    "other": anywhere,
}
AFTER: Mapping[str, Rule] = {
    "det": relation("det", 0.9),
    "dobj": anywhere,
    "next": offset(1),
    "other": relation("dobj", 0.9),
}
"""*dobj* is followed by another head, which attended anywhere."""


@pytest.fixture(scope="module")
def sentences() -> list[Read]:
    return read(300, 1)


def guessed(sentences: list[Read], rules: Mapping[str, Rule], seed: int) -> list[Guess]:
    return guesses(sentences, [*rules.values()], np.random.default_rng(seed))


@pytest.fixture(scope="module")
def before(sentences: list[Read]) -> list[Guess]:
    return guessed(sentences, BEFORE, 0)


@pytest.fixture(scope="module")
def after(sentences: list[Read]) -> list[Guess]:
    return guessed(sentences, AFTER, 1)


@pytest.fixture(scope="module")
def table(sentences: list[Read], before: list[Guess], after: list[Guess]) -> pd.DataFrame:
    found = changes.table(sentences, before, after, SEED)
    SYNTACTIC_CHANGES.check(identify(found, "RTE", "finetuned/seed-1"), "here", "")
    return found.set_index("label")


def test_a_relation_that_moves_to_another_head_is_seen(table):
    moved, kept = table.loc["dobj"], table.loc["det"]
    assert (moved["head"], moved["best_head"]) == (2, 4)
    assert moved["change_high"] < -0.5
    assert abs(moved["change_of_others"]) < 0.1
    assert moved["q_value"] < 0.001
    assert moved["best_change_low"] < 0 < moved["best_change_high"]
    assert (kept["head"], kept["best_head"]) == (1, 1)
    assert kept["change_low"] < 0 < kept["change_high"]
    assert kept["p_value"] > 0.1


def test_heads_are_those_of_the_table_of_the_pre_trained_model(sentences, before, table):
    found = heads.table(sentences, before, SEED)
    best = found[found["selected"]].set_index("label").loc[table.index]
    for column in ("direction", "layer", "head", "arcs", "sentences"):
        assert (best[column] == table[column]).all()
    for end in ("", "_low", "_high"):
        np.testing.assert_allclose(table[f"pretrained{end}"], best[f"accuracy{end}"])
    before_of_others = best["same_distance"]
    assert ((before_of_others + table["change_of_others"]).between(-1e-9, 1)).all()


@pytest.mark.parametrize("label", [ALL, "dobj", "nsubj"])
def test_shares_and_intervals_are_those_of_a_loop(sentences, before, after, table, label):
    row = table.loc[label]
    direction = int(row["direction"] == "head_to_dependent")
    sums: list[tuple[int, int, int, int]] = []
    for number in np.flatnonzero(halves(sentences, SEED) == 1):
        sentence = sentences[number].sentence
        arcs = [
            (word, head)
            for word, (head, own) in enumerate(zip(sentence.heads, sentence.labels, strict=True))
            if head != ROOT and (own == label or label == ALL)
        ]
        hits = [
            sum(int(each[number][word, 0, at, direction] == head) for word, head in arcs)
            for each, at in (
                (before, row["head"] - 1),
                (after, row["head"] - 1),
                (after, row["best_head"] - 1),
            )
        ]
        sums.append((len(arcs), *hits))  # type: ignore[arg-type]
    sizes, first, second, best = np.array(sums, dtype=float).T
    assert row["pretrained"] == pytest.approx(first.sum() / sizes.sum())
    assert row["finetuned"] == pytest.approx(second.sum() / sizes.sum())
    assert row["change"] == pytest.approx((second - first).sum() / sizes.sum())
    if row["best_direction"] == row["direction"]:
        assert row["best"] == pytest.approx(best.sum() / sizes.sum())
    rng = np.random.default_rng(0)
    drawn = rng.integers(len(sizes), size=(4000, len(sizes)))
    resampled = (second - first)[drawn].sum(axis=1) / sizes[drawn].sum(axis=1)
    ends = np.quantile(resampled, [0.025, 0.975])
    np.testing.assert_allclose(row[["change_low", "change_high"]].astype(float), ends, atol=0.03)


def test_without_any_change_an_interval_has_the_width_of_three_in_n(table):
    """Student's would have none; the rule of three is the usual bound of what was never seen."""
    unchanged = table.loc["det"]
    found = changes._difference(np.zeros(250), np.ones(250))
    assert found.value == 0
    assert found.high == pytest.approx(-found.low)
    assert 3 / 250 < found.high < 6 / 250
    assert unchanged["change_low"] < unchanged["change"] < unchanged["change_high"]


def test_no_change_is_rarely_found(sentences):
    """Two draws of the same heads; 20 models, a family each."""
    found = [
        changes.table(
            sentences[:120],
            guessed(sentences[:120], BEFORE, 2 * draw),
            guessed(sentences[:120], BEFORE, 2 * draw + 1),
            SEED,
        )["q_value"].min()
        for draw in range(20)
    ]
    assert np.mean(np.array(found) < 0.05) <= 0.1


def test_what_selects_does_not_score(sentences, before):
    """A model that differs on the selecting half only has not changed; its best head may."""
    half = halves(sentences, SEED)
    other = [
        each if half[number] == 1 else np.full_like(each, -1) for number, each in enumerate(before)
    ]
    found = changes.table(sentences, before, other, SEED)
    for column in ("change", "change_of_others"):
        np.testing.assert_array_equal(found[column], 0)
    np.testing.assert_allclose(found["change_low"], -found["change_high"])
    assert (found["p_value"] == 1).all()


def test_guesses_alone_are_those_of_all_measures():
    sentences = builtin(12, 3)
    reading = Reading(RESOURCES / "tiny-bert", 64, 4)
    read, found = measuring.guess(reading, sentences)
    whole = measuring.measure(reading, sentences)
    assert [each.sentence for each in read] == [each.sentence for each in whole.read]
    for one, other in zip(found, whole.guesses, strict=True):
        np.testing.assert_array_equal(one, other)
