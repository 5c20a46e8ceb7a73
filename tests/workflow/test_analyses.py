"""Analyses beyond the paper: by name, beside the paper, and added with files alone."""

import json
import shutil
from pathlib import Path

import pandas as pd
import pytest
import yaml
from planning import dry_run
from shipped import FEW, MODEL, WORDS

from darksecrets.beyond import analyses
from darksecrets.core.attention.store import AttentionStore

NEW = Path(__file__).with_name("new_analysis")
BUDGETS = {"paper": 90, "all": 200}
"""Jobs of the demonstration, at most."""
DEMONSTRATION = Path(__file__).parents[2] / "config" / "config.yaml"


def rules_by_analysis(planned) -> dict[str, set[str]]:
    """Rules that each analysis alone has targets of, by its name."""
    results, made = planned.globals["RESULTS_OF"], {}
    for job in planned.dag.jobs:
        made |= dict.fromkeys(map(str, job.output), job.rule.name)
    folder = str(planned.globals["RESULTS"])
    return {
        name: {made[str(file).replace("<results>", folder)] for file in files}
        for name, files in results.items()
    }


@pytest.fixture(scope="module")
def whole():
    return dry_run(DEMONSTRATION, ["all"], analyses=["all"])


@pytest.fixture(scope="module")
def paper():
    return dry_run(DEMONSTRATION, ["all"])


def test_the_demonstration_keeps_its_budget_of_jobs(whole, paper):
    for planned, most in ((paper, BUDGETS["paper"]), (whole, BUDGETS["all"])):
        assert sum(job.rule.name != "all" for job in planned.dag.jobs) <= most


def test_an_analysis_that_is_off_adds_nothing_to_a_run(whole, paper):
    of = rules_by_analysis(whole)
    planned = {job.rule.name for job in paper.dag.jobs}
    assert of["paper"] <= planned
    for name in analyses.find():
        assert of[name], f"{name} has results"
        assert not planned & (of[name] - of["paper"])
    of_table = analyses.analyses_by_table()
    claims = next(job for job in paper.dag.jobs if job.rule.name == "claims")
    assert not [path for path in map(str, claims.input) if Path(path).stem in of_table]


def test_a_named_target_is_made_whatever_the_list_says(paper):
    jobs = {job.rule.name for job in dry_run(DEMONSTRATION, ["weights_and_norms"]).dag.jobs}
    assert "measure_norms" in jobs
    assert "measure_norms" not in {job.rule.name for job in paper.dag.jobs}


@pytest.mark.thorough
def test_an_analysis_is_added_with_files_alone(clone, tmp_path, snakemake):
    """One measure, one table, one figure and one claim, in a copy of the project."""
    before = {path: path.read_bytes() for path in clone.rglob("*") if path.is_file()}
    shutil.copytree(NEW, clone, dirs_exist_ok=True)
    assert all(path.read_bytes() == content for path, content in before.items())
    config = tmp_path / "own.yaml"
    entry = {"run": "own", "tasks": ["RTE", "SST-2"], "samples": {"size": 6}}
    entry["data"] = FEW
    entry |= {"model": MODEL, "annotation": WORDS, "first_tokens": {"examples": 4}}
    config.write_text(yaml.safe_dump(entry))

    plain = snakemake(tmp_path, "-n", root=clone, config=str(config)).stdout
    assert "first_token" not in plain
    config.write_text(yaml.safe_dump(entry | {"analyses": ["paper", "first_tokens"]}))
    planned = snakemake(tmp_path, "-n", root=clone, config=str(config)).stdout
    assert "measure_first_tokens" in planned
    assert "first_token_heads" in planned
    asked = snakemake(tmp_path, "-n", "claims", root=clone, config=str(config)).stdout
    assert "measure_first_tokens" in asked, "its claim is decided, too"

    snakemake(tmp_path, "first_token_heads", root=clone, config=str(config))
    results = tmp_path / "results" / "own"
    assert (results / "figures" / "first_token_heads.svg").is_file()
    table = pd.read_csv(results / "tables" / "first_tokens.csv")
    for task, rows in table.groupby("task"):
        store = AttentionStore.open(results / "attention" / str(task) / "pretrained")
        for row in rows.itertuples():
            total = 0.0
            for example in range(4):
                attention = store.maps(example)[row.layer - 1, row.head - 1].astype(float)
                total += sum(attention[i, 0] for i in range(len(attention))) / len(attention)
            assert row.share == pytest.approx(total / 4, rel=1e-6)
    record = json.loads((results / "records" / "measure_first_tokens.json").read_text())
    assert record["params"]["settings"] == {"tasks": ["RTE", "SST-2"], "examples": 4}
