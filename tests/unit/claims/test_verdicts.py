"""Every claim of every paper on made-up tables that make it hold, fail and stay open."""

import pandas as pd
import pytest
from claim_cases import ALSO, CASES
from claim_cases.kovaleva import RUNS, UNDECIDABLE
from claim_cases.seeds import ONE_SEED
from claim_tables import CLAIMS, NO, OPEN, PAPERS, RUN, YES, decide

from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES

GRID = "dodge2020"
SET_UP = {YES: "as in the paper: ", NO: "differs from the paper: ", OPEN: ""}


def test_every_claim_has_its_cases():
    """A claim that is added needs tables that make it hold, fail (not by a test) and stay open."""
    answered = {name for name, claim in CLAIMS.items() if claim.questions}
    assert {*CASES, *UNDECIDABLE, *RUNS} == answered
    for name, cases in CASES.items():
        tested = any(question.test for question in CLAIMS[name].questions)
        assert {YES, OPEN} | (set() if tested else {NO}) <= set(cases), name


def test_the_papers_claims_are_numbered():
    found = [claim.id for claim in PAPERS["kovaleva2019"].claims]
    assert found == [str(number) for number in range(1, 58)]


@pytest.mark.parametrize(("name", "answer"), [(n, a) for n, cases in CASES.items() for a in cases])
def test_a_claim_is_decided(name, answer):
    for run in (
        (RUN, ONE_SEED) if CLAIMS[name].paper == GRID else (RUN,)
    ):  # a grid has its own seeds
        found = decide(name, CASES[name][answer], run)
        assert found.answer == (Answer.SET_UP if CLAIMS[name].set_up else answer), found
        assert found.reason
        if CLAIMS[name].set_up:
            assert found.reason.startswith(SET_UP[answer])


@pytest.mark.parametrize(("name", "answer", "frames"), ALSO)
def test_a_claim_is_decided_in_special_cases(name, answer, frames):
    assert decide(name, frames).answer == answer


@pytest.mark.parametrize(("name", "answer"), [(n, a) for n, runs in RUNS.items() for a in runs])
def test_a_claim_about_settings_is_decided(name, answer):
    found = decide(name, {}, RUNS[name][answer])
    assert found.answer == Answer.SET_UP
    assert found.reason.startswith(SET_UP[answer])


def test_set_up_is_no_finding_whatever_its_number():
    """What the configuration, shipped labels and a file of links decide says nothing of a model."""
    assert {name for name, claim in CLAIMS.items() if claim.set_up} == {"3", "5", "6", "7", "14"}


@pytest.mark.parametrize("name", ["16", "17", "18"])
def test_heads_of_another_encoder_are_not_looked_for(name):
    """Head 1.2 is in every encoder; that of the paper's is in none of another size."""
    smaller = pd.DataFrame({"layer": [6], "head": [6]})
    everything = CASES[name][YES] | {"head_ablation": smaller}
    of_six = {table: frame[frame["layer"] <= 6] for table, frame in everything.items()}
    found = decide(name, Tables(of_six, TABLES))
    assert found.answer == Answer.NOT_APPLICABLE
    assert found.reason == "names heads of an encoder of 12 × 12; this run's has 6 × 6"


def test_claims_that_no_table_answers_stay_open():
    everything = {table: frame for cases in CASES.values() for table, frame in cases[YES].items()}
    for name in CLAIMS.keys() - CASES.keys() - UNDECIDABLE.keys() - RUNS.keys():
        assert decide(name, everything).answer == OPEN
    for name, cases in UNDECIDABLE.items():
        found = decide(name, cases[OPEN])
        assert found.answer == OPEN
        assert found.decisive is not None, "our number is given all the same"


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_or_their_rows_a_claim_stays_open(name):
    found, unknown = decide(name, {}), Answer.SET_UP if CLAIMS[name].set_up else OPEN
    assert found.answer == unknown
    assert bool(found.needs) == (unknown == OPEN), "what is undecided says what would decide it"
    assert "is not made by this run" in found.reason
    empty = {table: frame.iloc[:0] for table, frame in CASES[name][YES].items()}
    found = decide(name, empty)
    assert found.answer == unknown
    assert "has no such rows" in found.reason


def test_only_papers_about_glue_share_data_with_a_run():
    """So the verdict on others is never more than not comparable."""
    papers = {claim.paper for claim in CLAIMS.values() if set(claim.data) <= set(RUN.shared)}
    assert papers == {"kovaleva2019", "michel2019", "prasanna2020"}
