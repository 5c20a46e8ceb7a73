"""The workflow with data and model from the Hub, replaced by a local stand-in."""

import json

import pytest
import yaml
from hub import content

CONFIG = {
    "run": "hub",
    "tasks": ["SST-2"],
    "data": {"source": "hub"},
    "model": {"source": "hub", "id": content.BERT, "revision": content.BERT_COMMIT},
    "samples": {"size": 8},
}
STORE = "results/hub/attention/SST-2/pretrained"


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
    snakemake(first, STORE, config=config, environment=client.environment)
    model = json.loads((first / "results/hub/models/pretrained/provenance.json").read_text())
    assert model["model"]["revision"] == content.BERT_COMMIT
    assert not [path for path in hub.downloads() if "test-" in path], "no split without labels"

    asked = len(hub.requests)
    offline = {**client.environment, "HF_HUB_OFFLINE": "1"}
    snakemake(second, STORE, config=config, environment=offline)
    assert len(hub.requests) == asked
    examples = [(folder / STORE / "examples.parquet").read_bytes() for folder in (first, second)]
    maps = [(folder / STORE / "maps.npy").read_bytes() for folder in (first, second)]
    assert examples[0] == examples[1]
    assert maps[0] == maps[1]


def test_heads_that_a_model_from_the_hub_lacks_are_refused_before_training(
    snakemake, hub, bert_repository, client, tmp_path
):
    hub.repositories.append(bert_repository)
    config = tmp_path / "config.yaml"
    config.write_text(yaml.safe_dump({**CONFIG, "ablation": {"sets": [99]}}))
    target = "results/hub/models/pretrained"
    arguments = {"config": str(config), "environment": client.environment, "check": False}
    run = snakemake(tmp_path, target, **arguments)
    assert run.returncode != 0
    log = (tmp_path / "results/hub/logs/get_pretrained_model.log").read_text()
    assert "ablation.sets in the configuration: The selector 99 names head 99" in log
    assert "Traceback" not in log
    assert not (tmp_path / target).exists()
