"""What Snakemake plans, without running it."""

import re
import shlex
import subprocess
import sys

import pytest
import yaml

from darksecrets.configuration import resolve


def test_the_demonstration_isplanned(snakemake, planned, root, tmp_path):
    jobs = planned(snakemake(tmp_path, "-n", config=str(root / "config/config.yaml")).stdout)
    assert jobs["prepare_dataset"] == jobs["evaluate_pretrained"] == 7
    assert jobs["finetune"] == jobs["extract_attention"] == 14
    assert jobs["table1"] == jobs["figure3"] == jobs["figure4"] == jobs["figure5"] == 1
    assert not {"get_framenet", "compare_framenet_heads"} & set(jobs)
    assert (jobs["annotate_examples"], jobs["measure_attention"]) == (7, 14)
    assert jobs["figure6"] == jobs["figure7"] == jobs["stripes"] == 1
    assert jobs["sweep_heads"] == 7
    assert jobs["classify_maps"] == 14
    assert jobs["figure1"] == jobs["figure2"] == jobs["train_pattern_classifier"] == 1
    assert not list(tmp_path.glob("results/*")), "a dry run writes nothing"


def test_the_whole_paper_is_planned_without_the_hub(snakemake, planned, root, tmp_path):
    jobs = planned(snakemake(tmp_path, "-n", config=str(root / "config/paper.yaml")).stdout)
    tasks, seeds = 7, 5
    assert jobs["prepare_dataset"] == tasks
    assert jobs["finetune"] == tasks * 2 * seeds
    assert jobs["evaluate_pretrained"] == tasks * seeds
    assert jobs["extract_attention"] == tasks * (1 + seeds)
    assert jobs["compute_similarity"] == tasks * seeds
    assert jobs["get_framenet"] == jobs["compare_framenet_heads"] == 1
    assert jobs["sweep_heads"] == tasks * seeds
    assert jobs["classify_maps"] == tasks * (1 + seeds)


def test_a_configuration_of_ones_own_gets_nothing_of_the_demonstration(snakemake, tmp_path):
    own = tmp_path / "own.yaml"
    small = "{source: builtin, train: 32, validation: 16}"
    own.write_text(f"run: own\ndata: {small}\nmodel: {{source: builtin}}\n")
    snakemake(tmp_path, "results/own/data/SST-2", config=str(own))
    recorded = yaml.safe_load((tmp_path / "results" / "own" / "config.yaml").read_text())
    assert recorded == resolve(yaml.safe_load(own.read_text()))
    assert recorded["samples"]["size"] == 1000
    assert recorded["fine_tuning"]["learning_rate"] == 2e-5


def test_a_task_of_one_sentence_has_links_without_equal_words(snakemake, planned, tmp_path):
    own = tmp_path / "own.yaml"
    own.write_text("run: own\ntasks: [SST-2]\ndata: {source: builtin}\nmodel: {source: builtin}\n")
    run = snakemake(tmp_path, "-n", config=str(own))
    assert planned(run.stdout)["link_ablation"] == 1
    assert "equal_words.csv" not in run.stdout.split("rule link_ablation")[1].split("output:")[0]


@pytest.mark.parametrize(
    ("target", "without"),
    [
        ("table1", {"extract_attention", "figure5", "learning_curves"}),
        ("figure5", {"evaluate_pretrained", "table1", "evaluate_baselines"}),
        ("figure3", {"prepare_dataset", "finetune", "extract_attention"}),
        ("figure4", {"get_pretrained_model", "extract_framenet_attention"}),
        ("figure1", {"extract_attention", "train_pattern_classifier", "finetune"}),
        ("figure2", {"collect_pattern_maps", "typical_maps", "table1", "figure5"}),
        ("learning_curves", {"evaluate_pretrained", "extract_attention"}),
        ("figure6", {"evaluate_pretrained", "compute_similarity", "figure7"}),
        ("figure7", {"evaluate_pretrained", "compute_similarity", "figure6"}),
        ("stripes", {"evaluate_pretrained", "compute_similarity", "token_pairs"}),
        ("token_pairs", {"evaluate_pretrained", "compute_similarity", "stripes"}),
        ("head_statistics", {"evaluate_pretrained", "compute_similarity", "stripes"}),
    ],
)
def test_partial_targets_plan_only_what_they_need(
    snakemake, planned, smoke_config, tmp_path, target, without
):
    jobs = planned(snakemake(tmp_path, "-n", target, config=smoke_config).stdout)
    assert jobs[target] == 1
    assert not without & set(jobs)


def test_every_command_of_the_readme_that_has_no_blanks_to_fill_in_isplanned(root):
    text = (root / "README.md").read_text() + (root / "config" / "README.md").read_text()
    commands = set(re.findall(r"snakemake ([^`\n#|<\\]*--cores[^`\n#|<\\]*)", text))
    commands = {c for c in commands if "conda" not in c and "real.yaml" not in c}
    assert len(commands) >= 5
    for command in commands:
        arguments = ["-n", *shlex.split(command)]
        run = subprocess.run(
            [sys.executable, "-m", "snakemake", *arguments],
            cwd=root,
            capture_output=True,
            text=True,
        )
        assert run.returncode == 0, f"{command}\n{run.stdout}{run.stderr}"
