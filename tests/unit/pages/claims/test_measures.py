"""Claims decided by other measures of attention: the same rules, other tables."""

import pandas as pd
import pytest
from claim_cases import CASES
from claim_tables import NO, OPEN, PAPERS, RUN, YES, whole

from darksecrets.beyond.attention_measures.declared import REPLACED
from darksecrets.pages.claims import deciding, measures
from darksecrets.pages.claims.sources import Tables
from darksecrets.pages.claims.tables import CLAIMS_BY_MEASURE
from darksecrets.pages.contracts import TABLES

PAPER = PAPERS["kovaleva2019"]
DECIDED = ["13", "26", "27", "28", "29", "30", "31", "32", "33", "34", "35", "36", "15"]


@pytest.mark.parametrize("claim", DECIDED)
def test_each_measure_is_decided_by_its_own_tables(claim):
    case = CASES[claim]
    others = {"norms": whole(case[NO]), "effective": whole(case[OPEN])}
    papers = measures.concerned([PAPER], REPLACED)
    found = measures.table(papers, Tables(whole(case[YES]), TABLES), RUN, others, REPLACED)
    rows = found[found["id"] == claim].set_index("attention")
    assert rows["verdict"].to_dict() == {"weights": YES, "norms": NO, "effective": OPEN}
    assert set(rows["agreement"]) == {"contradicted"}
    CLAIMS_BY_MEASURE.check(found, "table", "")
    for measure, answer in (("weights", YES), ("norms", NO)):
        frames = case[answer]
        alone = (
            deciding.table(papers, Tables(whole(frames), TABLES), RUN).set_index("id").loc[claim]
        )
        for name in ("value", "ci_low", "reason", "needs", "estimates"):
            same = rows.loc[measure, name], alone[name]
            assert same[0] == same[1] or pd.isna(list(same)).all()


def test_answers_agree_or_contradict_each_other_or_stay_open():
    assert measures.agreement([NO, NO, NO]) == "same answer"
    assert measures.agreement([OPEN, OPEN]) == "same answer"
    assert measures.agreement([YES, OPEN, YES]) == "undecided by some"
    assert measures.agreement([YES, NO, OPEN]) == "contradicted"


def test_claims_without_tables_of_maps_or_about_weights_only_are_left_out():
    (paper,) = measures.concerned(PAPERS.values(), REPLACED)
    assert paper.name == "kovaleva2019"
    assert {claim.id for claim in paper.claims} == {*DECIDED, "47"}
    assert measures.concerned(PAPERS.values(), []) == []
    reasons = {claim.id for claim in PAPER.claims if claim.weights_only}
    assert reasons == {*map(str, range(10, 13)), "19", "20", "45", "54"}


def test_a_table_that_is_lost_leaves_claims_open_by_that_measure_only():
    case = CASES["26"]
    papers = measures.concerned([PAPER], REPLACED)
    found = measures.table(papers, Tables(whole(case[YES]), TABLES), RUN, {"norms": {}}, REPLACED)
    rows = found[found["id"] == "26"].set_index("attention")
    assert rows["verdict"].to_dict() == {"weights": YES, "norms": OPEN}
    assert rows.loc["norms", "reason"] == "attention_levels.csv by norms is missing"
