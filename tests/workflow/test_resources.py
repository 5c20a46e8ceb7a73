"""Cost estimates before a run, and the resources that its jobs request."""

import os
import re
import subprocess
import sys
from pathlib import Path

import pytest

from workflow.lib import plan


@pytest.fixture
def rules(root) -> dict[str, str]:
    """Text of every rule, by name."""
    text = "\n".join(path.read_text() for path in sorted((root / "workflow/rules").glob("*.smk")))
    return dict(re.findall(r"^rule (\w+):\n((?:(?: .*)?\n)+)", text, re.MULTILINE))


def _plan(root, folder, *arguments, check=True):
    command = [sys.executable, "-m", "workflow.lib.plan", *arguments]
    environment = _environment(root)
    return subprocess.run(
        command, cwd=folder, env=environment, capture_output=True, text=True, check=check
    )


def _workflow(config, **keys):
    return plan.dry_run(Path(config), ["figure4"], **keys)


def test_every_measured_rule_asks_for_what_it_needs(rules, smoke_config):
    measured = {name for name, text in rules.items() if "    benchmark:" in text}
    asking = {rule.name for rule in _workflow(smoke_config).rules if plan.asked_by(rule)}
    assert "finetune" in measured
    assert measured <= asking


def test_jobs_of_a_model_ask_for_a_gpu(smoke_config):
    asked = {rule.name: plan.asked_by(rule) for rule in _workflow(smoke_config, gpu=1).rules}
    on_gpu = {name for name, needed in asked.items() if needed and needed.gpus}
    assert on_gpu == {
        *("finetune", "evaluate_pretrained", "measure_norms"),
        *("look_at_text", "measure_syntax", "measure_coreference"),
        *("measure_alternatives", "measure_linked_alternatives"),
        "measure_faithfulness",
        *("extract_attention", "measure_framenet_heads", "sweep_heads"),
        *("reset_weights", "measure_surface", "measure_flatness"),
        *("keep_snapshots", "finetune_cell"),
        *("measure_importance", "order_heads", "sweep_pruned"),
        *("find_subnetworks", "retrain_subnetwork"),
        "learn_gates",
    }


def test_requested_resources_double_with_every_attempt(root, tmp_path):
    """Evaluated by Snakemake itself: a job that fails twice prints what it requested."""
    (tmp_path / "Snakefile").write_text(
        f'include: "{root / "workflow" / "rules" / "common.smk"}"\n'
        "rule finetune:\n"
        '    output: "{task}.done"\n'
        "    resources: **ask(resources.finetuning)\n"
        "    shell:\n"
        '        "echo {resources.mem_mb} {resources.runtime} >> asked;"\n'
        '        " test $(wc -l < asked) -gt 2; touch {output}"\n'
    )
    call = [
        *(sys.executable, "-m", "snakemake", "RTE.done", "--cores", "1", "--retries", "2"),
        *("--configfile", str(root / "config" / "config.yaml"), "--profile", "none"),
    ]
    subprocess.run(call, cwd=tmp_path, capture_output=True, check=True, env=_environment(root))
    asked = [list(map(int, line.split())) for line in (tmp_path / "asked").read_text().splitlines()]
    first = asked[0]
    assert asked == [first, [2 * n for n in first], [4 * n for n in first]]


def _environment(root):
    return os.environ | {"PYTHONPATH": str(root)}


@pytest.mark.parametrize(("given", "gpus"), [((), 1), (("--resources", "gpu=2"), 2)])
def test_the_time_left_counts_the_gpus_given(call_snakemake, root, tmp_path, given, gpus):
    (tmp_path / "Snakefile").write_text(
        f"import sys\nsys.path.insert(0, {str(root)!r})\n"
        "from workflow.lib import compat\n"
        'onstart: print("GPUs:", compat.gpus_of(workflow))\n'
        'rule touched:\n    output: touch("touched")\n'
    )
    run = call_snakemake(["--cores", "1", "--profile", "none", *given], tmp_path)
    assert f"GPUs: {gpus}\n" in run.stdout, run.stderr


def test_the_plan_of_the_paper_is_a_few_hundred_jobs(root, tmp_path):
    said = _plan(root, tmp_path, str(root / "config" / "paper.yaml")).stdout
    steps, jobs = map(int, re.search(r"(\d+) steps \((\d+) jobs on a cluster\)", said).groups())
    assert jobs < steps < 250
    assert "GPU hours" in said
    assert "of a GPU (assumed, not measured)" in said
    assert not list(tmp_path.glob("results*"))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (("figure55",), "figure55"),
        (("--config", "gpu=7"), "gpu: found 7"),
        # What `look` does not need is checked, too, if other targets are asked for.
        (
            ("--config", "text=Hi.", "model={source: builtin}", "ablation={sets: [99]}"),
            "names head 99",
        ),
    ],
)
def test_what_stops_a_run_stops_its_plan(root, tmp_path, arguments, message):
    run = _plan(root, tmp_path, str(root / "config" / "paper.yaml"), *arguments, check=False)
    assert run.returncode != 0
    assert message in run.stderr
    assert "Traceback" not in run.stderr


def test_a_run_says_what_it_costs_and_once_that_there_is_no_gpu(
    root, snakemake, smoke_config, tmp_path, monkeypatch
):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    target = "results/smoke/annotation/RTE.jsonl"
    said = snakemake(tmp_path, target, "--config", "gpu=1", config=smoke_config).stderr
    assert said.count("Run smoke: 2 steps, about 1 min on 2 cores") == 1
    assert said.count("Found no GPU here") == 1
    planned = _plan(root, tmp_path, smoke_config, target)
    assert planned.stdout == "Run smoke: nothing to be done.\n"
    (tmp_path / target).unlink()
    assert "Found no GPU" not in snakemake(tmp_path, target, config=smoke_config).stderr
