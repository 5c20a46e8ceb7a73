"""The plan sums the needs of its steps."""

import dataclasses
import math

import pytest

from workflow.lib import plan, resources
from workflow.lib.configuration import resolve

CONFIG = resolve({"run": "r", "data": {"source": "hub"}, "model": {"source": "hub"}})


NEEDS = {"finetune": resources.finetuning, "score_ablation": resources.scoring}


def need_of(rule, task):
    return NEEDS[rule](resources.work_of(CONFIG, task)) if task else resources.READS_TABLES


def _step(rule, task=None, *, threads=1, gpu=False, submission=None):
    name = rule if task else plan.REST
    return plan.Step(name, need_of(rule, task), threads, gpu, submission or object())


def test_hours_are_those_of_the_steps():
    steps = [
        _step("finetune", "RTE", threads=4),
        _step("finetune", "MNLI", threads=4),
        _step("figure5"),
        _step("figure8"),
    ]
    table = plan.table(steps).set_index("rule")
    times = [need_of("finetune", task).time(4) for task in ("RTE", "MNLI")]
    row = table.loc["finetune"]
    assert row["jobs"] == 2
    assert row["core hours"] == pytest.approx(4 * sum(times) / 3600)
    assert row["longest (min)"] == pytest.approx(max(times) / 60)
    assert (
        row["memory (GB)"] == resources.memory_asked(need_of("finetune", "RTE"), gpu=False) / 1000
    )
    assert table.loc["tables and figures", "jobs"] == 2
    assert "GPU hours" not in table


def test_jobs_on_a_gpu_count_its_hours_alone():
    steps = [_step("finetune", "RTE", threads=4, gpu=True), _step("score_ablation", "RTE")]
    table = plan.table(steps).set_index("rule")
    seconds = need_of("finetune", "RTE").time(4, gpu=True)
    assert table.loc["finetune", "GPU hours"] == pytest.approx(seconds / 3600)
    assert table.loc["finetune", "core hours"] == 0
    assert table.loc["score_ablation", "GPU hours"] == 0


def test_steps_submitted_together_are_one_job():
    together = object()
    steps = [_step("figure5", submission=together), _step("figure8", submission=together)]
    said = plan.summary([*steps, _step("figure9")], CONFIG)
    assert said.startswith("Run r: 3 steps (2 jobs on a cluster), about 1 min of one core, ")
    assert "GPU" not in said
    assert plan.summary([], CONFIG) == "Run r: nothing to be done."


def test_a_step_that_cannot_fit_is_named_with_numbers():
    step = _step("finetune", "MNLI", threads=4)
    memory = step.need.memory * resources.MB
    assert plan.misfits([step], memory + 1) == []
    assert plan.misfits([step], None) == []
    (said,) = plan.misfits([step, _step("figure5")], int(memory / 2))
    assert f"needs about {memory / 1e9:.1f} GB" in said
    assert f"this machine has {memory / 2e9:.1f} GB" in said


def test_a_step_that_is_given_too_little_time_is_named_with_numbers():
    step = _step("finetune", "MNLI", threads=4)
    minutes = step.seconds / 60
    assert plan.misfits([dataclasses.replace(step, minutes=minutes + 1)], None) == []
    short = dataclasses.replace(step, minutes=minutes / 2)
    (said,) = plan.misfits([short, dataclasses.replace(short, minutes=minutes / 3)], None)
    assert "the rule finetune takes about" in said
    assert f"--set-resources finetune:runtime={math.ceil(2 * minutes)}" in said
