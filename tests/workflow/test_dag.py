"""What Snakemake plans, without running it."""

import re

import pytest


def _planned(output):
    """Job counts of a dry run."""
    return {name: int(n) for name, n in re.findall(r"^(\w+) +(\d+)$", output, re.MULTILINE)}


def test_the_demonstration_is_planned(snakemake, root, tmp_path):
    jobs = _planned(
        snakemake(tmp_path, "-n", "--configfile", str(root / "config/config.yaml")).stdout
    )
    assert jobs["prepare_dataset"] == jobs["evaluate_pretrained"] == 7
    assert jobs["finetune"] == jobs["extract_attention"] == 14
    assert jobs["table1"] == jobs["figure5"] == 1
    assert not list(tmp_path.glob("results/*")), "a dry run writes nothing"


def test_the_whole_paper_is_planned_without_the_hub(snakemake, root, tmp_path):
    jobs = _planned(
        snakemake(tmp_path, "-n", "--configfile", str(root / "config/paper.yaml")).stdout
    )
    tasks, seeds = 7, 5
    assert jobs["prepare_dataset"] == tasks
    assert jobs["finetune"] == tasks * 2 * seeds
    assert jobs["evaluate_pretrained"] == tasks * seeds
    assert jobs["extract_attention"] == tasks * (1 + seeds)
    assert jobs["compute_similarity"] == tasks * seeds


def test_a_configuration_of_ones_own_gets_nothing_of_the_demonstration(
    snakemake, smoke_config, tmp_path
):
    own = tmp_path / "own.yaml"
    own.write_text("run: own\ndata: {source: builtin}\nmodel: {source: builtin}\n")
    plan = snakemake(
        tmp_path, "-n", "-p", "--configfile", str(own), "extract_attention_all", check=False
    )
    assert "extract_attention_all" in plan.stderr + plan.stdout  # no such target
    shown = snakemake(
        tmp_path, "-n", "--configfile", str(own), "results/own/samples/RTE.csv"
    ).stdout
    assert "results/own/samples/RTE.csv" in shown


@pytest.mark.parametrize(
    ("target", "without"),
    [
        ("table1", {"extract_attention", "figure5", "learning_curves"}),
        ("figure5", {"evaluate_pretrained", "table1", "evaluate_baselines"}),
        ("learning_curves", {"evaluate_pretrained", "extract_attention"}),
    ],
)
def test_partial_targets_plan_only_what_they_need(
    snakemake, smoke_config, tmp_path, target, without
):
    jobs = _planned(snakemake(tmp_path, "-n", "--configfile", smoke_config, target).stdout)
    assert jobs[target] == 1
    assert not without & set(jobs)
