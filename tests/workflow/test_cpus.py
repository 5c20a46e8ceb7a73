"""A small run on a CPU with AVX2 only, trained and screened in bfloat16."""

import json
import os

import numpy as np
import pytest
import torch
import yaml
from cpus import AVX2

from darksecrets.ablation.disable import disable
from darksecrets.ablation.results import SweepResult
from darksecrets.data.batches import load_split
from darksecrets.finetuning.evaluation import evaluate
from darksecrets.models.loading import load_classifier, load_tokenizer
from workflow.lib.tasks import shipped_tasks

pytestmark = pytest.mark.thorough


def test_a_run_in_bfloat16_on_a_cpu_with_avx2_only(root, snakemake, tmp_path):
    small = yaml.safe_load((root / "tests" / "cluster" / "smoke.yaml").read_text())
    small["fine_tuning"]["precision"] = "bfloat16"
    small["ablation"] = {"screening": "on", "sets": [3]}
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump(small))
    name = "RTE/finetuned/seed-1"
    target = f"results/cluster/ablation/{name}"
    snakemake(tmp_path, target, config=str(config), environment=os.environ | AVX2)

    run = tmp_path / "results" / "cluster"
    for rule in ("finetune", "sweep_heads"):
        assert (run / "logs" / rule / f"{name}.log").read_text().count("not fast") == 1
    sweep = SweepResult.load(run / "ablation" / name)
    details = json.loads((run / "ablation" / name / "provenance.json").read_text())["sweep"]
    assert details["backend"] == "shared, screened"
    task, folder = shipped_tasks()["RTE"], run / "models" / name
    split = load_split(run / "data" / "RTE", "validation", load_tokenizer(folder), task, 128)
    model, _ = load_classifier(folder, task, seed=1)
    for number in (8, 40, 43):
        with torch.inference_mode(), disable(model, sweep.sets["name"][number]):
            logits = evaluate(model, split)
        assert np.array_equal(sweep.predictions[number], logits.argmax(axis=1))
