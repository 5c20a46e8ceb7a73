"""The resources that jobs request, as Snakemake sees them."""

import os
import re
import subprocess
import sys

import pytest


@pytest.fixture
def rules(root) -> dict[str, str]:
    """Text of every rule, by name."""
    text = "\n".join(path.read_text() for path in sorted((root / "workflow/rules").rglob("*.smk")))
    return dict(re.findall(r"^rule (\w+):\n((?:(?: .*)?\n)+)", text, re.MULTILINE))


def test_every_measured_rule_asks_for_what_it_needs(rules):
    measured = {name for name, text in rules.items() if "    benchmark:" in text}
    assert "finetune" in measured
    assert measured == {name for name, text in rules.items() if "**ask(" in text}


def test_jobs_of_a_model_ask_for_a_gpu(rules):
    on_gpu = {name for name, text in rules.items() if "gpu=True" in text}
    assert on_gpu == {
        "finetune",
        "evaluate_pretrained",
        "measure_norms",
        "probe_layers",
        "probe_layers_of_task",
        "predict_words",
        "sweep_agreement",
        "measure_impact",
        "change_inputs",
        "read_hans",
        "inspect_text",
        "measure_syntax",
        "measure_coreference",
        "measure_alternatives",
        "measure_linked_alternatives",
        "measure_faithfulness",
        "extract_attention",
        "count_random_framenet_heads",
        "measure_framenet_heads",
        "sweep_heads",
        "reset_weights",
        "measure_surface",
        "measure_flatness",
        "finetune_cell",
        "measure_importance",
        "order_heads",
        "sweep_pruned",
        "find_subnetworks",
        "retrain_subnetwork",
        "learn_gates",
    }


def test_requested_resources_double_with_every_attempt(root, tmp_path):
    """Evaluated by Snakemake itself: a job that fails twice prints what it requested."""
    (tmp_path / "Snakefile").write_text(
        f'include: "{root / "workflow" / "rules" / "common.smk"}"\n'
        "rule finetune:\n"
        '    output: "{task}.done"\n'
        "    resources: **ask('train')\n"
        "    shell:\n"
        '        "echo {resources.mem_mb} {resources.runtime} >> asked;"\n'
        '        " test $(wc -l < asked) -gt 2; touch {output}"\n'
    )
    call = [
        sys.executable,
        "-m",
        "snakemake",
        "RTE.done",
        "--cores",
        "1",
        "--retries",
        "2",
        *("--configfile", str(root / "config" / "config.yaml"), "--profile", "none"),
    ]
    subprocess.run(call, cwd=tmp_path, capture_output=True, check=True, env=_environment(root))
    asked = [list(map(int, line.split())) for line in (tmp_path / "asked").read_text().splitlines()]
    first = asked[0]
    assert asked == [first, [2 * n for n in first], [4 * n for n in first]]


def _environment(root):
    return os.environ | {"PYTHONPATH": str(root)}


def test_a_run_says_once_that_there_is_no_gpu(snakemake, smoke_config, tmp_path, monkeypatch):
    monkeypatch.setenv("CUDA_VISIBLE_DEVICES", "")
    target = "results/smoke/annotation/RTE.jsonl"
    said = snakemake(tmp_path, target, "--config", "gpu=1", config=smoke_config).stderr
    assert said.count("Found no GPU here") == 1
    (tmp_path / target).unlink()
    assert "Found no GPU" not in snakemake(tmp_path, target, config=smoke_config).stderr
