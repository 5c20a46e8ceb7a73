"""Editing the code of a module reruns the rules whose scripts import it, and no others."""

import shutil
from pathlib import Path

import pytest

# Rules with their inputs and outputs, which are created as if a run had just made them.
INPUTS = (
    "data/RTE",
    "models/pretrained",
    *(f"models/RTE/finetuned/seed-{seed}" for seed in (1, 2)),
)
TABLES = (
    "cosine",
    "learned",
    "stripes",
    "attention_levels",
    "attention_changes",
    "cls_attention",
    "token_pairs",
    "token_pair_correlations",
    "head_statistics",
)
FIGURES = ("figure5", "figure6", "figure7", "stripes_index", "token_pairs", "head_statistics")
OUTPUTS = {
    "extract_attention": ["attention/RTE"],
    "annotate_examples": ["annotation/RTE.jsonl"],
    "draw_attention": [
        f"figures/{name}.{suffix}" for name in FIGURES for suffix in ("svg", "pdf", "png")
    ],
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
    shutil.copytree(root / "tests" / "few_rows", copy / "tests" / "few_rows")
    shutil.copy(root / "Snakefile", copy)
    results = copy / "results" / "smoke"
    for name in INPUTS:
        (results / name).mkdir(parents=True)
    outputs = [name for names in OUTPUTS.values() for name in names]
    for name in (*(f"tables/{table}.csv" for table in TABLES), *outputs):
        made = results / name
        (made.parent if made.suffix else made).mkdir(parents=True, exist_ok=True)
        if made.suffix:
            made.touch()
    snakemake(copy, "--touch", "--forceall", *TARGETS, config=smoke_config, root=copy)
    return copy


@pytest.fixture
def edit(snakemake, smoke_config, project):
    """What a dry run says with a line more in a file of the project."""

    def said(file, line):
        before = file.read_text(encoding="utf-8")
        file.write_text(f"{before}{line}\n", encoding="utf-8")
        try:
            return snakemake(project, "-n", *TARGETS, config=smoke_config, root=project).stdout
        finally:
            file.write_text(before, encoding="utf-8")

    return said


@pytest.mark.parametrize(
    ("edited", "rules"),
    [
        ("darksecrets/core/attention/extraction.py", {"extract_attention"}),  # inside a function
        ("darksecrets/core/models/hooks.py", {"extract_attention"}),  # by what that imports
        (
            "darksecrets/core/plotting/style.py",
            {"draw_attention"},
        ),  # by the module that the rule names
        ("darksecrets/core/data/sampling.py", {"extract_attention", "annotate_examples"}),
        ("darksecrets/core/run/job.py", ALL),
        ("scripts/core/extract_attention.py", {"extract_attention"}),
        ("darksecrets/core/run/records.py", ALL),
        ("darksecrets/paper/finetuning/training.py", set()),
    ],
)
def test_editing_a_module_reruns_what_imports_it_and_nothing_else(
    edit, planned, project, edited, rules
):
    assert set(planned(edit(project / edited, "EDITED = True"))) == rules


def test_a_checkout_that_only_changes_times_reruns_nothing(
    snakemake, planned, smoke_config, project
):
    for folder in ("darksecrets", "scripts", "workflow"):
        for file in (project / folder).rglob("*.*"):
            file.touch()
    said = snakemake(project, "-n", *TARGETS, config=smoke_config, root=project).stdout
    assert not planned(said)


def test_every_rule_with_a_script_has_a_digest_of_its_code(smoke_config):
    """As parsed by Snakemake, so that no rule is missed."""
    from planning import dry_run

    from darksecrets.pages.claims import registry
    from workflow.lib.imports import digest, files_of

    workflow = dry_run(Path(smoke_config), ["figure4"])
    assert all(rule.script for rule in workflow.rules if rule.output)  # see profiles/default
    rules = [rule for rule in workflow.rules if rule.script]
    assert len(rules) > 50
    papers = {"claims": "PAPERS", "compare_alternatives": "PAPERS_BY_MEASURE"}
    by_name = {rule: registry.modules(workflow.globals[name]) for rule, name in papers.items()}
    for rule in rules:
        script = Path(str(rule.basedir), rule.script).resolve()
        named = by_name.get(rule.name, [])
        assert rule.params["code"] == digest(files_of(script, *named)), rule.name
