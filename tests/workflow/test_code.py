"""Editing a module reruns the rules whose scripts import it, and no others."""

import os
import shutil
import time
from pathlib import Path

import pytest

# Rules with their inputs and outputs, which are created as if a run had just made them.
INPUTS = ("attention/RTE/pretrained", "attention/RTE/finetuned/seed-1", "data/RTE")
TABLES = ("cosine", "token_pairs")
OUTPUTS = {
    "compute_similarity": ["similarity/RTE/seed-1.csv", "similarity/RTE/seed-1.provenance.json"],
    "sample_examples": ["samples/RTE.csv"],
    "correlate_token_pairs": [
        "tables/token_pair_correlations.csv",
        "tables/token_pair_correlations.provenance.json",
    ],
    "figure5": [f"figures/figure5.{suffix}" for suffix in ("svg", "pdf", "png")],
}
ALL = set(OUTPUTS)


@pytest.fixture(scope="module")
def project(root, tmp_path_factory) -> Path:
    """A copy of the project, an hour old, beside results that are newer."""
    copy = tmp_path_factory.mktemp("code") / "project"
    for name in ("darksecrets", "scripts", "workflow", "envs", "profiles", "config"):
        shutil.copytree(root / name, copy / name, ignore=shutil.ignore_patterns("__pycache__"))
    shutil.copy(root / "Snakefile", copy)
    results = copy / "results" / "smoke"
    for name in INPUTS:
        (results / name).mkdir(parents=True)
    outputs = [name for names in OUTPUTS.values() for name in names]
    for name in (*(f"tables/{table}.csv" for table in TABLES), *outputs):
        (results / name).parent.mkdir(parents=True, exist_ok=True)
        (results / name).touch()
    now = time.time()
    for path in copy.rglob("*"):
        age = 3600 if path.relative_to(copy).parts[0] != "results" else 1800
        os.utime(path, (now - age,) * 2)
    for name in outputs:
        os.utime(results / name, (now - 900,) * 2)
    return copy


@pytest.mark.parametrize(
    ("edited", "rules"),
    [
        ("darksecrets/finetuning/cosine.py", {"compute_similarity"}),  # inside a function
        ("darksecrets/attention/store.py", {"compute_similarity"}),  # by what that imports
        ("darksecrets/plotting/style.py", {"figure5"}),  # by the module that the rule names
        ("darksecrets/data/checks.py", {"sample_examples"}),
        ("darksecrets/features/diagonal.py", {"correlate_token_pairs"}),
        ("scripts/_job.py", ALL),
        ("darksecrets/run/provenance.py", ALL),
        ("darksecrets/finetuning/training.py", set()),
    ],
)
def test_editing_a_module_reruns_what_imports_it_and_nothing_else(
    snakemake, planned, smoke_config, project, edited, rules
):
    file = project / edited
    before = file.stat().st_mtime
    targets = [f"results/smoke/{names[0]}" for names in OUTPUTS.values()]
    options = ("-n", "--rerun-triggers", "mtime", "--allowed-rules", *OUTPUTS)
    os.utime(file)
    try:
        said = snakemake(project, *targets, *options, config=smoke_config, root=project).stdout
    finally:
        os.utime(file, (before, before))
    assert set(planned(said)) == rules


def test_every_rule_with_a_script_has_its_code_among_its_inputs(smoke_config):
    """As parsed by Snakemake, so that no rule is missed."""
    from workflow.lib import plan
    from workflow.lib.imports import files_of

    workflow = plan.dry_run(Path(smoke_config), ["figure4"])
    rules = [rule for rule in workflow.rules if rule.script]
    assert len(rules) > 50
    for rule in rules:
        script = (plan.ROOT / "workflow" / "rules" / rule.script).resolve()
        expected = files_of(script, *filter(None, [rule.params.get("module")]))
        assert {Path(name).resolve() for name in rule.input.code} == set(expected), rule.name
