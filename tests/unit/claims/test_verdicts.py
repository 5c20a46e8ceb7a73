"""Every claim on made-up tables that make it hold, fail and stay open."""

from __future__ import annotations

import pytest
from claim_cases import CASES, PAPER, RUNS, UNANSWERED, UNDECIDABLE
from claim_tables import NO, OPEN, RUN, YES, Frames

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Run, Tables
from darksecrets.contracts import TABLES

PAPERS = {paper.name: paper for paper in registry.read(registry.files())}
CLAIMS_OF_PAPER = {claim.id: claim for claim in PAPERS[PAPER].claims}


def decide(name: str, frames: Frames, run: Run = RUN) -> deciding.Finding:
    tables = Tables(frames, TABLES)
    return deciding.decide(CLAIMS_OF_PAPER[name], PAPERS[PAPER].tasks, tables, run)


def test_every_claim_has_its_cases():
    """A claim that is added needs tables that make it hold, fail and stay open."""
    assert {*CASES, *UNDECIDABLE, *UNANSWERED, *RUNS} == set(CLAIMS_OF_PAPER)
    assert all(set(cases) == {YES, NO, OPEN} for cases in (*CASES.values(), *RUNS.values()))


def test_the_paper_makes_48_claims():
    assert list(CLAIMS_OF_PAPER) == [str(number) for number in range(1, 49)]


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_decided(name, answer):
    found = decide(name, CASES[name][answer])
    assert found.answer == answer, found
    assert found.reason


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("name", RUNS)
def test_a_claim_about_settings_is_decided(name, answer):
    assert decide(name, {}, RUNS[name][answer]).answer == answer


def test_claims_that_no_table_answers_stay_open():
    everything: Frames = {}
    for cases in CASES.values():
        everything |= cases[YES]
    for name in UNANSWERED:
        assert decide(name, everything).answer == OPEN
    for name, cases in UNDECIDABLE.items():
        found = decide(name, cases[OPEN])
        assert found.answer == OPEN
        assert found.decisive is not None, "our number is given all the same"


@pytest.mark.parametrize("name", [name for name in CASES if CLAIMS_OF_PAPER[name].tables])
def test_without_its_tables_a_claim_stays_open(name):
    found = decide(name, {})
    assert found.answer == OPEN
    assert "is not made by this run" in found.reason
