"""Tables of coreference: controls, tests and the best head."""

import numpy as np
import pandas as pd
import pytest
from adversarial import families, maps
from made_up_coreference import knowing, right
from made_up_syntax import story_texts

from darksecrets.beyond.syntax.declared import (
    ALL,
    BEST_HEAD,
    COREFERENCE_HEADS,
    COREFERENCE_METHODS,
    DISTANCE,
    METHODS,
    PRONOUN,
)
from darksecrets.beyond.syntax.measure.antecedents import WITHOUT_MODEL, Resolved
from darksecrets.beyond.syntax.measure.coreference_statistics import (
    _chosen,
    best_distance,
    tables,
)
from darksecrets.core.run.tables import identify

HEADS = [*maps.SIMPLE, "right"]
KNOWN = len(HEADS)


@pytest.fixture(scope="module")
def resolved() -> Resolved:
    return families.resolved(story_texts(60, 11), maps.SIMPLE, np.random.default_rng(0), (right,))


@pytest.fixture(scope="module")
def found(resolved: Resolved) -> tuple[pd.DataFrame, pd.DataFrame]:
    heads, methods = tables(resolved, 1)
    COREFERENCE_HEADS.check(identify(heads, None, "pretrained"), "x", "y")
    COREFERENCE_METHODS.check(identify(methods, None, "pretrained"), "x", "y")
    return heads, methods


def test_a_planted_head_is_always_right_and_the_only_one_to_stand_out(found):
    heads, methods = found
    planted = heads["head"] == KNOWN
    assert (heads.loc[planted, "accuracy"] == 1).all()
    assert (heads.loc[planted & (heads["kind"] == ALL), "p_family"] < 0.01).all()
    assert (heads.loc[~planted, "p_family"] > 0.05).all()
    best = methods[methods["method"] == BEST_HEAD]
    assert (best["head"] == KNOWN).all()
    assert (best["accuracy"] == 1).all()
    assert (best["chosen"] == 1).all()


def test_shares_are_those_of_plain_loops(resolved, found):
    heads, methods = found
    pronouns = [n for n, kind in enumerate(resolved.kind) if kind == 0]
    rows = heads[heads["kind"] == PRONOUN].set_index("head")
    for head in range(len(HEADS)):
        for name, values in (
            ("accuracy", resolved.heads),
            ("other_query", resolved.other_query),
            ("same_kind", resolved.same_kind),
        ):
            mean = sum(values[n, 0, head] for n in pronouns) / len(pronouns)
            assert rows.loc[head + 1, name] == pytest.approx(mean)
        mean = 0.0
        for form in range(4):  # the best of three rules for each form of choice
            own = [n for n in pronouns if resolved.form[n, 0, head] == form]
            mean += max(sum(resolved.of_form[n, r, 0, head] for n in own) for r in range(3))
        assert rows.loc[head + 1, "same_form"] == pytest.approx(mean / len(pronouns))
    totals = [sum(resolved.distances[n, far] for n in pronouns) for far in range(60)]
    assert rows["fixed_distance"].iloc[0] == pytest.approx(max(totals) / len(pronouns))
    assert best_distance(resolved, resolved.kind == 0) == 1 + totals.index(max(totals))
    own = methods[methods["kind"] == PRONOUN].set_index("method")
    assert own.loc[DISTANCE, "distance"] == 1 + totals.index(max(totals))
    for number, name in enumerate(WITHOUT_MODEL):
        mean = sum(resolved.methods[n, number] for n in pronouns) / len(pronouns)
        assert own.loc[name, "accuracy"] == pytest.approx(mean)
        assert own.loc[name, "gain"] == pytest.approx(1 - mean, abs=0.01)
    assert set(own.index) == set(METHODS)


def test_the_best_of_heads_that_guess_is_scored_where_it_was_not_chosen():
    rng = np.random.default_rng(0)
    sizes = np.full(40, 4)
    guessed = rng.binomial(4, 0.5, size=(len(sizes), 200)).astype(float)
    assert guessed.sum(axis=0).max() > 0.6 * sizes.sum(), "the best seems to know"
    found = _chosen(guessed, sizes, seed=1)
    assert found.mean == pytest.approx(0.5, abs=0.05)


def test_a_few_texts_have_no_best_head():
    rng = np.random.default_rng(0)
    few = families.resolved(story_texts(4, 2), {}, rng, (right, knowing))
    heads, methods = tables(few, 0)
    assert methods[["gain", "gain_low"]].isna().all(axis=None)
    assert methods.loc[methods["method"] == BEST_HEAD, "accuracy"].isna().all()
    assert (heads["p_family"] > 0.05).all()
    COREFERENCE_METHODS.check(identify(methods, None, "random/seed-1"), "x", "y")
    COREFERENCE_HEADS.check(identify(heads, None, "random/seed-1"), "x", "y")
