"""A head's sentence names a relation, or coreference, only if the corrected test of the table does.

Tried on heads that know nothing: those that look at one place, one distance or anywhere, and those
of an encoder with random weights, both as if they were of the pre-trained encoder.
"""

from collections.abc import Mapping

import numpy as np
import pandas as pd
import pytest
from adversarial import families, maps
from made_up_coreference import right
from made_up_syntax import anywhere, guesses, offset, place, read, relation, story_texts

from darksecrets.beyond.syntax.declared import (
    ATTENTION_TREES,
    COREFERENCE_HEADS,
    OPEN,
    SYNTACTIC_HEADS,
    YES,
)
from darksecrets.beyond.syntax.measure import antecedents, heads
from darksecrets.beyond.syntax.measure.coreference_statistics import tables as of_coreference
from darksecrets.beyond.syntax.measure.running import measure, tables
from darksecrets.core.models.loading import Draw
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.series import Model, find_series, shape_of
from darksecrets.core.run.tables import identify
from darksecrets.pages.atlas.measures import SHOWN
from darksecrets.pages.atlas.sentences import describe

METRICS = {"RTE": ["accuracy"]}
RULES = [relation("dobj"), offset(1), offset(-1), place(0), place(-1), *[anywhere] * 7]
PRETRAINED = Model("pretrained", None)
TINY = RESOURCES / "tiny-bert"


def sentences(made: Mapping[str, pd.DataFrame]) -> list[str]:
    shape = shape_of(made)
    series = [one for shown in SHOWN for one in find_series(shown, made, METRICS, shape)]
    return describe(series, "RTE", PRETRAINED)


@pytest.fixture(scope="module")
def table() -> pd.DataFrame:
    found = read(300, 1)
    guessed = guesses(found, RULES, np.random.default_rng(0))
    return identify(heads.table(found, guessed, 5), None, "pretrained")


def test_only_the_head_that_follows_a_relation_is_said_to(table):
    (planted, *others) = sentences({SYNTACTIC_HEADS.name: table})
    assert planted.startswith("Follows dobj, ")
    assert "finds 100% of them; the best fixed distance, " in planted
    assert set(others) == {""}, "a place, a distance and chance are no syntax"


def test_a_relation_is_not_said_if_the_test_is_incomplete(table):
    undecided = table.assign(syntactic=table["syntactic"].replace(YES, OPEN))
    assert (undecided["q_value"] < 0.05).any()
    assert set(sentences({SYNTACTIC_HEADS.name: undecided})) == {""}
    uncorrected = table.assign(q_value=0.05)
    assert set(sentences({SYNTACTIC_HEADS.name: uncorrected})) == {""}


def test_what_chose_the_relation_is_not_its_score(table):
    """The relation that 7 heads that guess are best at has no better score by being chosen."""
    (shown,) = (each for each in SHOWN if each.table is SYNTACTIC_HEADS)
    (series,) = find_series(shown, {SYNTACTIC_HEADS.name: table}, METRICS, (1, len(RULES)))
    chosen = series.of("RTE", PRETRAINED, "accuracy")
    assert chosen is not None
    guessing = table[table["head"] > 5]
    greatest = guessing.groupby("head")["accuracy"].max()
    assert chosen[0, 5:].mean() < greatest.mean() - 0.02, "the greatest would flatter"


def test_only_the_head_that_knows_is_said_to_find_antecedents():
    resolved = families.resolved(
        story_texts(60, 11), maps.SIMPLE, np.random.default_rng(0), (right,)
    )
    found, _ = of_coreference(resolved, 1)
    (*others, planted) = sentences({COREFERENCE_HEADS.name: identify(found, None, "pretrained")})
    assert planted.startswith("Finds the antecedents of 100% of the pronouns")
    assert set(others) == {""}


def test_random_weights_have_no_such_sentence():
    """Their tables, as if they were those of the pre-trained encoder."""
    trees = [each.sentence for each in read(200, 2)]
    reading = Reading(TINY, 128, 32, Draw(1, 0.02))
    measured = measure(reading, trees)
    made = {
        table.name: rows
        for table, rows in tables({"pretrained": measured}, "pretrained", 5).items()
        if table in (SYNTACTIC_HEADS, ATTENTION_TREES)
    }
    resolved = antecedents.resolve_all(reading, story_texts(40, 3))
    found, _ = of_coreference(resolved, 1)
    made[COREFERENCE_HEADS.name] = identify(found, None, "pretrained")
    said = sentences(made)
    assert len(said) == 36
    assert set(said) == {""}
