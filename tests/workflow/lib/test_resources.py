"""Estimated needs of jobs: scaled by task and model, read from the right files."""

import pandas as pd
import pytest

from darksecrets.models import checkpoints
from darksecrets.models.size import BERT_BASE, Size
from darksecrets.run.files import RESOURCES
from workflow.lib import resources
from workflow.lib.configuration import read, resolve
from workflow.lib.tasks import shipped

BUILTIN = {"source": "builtin"}
HUB = {"source": "hub"}


def _config(**keys):
    return resolve({"run": "r", "data": BUILTIN, "model": BUILTIN, **keys})


def _need(kind, config, task):
    return kind(resources.work_of(config, task))


@pytest.fixture(autouse=True)
def _nothing_fetched(monkeypatch):
    monkeypatch.setattr(checkpoints, "cached", lambda *_: None)


def test_the_size_of_a_model_that_is_not_downloaded_is_assumed(monkeypatch):
    assert resources.size_of(_config(model=HUB)) == (BERT_BASE, False)
    shipped = RESOURCES / "tiny-bert" / "config.json"
    size, known = resources.size_of(_config())
    assert known
    assert (size.layers, size.heads) == (6, 6)
    monkeypatch.setattr(checkpoints, "cached", lambda *_: shipped)
    assert resources.size_of(_config(model=HUB)) == (size, True)


def test_examples_come_from_the_source(tmp_path, root):
    assert resources.examples(_config(data={**BUILTIN, "size": [77, 33]}), "RTE") == (
        77,
        33,
    )
    assert resources.examples(_config(data=HUB), "QQP") == (363_846, 40_430)
    (tmp_path / "MNLI").mkdir()
    (tmp_path / "MNLI" / "train.tsv").write_text("header\n" + 5 * "row\n")
    (tmp_path / "MNLI" / "dev_matched.tsv").write_text("header\n" + 2 * "row\n")
    tsv = {"source": "tsv", "folder": str(tmp_path)}
    assert resources.examples(_config(data=tsv), "MNLI") == (5, 2)


def test_every_task_of_glue_has_its_size():
    assert sum(entry["size"][0] for entry in shipped().values()) == 940_547


def test_needs_grow_with_task_and_model():
    paper = _config(data=HUB, model=HUB)
    small, large = (_need(resources.finetuning, paper, task) for task in ("RTE", "MNLI"))
    assert large.time(1) > 100 * small.time(1)
    assert large.memory == small.memory  # of a batch and the model, unless the texts need more
    tiny = _need(resources.finetuning, _config(data=HUB), "RTE")
    assert small.memory > 5 * tiny.memory
    assert _need(resources.finetuning, _config(data=HUB), "MNLI").memory > 3 * tiny.memory
    more = _need(resources.sweep, _config(data=HUB, model=HUB, ablation={"sets": [1, 2]}), "RTE")
    assert more.operations == pytest.approx(
        159 / 157 * _need(resources.sweep, paper, "RTE").operations
    )


def test_rates_are_those_of_the_stage_benchmark(root):
    """Per core, within a tenth; a pass of the sweep is one of 157 sets over a mean example."""
    table = pd.read_csv(root / "benchmarks" / "results" / "stages.csv").set_index("stage")
    rate = table["GFLOP/s"] * 1e9 / table["threads"]
    assert resources.CORE["training"] == pytest.approx(rate["fine-tuning"], rel=0.1)
    assert resources.CORE["inference"] == pytest.approx(rate["scoring"], rel=0.1)
    per_example = rate["scoring"] * table.loc["scoring", "seconds"]  # operations of one core
    sweep = 157 * per_example / table.loc["sweep", "seconds"]
    assert resources.CORE["sweep"] == pytest.approx(sweep, rel=0.1)


def test_the_memory_of_training_covers_what_was_measured():
    """Largest resident sets of the runs in docs/resources.md, in MB: tiny BERT, 6 layers of 384."""
    model = Size(6, 12, 384, 1536, 30522)
    config = _config()
    work = resources.Work(model, 2490, 277, 277, 60, config)
    for need, measured in (
        (resources.finetuning(work), 3140),
        (resources.sweep(work), 1685),
        (resources.extraction(work), 709),
        (_need(resources.finetuning, config, "RTE"), 1090),
    ):
        assert 1.1 * measured < resources.memory_asked(need, gpu=False) < 3 * measured


def test_a_gpu_job_needs_less_host_memory():
    need = _need(resources.finetuning, _config(data=HUB, model=HUB), "RTE")
    assert need.memory > 9000
    assert 4000 < resources.memory_asked(need, gpu=True) < 6000
    texts = _need(resources.finetuning, _config(data=HUB, model=HUB), "MNLI")
    assert resources.memory_asked(texts, gpu=True) > 10_000  # these stay on the host


def test_disk_is_that_of_models_and_maps(root):
    config = _config(tasks=["RTE", "MRPC"], seeds=[1, 2, 3], samples={"size": 50})
    weights = (RESOURCES / "tiny-bert" / "model.safetensors").stat().st_size
    maps = sum(2 * 6 * 6 * 30 * 30 * 50 for _ in range(2) for _ in range(1 + 3))
    assert resources.disk_needed(config) == pytest.approx(
        weights * (1 + 2 * 2 * 3) + maps, rel=0.05
    )
    assert 5e10 < resources.disk_needed(_config(seeds=[1, 2, 3, 4, 5], data=HUB, model=HUB)) < 1e11


def test_expected_times_are_near_those_measured(root):
    """CPU seconds of all jobs of a rule in the demonstration, as forks: docs/resources.md."""
    demo = resolve(read(root / "config" / "config.yaml"))
    measured = {
        resources.finetuning: 388 / 28,
        resources.frozen: 52 / 14,
        resources.classification: 37 / 28,
        resources.measures: 25 / 28,
        resources.sweep: 153 / 14,
        resources.dataset: 4 / 7,
    }
    for kind, seconds in measured.items():
        times = [_need(kind, demo, task).time(1, forked=True) for task in demo["tasks"]]
        assert 0.6 < sum(times) / len(times) / seconds < 1.7, kind
    scoring, over_seeds = (_need(k, demo, None) for k in (resources.scoring, resources.comparing))
    assert 0.6 < (scoring.seconds - over_seeds.seconds) / (7 * 10 / 14) < 1.7
    for kind, seconds in ((resources.comparing_scores, 4), (resources.profiles_of_run, 4)):
        assert 0.6 < _need(kind, demo, None).time(1, forked=True) / seconds < 1.7, kind


def test_a_training_takes_as_long_as_its_tasks_epochs():
    config = _config(tasks={"RTE": {"epochs": 12}, "QNLI": None, "MRPC": {"epochs": 3}})
    works = {task: resources.work_of(config, task) for task in config["tasks"]}
    assert {task: work.epochs for task, work in works.items()} == {"RTE": 12, "QNLI": 3, "MRPC": 3}
    long, short = (resources.finetuning(works[task]) for task in ("RTE", "MRPC"))
    assert long.operations == pytest.approx(4 * short.operations)
    assert long.memory == short.memory
    gates = [resources.learned_gates(works[task]).operations for task in ("RTE", "MRPC")]
    assert gates[0] == pytest.approx(gates[1])  # they have epochs of their own
