"""Every claim of every paper on made-up tables that make it hold, fail and stay open."""

import pytest
from claim_cases import ALSO, CASES
from claim_cases.seeds import ONE_SEED
from claim_tables import CLAIMS, NO, OPEN, RUN, YES, decide

GRID = "dodge2020"


def test_every_claim_has_its_cases():
    """A claim that is added needs tables that make it hold, fail (not by a test) and stay open."""
    assert {*CASES} == {*CLAIMS}
    for name, cases in CASES.items():
        tested = any(question.test for question in CLAIMS[name].questions)
        assert {YES, OPEN} | (set() if tested else {NO}) <= set(cases), name


@pytest.mark.parametrize(("name", "answer"), [(n, a) for n, cases in CASES.items() for a in cases])
def test_a_claim_is_decided(name, answer):
    for run in (
        (RUN, ONE_SEED) if CLAIMS[name].paper == GRID else (RUN,)
    ):  # a grid has its own seeds
        found = decide(name, CASES[name][answer], run)
        assert found.answer == answer, found
        assert found.reason


@pytest.mark.parametrize(("name", "answer", "frames"), ALSO)
def test_a_claim_is_decided_in_special_cases(name, answer, frames):
    assert decide(name, frames).answer == answer


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_or_their_rows_a_claim_stays_open(name):
    found = decide(name, {})
    assert found.answer == OPEN
    assert found.needs, "what is undecided says what would decide it"
    assert "is not made by this run" in found.reason
    empty = {table: frame.iloc[:0] for table, frame in CASES[name][YES].items()}
    found = decide(name, empty)
    assert found.answer == OPEN
    assert "has no rows" in found.reason


def test_only_papers_about_glue_share_data_with_a_run():
    """So the verdict on others is never more than not comparable."""
    papers = {claim.paper for claim in CLAIMS.values() if set(claim.data) <= set(RUN.shared)}
    assert papers == {"kovaleva2019", "michel2019", "prasanna2020"}
