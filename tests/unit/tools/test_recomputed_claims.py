"""Claims that kept runs decide are decided again from their kept tables, by other code."""

import shutil

import pandas as pd
import pytest
from recomputed_claims import CLAIMS, HOLDS, UNDECIDED, Tables

from darksecrets.core.run.files import RESOURCES
from darksecrets.pages.claims import registry
from tools.real import kept
from tools.real.parts import ENCODERS

FOLDER = kept.KEPT / kept.PAPER


def rows_of_claims(run):
    claims = pd.read_csv(kept.KEPT / run / "claims.csv", dtype={"id": str})
    return claims[claims["paper"] == "kovaleva2019"].set_index("id")


def tables_of_claims():
    """Names of the tables of each claim."""
    (paper,) = registry.read([RESOURCES / "claims" / "kovaleva2019.yaml"])
    return {str(claim.id): claim.tables for claim in paper.claims}


def are_kept(run, number):
    """Whether a run on the pages has the tables."""
    names = tables_of_claims()[number]
    return all((kept.KEPT / run / f"{name}.csv").is_file() for name in names)


RECOMPUTED = [(run, number) for run in ENCODERS for number in CLAIMS if are_kept(run, number)]


@pytest.mark.parametrize(("run", "number"), RECOMPUTED)
def test_a_claim_is_decided_as_on_the_page(run, number):
    expected = rows_of_claims(run).loc[number, "verdict_on_learned_tasks"]
    assert CLAIMS[number](Tables(kept.KEPT / run)) == expected


@pytest.mark.parametrize("run", ENCODERS)
def test_decided_claims_are_among_them(run):
    claims = rows_of_claims(run)
    decided = claims.index[claims["verdict_on_learned_tasks"] != UNDECIDED]
    assert {*decided} <= {*CLAIMS}
    assert {*decided} & {number for name, number in RECOMPUTED if name == run}


def test_tables_of_all_recomputed_claims_are_kept_of_the_next_run():
    tables = tables_of_claims()
    needed = {name for number in CLAIMS for name in tables[number]}
    assert needed <= {*kept.TABLES[kept.PAPER]}


def changed(folder, table, change):
    """The kept tables with one of them changed."""
    shutil.copytree(FOLDER, folder, ignore=shutil.ignore_patterns("*.html"))
    path = folder / f"{table}.csv"
    change(pd.read_csv(path)).to_csv(path, index=False)
    return Tables(folder)


def test_a_wider_interval_decides_less(tmp_path):
    def widen(rows):
        return rows.assign(ci_low=rows["ci_low"] - 1)

    assert CLAIMS["20"](Tables(FOLDER)) == HOLDS
    assert CLAIMS["20"](changed(tmp_path / "run", "last_layers", widen)) == UNDECIDED


def test_seeds_that_differ_decide_less(tmp_path):
    def scatter(rows):
        by = (rows["seed"] - 2) * 100
        return rows.assign(**{name: rows[name] + by for name in ("delta", "ci_low", "ci_high")})

    assert CLAIMS["44"](Tables(FOLDER)) == "does not hold"
    assert CLAIMS["44"](changed(tmp_path / "run", "layer_ablation", scatter)) == UNDECIDED
