"""The page of claims."""

import pytest
from claim_cases import CASES
from claim_tables import CLAIMS, PAPERS, YES, decide_all, whole

from darksecrets.pages.claims import page, tables
from darksecrets.pages.claims.sources import Tables
from darksecrets.pages.contracts import TABLES


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "claims.csv"
    frames = whole(CASES["37"][YES] | CASES["22"][YES])
    tables.CLAIMS.write(decide_all(Tables(frames, TABLES)), path)
    return tables.CLAIMS.read(path)


def test_the_page_has_a_row_for_every_claim_and_counts_those_that_hold(claims):
    text = page.html(PAPERS.values(), claims, "run <demo>")
    assert text.count("<tr>") == len(PAPERS) + len(CLAIMS)
    assert "Claims: run &lt;demo&gt;" in text
    assert f"{len(CLAIMS)} claims. In this run: holds: " in text
    row = text.partition("<td>37</td>")[2].partition("</tr>")[0]
    assert "<td>7 of 7 tasks</td><td>2 [" in row
    assert row.endswith(
        "<td><b>holds</b></td><td>holds</td><td>–</td><td>above 0</td><td><b>holds</b></td>"
    )
    assert "2.9 &lt; 33.1" in text


@pytest.mark.parametrize(
    ("verdict", "random", "said"),
    [
        ("holds", "holds", "holds: not about training"),
        ("does not hold", "holds", "holds"),
        ("holds", "undecided", "undecided"),
        ("holds", "", "–"),
        ("holds", float("nan"), "–"),
    ],
)
def test_what_holds_of_random_weights_is_not_about_training(verdict, random, said):
    row = {"verdict": verdict, "verdict_on_random_weights": random}
    assert page.describe_random_weights(row) == said
