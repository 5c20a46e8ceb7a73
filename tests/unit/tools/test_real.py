"""The kept tables of the real run, and the parts of pages that are made from them."""

import json

import pandas as pd
import pytest

from darksecrets.pages.claims import registry
from tools.real import kept, pages, parts


@pytest.fixture
def run(tmp_path, monkeypatch):
    """A folder like that of a finished run, and an empty place to keep its tables."""
    monkeypatch.setattr(kept, "KEPT", tmp_path / "kept")
    folder = tmp_path / "run"
    (folder / "tables").mkdir(parents=True)
    for table in kept.TABLES[kept.BEYOND]:
        rows = {"value": [1.5, 2.5], "selected": [True, False]}
        pd.DataFrame(rows).to_csv(folder / "tables" / f"{table}.csv", index=False)
    (folder / "config.yaml").write_text("run: made-up\n")
    cost = {"rule": "finetune", "jobs": 2, "cpu": 7200.0, "memory": 1500.0}
    summary = {"facts": {"Commit": "abc"}, "costs": [cost]}
    (folder / "run.json").write_text(json.dumps(summary))
    return folder


def test_tables_are_kept_as_they_are_except_where_rows_are_selected(run):
    kept.keep(run, kept.BEYOND)
    table = kept.Run.kept(kept.BEYOND).table("learned")
    assert table["value"].tolist() == [1.5, 2.5]
    assert kept.Run.kept(kept.BEYOND).table("syntactic_heads")["value"].tolist() == [1.5]


def test_an_unfinished_run_is_refused_and_the_kept_tables_stay(run):
    kept.keep(run, kept.BEYOND)
    (run / "tables" / "claims.csv").unlink()
    with pytest.raises(kept.RealRunError, match=r"not finished; it lacks .*claims\.csv"):
        kept.keep(run, kept.BEYOND)
    assert len(kept.Run.kept(kept.BEYOND).table("claims")) == 2


def test_parts_replace_what_stands_between_their_comments(run, monkeypatch):
    kept.keep(run, kept.BEYOND)
    text = "It took <!--= hours-beyond -->7<!--/--> hours; commit <!--= commit-beyond --><!--/-->."
    filled = pages.fill(text, "page.md")
    assert filled == text.replace(">7<", ">2.0<").replace("--><!--/-->.", "-->abc<!--/-->.")
    assert pages.fill(filled, "page.md") == filled
    with pytest.raises(kept.RealRunError, match=r"page\.md names the part 'hour'"):
        pages.fill("<!--= hour --><!--/-->", "page.md")


def test_costs_are_in_minutes_and_gigabytes(run):
    kept.keep(run, kept.BEYOND)
    assert parts.costs(kept.BEYOND).splitlines()[4] == "| `finetune` | 2 | 120 | 1.5 |"


def test_every_claim_of_the_paper_belongs_to_one_question():
    (paper,) = (p for p in registry.read(registry.files()) if p.name == parts.KOVALEVA)
    named = [name for names in parts.QUESTIONS.values() for name in names]
    importance = "48"  # is decided by the analysis of this name, which the run does not make
    assert sorted([*named, importance]) == sorted(claim.id for claim in paper.claims)
