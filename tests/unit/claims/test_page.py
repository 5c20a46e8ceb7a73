"""The page of claims."""

import pytest
from claim_cases import CASES
from claim_tables import CLAIMS, PAPERS, YES, decide_all, whole

from darksecrets.claims import page, tables
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "claims.csv"
    frames = whole(CASES["37"][YES] | CASES["22"][YES])
    tables.CLAIMS.write(decide_all(Tables(frames, TABLES)), path)
    return tables.CLAIMS.read(path)


def test_markdown_has_a_row_for_every_claim_and_counts_those_that_hold(claims):
    text = page.markdown(PAPERS.values(), claims, "run demo")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == len(PAPERS) + len(CLAIMS)
    assert {line.count(" | ") for line in rows} == {7}
    (row,) = (line for line in rows if line.startswith("| 37 |"))
    assert "| 7 of 7 tasks | 2 [" in row
    assert row.endswith("| **holds** | above 0 | **holds** |")
    findings = len(CLAIMS) - sum(claim.set_up for claim in CLAIMS.values())
    assert f"{findings} findings. In this run: holds: 5, does not hold: 1, undecided: " in text
    assert "Not findings: set-up: 5." in text
    order = [line.split(" | ")[0].strip("| ") for line in rows]
    assert order.index("4") < order.index("57") < order.index("3"), "findings come first"


def test_html_shows_the_same_and_escapes(claims):
    text = page.html(PAPERS.values(), claims, "run <demo>")
    assert text.count("<tr>") == len(PAPERS) + len(CLAIMS)
    assert "Claims: run &lt;demo&gt;" in text
    assert "2.9 &lt; 33.1" in text
    assert "**" not in text
