"""Editing a module reruns the rules whose scripts import it, and no others."""

import hashlib
import shutil
from pathlib import Path

import pytest

# Rules with their inputs and outputs, which are created as if a run had just made them.
INPUTS = (
    *("attention/RTE/pretrained", "attention/RTE/finetuned/seed-1"),
    *("attention/RTE/finetuned/seed-2", "data/RTE"),
)
TABLES = ("cosine", "token_pairs")
OUTPUTS = {
    "compute_similarity": [
        f"similarity/RTE/seed-1.{suffix}" for suffix in ("csv", "layers.csv", "provenance.json")
    ],
    "sample_examples": ["samples/RTE.csv"],
    "correlate_token_pairs": [
        "tables/token_pair_correlations.csv",
        "tables/token_pair_correlations.provenance.json",
    ],
    "figure5": [f"figures/figure5.{suffix}" for suffix in ("svg", "pdf", "png")],
}
ALL = set(OUTPUTS)
TARGETS = (
    *(f"results/smoke/{names[0]}" for names in OUTPUTS.values()),
    *("--allowed-rules", *OUTPUTS),
)


@pytest.fixture(scope="module")
def project(root, snakemake, smoke_config, tmp_path_factory) -> Path:
    """A copy of the project with outputs that Snakemake has recorded as made by this code."""
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
    snakemake(copy, "--touch", "--forceall", *TARGETS, config=smoke_config, root=copy)
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
    before = file.read_text(encoding="utf-8")
    file.write_text(f"{before}# edited\n", encoding="utf-8")
    try:
        said = snakemake(project, "-n", *TARGETS, config=smoke_config, root=project).stdout
    finally:
        file.write_text(before, encoding="utf-8")
    assert set(planned(said)) == rules


def test_a_checkout_that_only_changes_times_reruns_nothing(
    snakemake, planned, smoke_config, project
):
    for file in (project / "darksecrets").rglob("*.py"):
        file.touch()
    said = snakemake(project, "-n", *TARGETS, config=smoke_config, root=project).stdout
    assert not planned(said)


def test_every_rule_with_a_script_has_a_digest_of_its_code(smoke_config):
    """As parsed by Snakemake, so that no rule is missed."""
    from workflow.lib import plan
    from workflow.lib.imports import files_of

    workflow = plan.dry_run(Path(smoke_config), ["figure4"])
    rules = [rule for rule in workflow.rules if rule.script]
    assert len(rules) > 50
    for rule in rules:
        script = (plan.ROOT / "workflow" / "rules" / rule.script).resolve()
        named = [rule.params.get("module"), *rule.params.get("modules", [])]
        files = files_of(script, *filter(None, named))
        content = b"".join(hashlib.sha256(file.read_bytes()).digest() for file in files)
        assert rule.params["code"] == hashlib.sha256(content).hexdigest()[:16], rule.name
