"""The workflow with data and model from the Hub, replaced by a local stand-in."""

import json

import pytest
import yaml
from encoders import FAMILIES
from hub import content
from hub.standin import Repository

pytestmark = pytest.mark.thorough

CONFIG = content.RUN | {"samples": {"size": 8}}
STORES = "results/hub/attention/SST-2"
STORE = f"{STORES}/pretrained"


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.yaml"
    path.write_text(yaml.safe_dump(CONFIG))
    return str(path)


def test_data_and_model_come_from_the_hub_and_then_from_its_cache(
    snakemake, config, hub, bert_repository, client, tmp_path
):
    hub.repositories.append(bert_repository)
    first, second = tmp_path / "first", tmp_path / "second"
    for folder in (first, second):
        folder.mkdir()
    snakemake(first, STORES, config=config, environment=client.environment)
    model = json.loads((first / "results/hub/records/get_pretrained_model.json").read_text())
    assert model["model"]["revision"] == content.BERT_COMMIT
    assert not [path for path in hub.downloads() if "test-" in path], "no split without labels"

    asked = len(hub.requests)
    offline = {**client.environment, "HF_HUB_OFFLINE": "1"}
    snakemake(second, STORES, config=config, environment=offline)
    assert len(hub.requests) == asked
    examples = [(folder / STORE / "examples.parquet").read_bytes() for folder in (first, second)]
    maps = [(folder / STORE / "maps.npy").read_bytes() for folder in (first, second)]
    assert examples[0] == examples[1]
    assert maps[0] == maps[1]


def test_classes_that_the_data_on_the_hub_have_not_are_refused_before_any_download(
    snakemake, hub, bert_repository, client, tmp_path
):
    hub.repositories.append(bert_repository)
    config = tmp_path / "config.yaml"
    entry = {"labels": ["bad", "good"], "hub": {"config": "sst2"}}
    config.write_text(yaml.safe_dump({**CONFIG, "tasks": {"SST-2": entry}}))
    arguments = {"config": str(config), "environment": client.environment, "check": False}
    run = snakemake(tmp_path, STORES, **arguments)
    output = run.stdout + run.stderr
    assert run.returncode != 0
    assert "sst2, train: the labels are negative, positive; expected bad, good" in output
    assert "Check tasks.SST-2 in the configuration" in output
    assert "Traceback" not in output
    assert not (tmp_path / "results").exists()
    cached = (client.home / "hub").rglob("*.parquet")
    assert not list(cached), "only the end of a file was read"


def test_heads_that_a_model_from_the_hub_lacks_are_refused_before_training(
    snakemake, hub, bert_repository, client, tmp_path
):
    hub.repositories.append(bert_repository)
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({**CONFIG, "ablation": {"sets": [99]}}))
    arguments = {"config": str(config), "environment": client.environment, "check": False}
    run = snakemake(tmp_path, "figure8", **arguments)
    assert run.returncode != 0
    output = run.stdout + run.stderr
    assert "ablation.sets in the configuration: The selector 99 names head 99" in output
    assert "Traceback" not in output
    assert not (tmp_path / "results/hub/models").exists()
    assert not [path for path in hub.downloads() if "safetensors" in path]


def test_a_model_whose_heads_cannot_be_disabled_stops_once_and_then_leaves_the_sweep_out(
    snakemake, planned, config, hub, client, tmp_path
):
    FAMILIES["DeBERTa-v3"].save(tmp_path / "deberta")
    files = {path.name: path.read_bytes() for path in (tmp_path / "deberta").iterdir()}
    hub.repositories.append(Repository("models", content.BERT, content.BERT_COMMIT, files))
    arguments = {"config": config, "environment": client.environment, "check": False}
    first = snakemake(tmp_path, "figure8", **arguments)
    output = first.stdout + first.stderr
    assert first.returncode != 0
    assert "cannot be disabled" in output
    assert "Start the run again" in output
    assert not (tmp_path / "results/hub/models").exists(), "it stops before any job"

    second = snakemake(tmp_path, "all", "--dry-run", "--quiet", "rules", **arguments)
    output = second.stdout + second.stderr
    assert second.returncode == 0, output
    assert "Left out: the sweep over heads (section 4.6, Figures 8 and 9)" in output
    jobs = planned(output)
    assert {"get_pretrained_model", "draw_attention"} <= set(jobs)
    assert not {name for name in jobs if "sweep" in name or "ablation" in name}

    look = ("inspect", "--dry-run", "--quiet", "rules", "--config", "text=a b")
    third = snakemake(tmp_path, *look, **arguments)
    assert "inspect_text" in planned(third.stdout)
    assert "Left out" not in third.stdout + third.stderr


def test_a_model_whose_heads_cannot_be_disabled_is_fetched_for_what_disables_none(
    snakemake, config, hub, client, tmp_path
):
    """At once: only a run that plans a sweep has a reason to stop."""
    FAMILIES["DeBERTa-v3"].save(tmp_path / "deberta")
    files = {path.name: path.read_bytes() for path in (tmp_path / "deberta").iterdir()}
    hub.repositories.append(Repository("models", content.BERT, content.BERT_COMMIT, files))
    snakemake(
        *(tmp_path, "results/hub/models/pretrained"), config=config, environment=client.environment
    )
    assert (tmp_path / "results/hub/models/pretrained/model.safetensors").is_file()
