"""Kept results of benchmarks: their program is there, and so is what they were measured of."""

import re

import pandas as pd
import pytest
from hub.client import ROOT

from darksecrets.beyond.importance.declared import MLP_IMPORTANCE
from darksecrets.pages.contracts import TABLES
from darksecrets.paper.patterns.tables import LABELLING

RESULTS = ROOT / "benchmarks" / "results"
PAGES = sorted(RESULTS.glob("*.md"))
KNOWN = {**TABLES, **{table.name: table for table in (*LABELLING, MLP_IMPORTANCE)}}


@pytest.mark.parametrize("page", PAGES, ids=lambda page: page.stem)
def test_a_page_names_its_program_which_makes_it(page):
    text = page.read_text(encoding="utf-8")
    found = re.search(r"^Program: `(benchmarks/\w+\.py)`, commit `[0-9a-f]{7,}`\.$", text, re.M)
    assert found, "no program"
    source = (ROOT / found[1]).read_text(encoding="utf-8")
    family = page.stem.split("_")[0] if 'f"stages_' in source else page.stem
    assert re.search(rf'write_results\(\s*f?"{family}', source), found[1]
    assert page.with_suffix(".csv").is_file()
    assert re.search(r"^Machine: ", text, re.M)


def test_every_result_has_a_page():
    assert {file.stem for file in RESULTS.glob("*.csv")} == {page.stem for page in PAGES}


def test_inferences_are_of_tables_and_columns_that_exist():
    """Such as ``framenet_heads: p_value < 0.05`` or ``survival (f1): interval of mean_effect``."""
    inferences = pd.read_csv(RESULTS / "adversaries.csv")["inference"].unique()
    assert len(inferences) > 80
    for inference in inferences:
        name, _, statement = inference.partition(":")
        table = KNOWN[re.match(r"\w+", name)[0]]
        columns = {column.removesuffix("s") for column in table.names}
        words = {word.removesuffix("s") for word in re.findall(r"\w+", statement)}
        assert words & columns, inference


def test_the_page_of_controls_has_the_limits_that_were_found():
    page = (ROOT / "docs" / "methods" / "controls.md").read_text(encoding="utf-8")
    table = pd.read_csv(RESULTS / "adversaries.csv").set_index(["inference", "tried on"])
    assert not (table["kept"] == "no").any()
    rates = table.loc[table["truth"] == "limit", "share %"].map("{:.0f}".format)
    unsteady = "one head varies much more between seeds than the others"
    outliers = "equal models, outliers of infinite variance"
    heads, layers = (
        rates[f"{part}_ablation (pearson): q_value < 0.05, any", outliers]
        for part in ("head", "layer")
    )
    assert f"p < .05 in {rates['seed_effects: p_value < 0.05', unsteady]} % of cases" in page
    words = " ".join(page.split())
    assert f"for some head in {heads} % of models, for some layer in {layers} %" in words
    by_measure = table[table.index.get_level_values("inference").str.contains(r" by \w+:")]
    single = by_measure.index.get_level_values("inference").str.contains("p_value")
    worst = by_measure.loc[single & (by_measure["truth"] == "limit"), "share %"].max()
    assert f"below .05 in up to {worst:.0f} % of cases; corrected ones keep 5 %" in words
    corrected = by_measure[~single & (by_measure["truth"] != "power")]
    assert len(corrected) >= 6
    assert (corrected["share %"] <= 5).all()


def test_the_page_of_controls_has_the_ignorant_heads_that_pass():
    page = (ROOT / "docs" / "methods" / "controls.md").read_text(encoding="utf-8")
    table = pd.read_csv(RESULTS / "ignorant_heads.csv", index_col="head", keep_default_na=False)
    table = table.drop(columns="machine")
    real = [name for name in table if "473" in name or "STS-B" in name]
    ignorant = table[~table.index.str.startswith(("follows", "knows"))].replace("–", "")
    passed = ignorant[(ignorant != "").any(axis="columns")]
    kinds = passed.groupby(passed.index.str.partition(",").get_level_values(0)).first()
    assert set(kinds.index) == {
        "words of the same of 5 random classes",
        "nearest word of the same frequency",
        "all longer words on both sides",
    }
    assert (kinds[real] != "").any(axis="columns").sum() == 1
    words = " ".join(page.split())
    assert "On real texts one passes" in words
    assert "On generated texts two more" in words


def test_the_page_of_null_simulations_has_the_worst_of_every_inference():
    table = pd.read_csv(RESULTS / "adversaries.csv", keep_default_na=False)
    nulls = table[table["truth"] == "null"]
    page = (RESULTS / "adversaries.md").read_text(encoding="utf-8")
    part = page.partition("## Null")[2].partition("## Limit")[0]
    rows = [[cell.strip() for cell in line.split("|")[1:-1]] for line in part.splitlines()]
    told = {row[0]: row for row in rows if len(row) == 7}
    for inference, own in nulls.groupby("inference"):
        _, kinds, share, _, _, worst, kept = told[inference]
        assert int(kinds) == len(own)
        assert float(share) == own["share %"].max()
        assert not worst or own.set_index("tried on").loc[worst, "share %"] == float(share)
        failed = (own["kept"] == "no").sum()
        assert kept == (f"no, {failed}" if failed else "yes")
    # Two lines are above the rows.
    assert len(told) == nulls["inference"].nunique() + 2
