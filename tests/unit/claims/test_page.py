"""The page of claims."""

from __future__ import annotations

import re

import pytest
from claim_cases import CASES
from claim_tables import RUN, YES, whole

from darksecrets.claims import deciding, page, registry
from darksecrets.claims.sources import Tables
from darksecrets.claims.tables import CLAIMS
from darksecrets.contracts import TABLES

PAPERS = registry.read(registry.files())
CLAIMED = sum(len(paper.claims) for paper in PAPERS)


@pytest.fixture(scope="module")
def claims(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "claims.csv"
    frames = whole(CASES["37"][YES] | CASES["22"][YES])
    CLAIMS.write(deciding.table(PAPERS, Tables(frames, TABLES), RUN), path)
    return CLAIMS.read(path)


def test_markdown_has_a_row_for_every_claim(claims):
    text = page.markdown(PAPERS, claims, "run demo")
    rows = [line for line in text.splitlines() if line.startswith("| ")]
    assert len(rows) == len(PAPERS) + CLAIMED
    assert {line.count(" | ") for line in rows} == {7}
    (row,) = (line for line in rows if line.startswith("| 37 |"))
    assert "| 7 of 7 tasks | 2 [" in row
    assert row.endswith("| **holds** | above 0 | **holds** |")


def test_it_says_how_many_claims_hold(claims):
    text = page.markdown(PAPERS, claims, "run demo")
    (here,) = re.findall(r"In this run: (.*?)\. Verdicts", text)
    assert here == f"holds: 5, undecided: {CLAIMED - 5}"
    assert f"if none of {CLAIMED} claims held, up to about {CLAIMED / 20:.0f} would seem to" in text


def test_html_shows_the_same_and_escapes(claims):
    text = page.html(PAPERS, claims, "run <demo>")
    assert text.count("<tr>") == len(PAPERS) + CLAIMED
    assert "Claims: run &lt;demo&gt;" in text
    assert "<b>holds</b>" in text
    assert "**" not in text
    assert "2.9 &lt; 33.1" in text
