"""The rule that decides claims, as Snakemake plans it."""

import json

import pytest
import yaml
from planning import dry_run
from shipped import FEW, MODEL

from darksecrets.pages.claims import registry
from darksecrets.pages.contracts import TABLES
from workflow.lib.configuration import resolve
from workflow.lib.imports import digest, files_of


def planned_claims(config):
    """Parameters and inputs of the rule, and the rules of all jobs that it needs."""
    jobs = {job.rule.name: job for job in dry_run(config, ["claims"]).dag.jobs}
    return dict(jobs["claims"].params.items()), {*jobs["claims"].input}, set(jobs)


@pytest.mark.parametrize("name", ["config", "paper"])
def test_claims_are_decided_from_all_tables_of_the_run(root, name):
    config = root / f"config/{name}.yaml"
    parameters, inputs, _ = planned_claims(config)
    run = resolve(yaml.safe_load(config.read_text()))
    folder = f"results/{run['run']}/tables"
    papers = registry.read(registry.files())
    asked = set(registry.tables(registry.select_for_run(papers, run["analyses"])))
    assert asked < set(registry.tables(papers)), "those of analyses beyond the paper are left out"
    for table in registry.tables(papers):
        assert (f"{folder}/{TABLES[table].file}" in inputs) == (table in asked), table
    seeds = {task: entry["seeds"] for task, entry in run["tasks"].items()}
    assert parameters["run"]["seeds"] == seeds
    assert parameters["run"]["shared"] == (["GLUE", "FrameNet"] if name == "paper" else [])


def test_claims_need_neither_a_sweep_nor_pairs_of_sentences(tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text(
        f"run: own\ntasks: [SST-2]\ndata: {json.dumps(FEW)}\nmodel: {json.dumps(MODEL)}\n"
        "ablation: {states: []}\n"
    )
    _, inputs, rules = planned_claims(own)
    assert not {"sweep_heads", "score_ablation"} & rules
    assert "results/own/tables/equal_words.csv" not in inputs
    assert "results/own/tables/pattern_agreement.csv" in inputs


def test_sections_functions_are_code_of_the_rule(root):
    """Editing one reruns the rule, though its script imports it by a name in the claims."""
    parameters, _, _ = planned_claims(root / "config/config.yaml")
    script = root / "scripts" / "pages" / "claims.py"
    patterns = files_of(script, "darksecrets.paper.patterns.claims")
    assert set(patterns) > set(files_of(script))
    assert parameters["code"] != digest(files_of(script))
