"""What jobs request, by their class: scaled by task and model, read from the right files."""

import pytest
from shipped import DATA, MODEL

from darksecrets.core.models import checkpoints
from darksecrets.core.models.size import BERT_BASE
from darksecrets.core.run.files import RESOURCES
from workflow.lib import resources
from workflow.lib.configuration import resolve
from workflow.lib.tasks import shipped

HUB = {"source": "hub"}


def _config(**keys):
    return resolve({"run": "r", "data": DATA, "model": MODEL, **keys})


def _asked(kind, config, task=None, *, threads=1, gpus=0, attempt=1):
    """Megabytes and minutes that a job requests."""
    asked = resources.ask(kind, config, gpus=gpus)
    wildcards = {"task": task} if task else {}
    minutes = asked["runtime"](wildcards, attempt, threads)
    return asked["mem_mb"](wildcards, attempt), minutes


@pytest.fixture(autouse=True)
def _nothing_fetched(monkeypatch):
    monkeypatch.setattr(checkpoints, "cached", lambda *_: None)


def test_the_size_of_a_model_that_is_not_downloaded_is_assumed(monkeypatch):
    assert resources.size_of(_config(model=HUB)) == BERT_BASE
    size = resources.size_of(_config())
    assert (size.layers, size.heads) == (6, 6)
    monkeypatch.setattr(checkpoints, "cached", lambda *_: RESOURCES / "tiny-bert" / "config.json")
    assert resources.size_of(_config(model=HUB)) == size


def test_examples_come_from_the_source(tmp_path):
    assert resources.examples(_config(), "RTE") == (800, 250)
    assert resources.examples(_config(data=HUB), "QQP") == (363_846, 40_430)
    (tmp_path / "MNLI").mkdir()
    (tmp_path / "MNLI" / "train.tsv").write_text("header\n" + 5 * "row\n")
    (tmp_path / "MNLI" / "dev_matched.tsv").write_text("header\n" + 2 * "row\n")
    tsv = {"source": "tsv", "folder": str(tmp_path)}
    assert resources.examples(_config(data=tsv), "MNLI") == (5, 2)


def test_every_task_of_glue_has_its_size():
    assert sum(entry["size"][0] for entry in shipped().values()) == 940_547


def test_requests_grow_with_task_and_model_and_fall_with_threads():
    paper = _config(data=HUB, model=HUB)
    for kind in ("train", "sweep"):
        small, large = (_asked(kind, paper, task) for task in ("RTE", "QQP"))
        assert large[1] > 50 * small[1]
        assert large[0] > small[0], "its texts or predictions are in memory"
    tiny = _asked("train", _config(data=HUB), "RTE")
    assert _asked("train", paper, "RTE")[0] > 3 * tiny[0]
    one, eight = (_asked("sweep", paper, "QQP", threads=n)[1] for n in (1, 8))
    assert 7 < one / eight < 9
    assert _asked("sweep", paper, "QQP", threads=8, gpus=1)[1] < eight
    assert _asked("tables", paper) == _asked("tables", paper, "RTE")
    assert _asked("forward", paper) == max(
        _asked("forward", paper, task) for task in ("RTE", "QQP")
    )
    assert _asked("train", paper, "RTE", attempt=3) == tuple(
        4 * n for n in _asked("train", paper, "RTE")
    )


def test_only_jobs_with_a_gpu_request_one():
    assert set(resources.ask("forward", _config())) == {"mem_mb", "runtime"}
    assert resources.ask("forward", _config(), gpus=1)["gpu"] == 1


# Largest resident sets in MB of a run of six layers of 384 on real RTE.
@pytest.mark.parametrize(("kind", "measured"), [("train", 3140), ("sweep", 1685), ("forward", 709)])
def test_what_is_requested_covers_what_was_measured(monkeypatch, kind, measured):
    size = BERT_BASE.__class__(6, 12, 384, 1536, 30522)
    monkeypatch.setattr(resources, "size_of", lambda _: size)
    assert 1.3 * measured < _asked(kind, _config(data=HUB), "RTE")[0] < 6 * measured


def test_disk_is_that_of_models_and_maps():
    config = _config(tasks=["RTE", "MRPC"], seeds=[1, 2, 3], samples={"size": 50})
    weights = (RESOURCES / "tiny-bert" / "model.safetensors").stat().st_size
    maps = 2 * (2 + 3) * 2 * 6 * 6 * resources.TOKENS**2 * 50
    assert resources.disk_needed(config) == pytest.approx(
        weights * (1 + 2 * 2 * 3) + maps, rel=0.05
    )
    assert 5e10 < resources.disk_needed(_config(seeds=[1, 2, 3, 4, 5], data=HUB, model=HUB)) < 1e11
