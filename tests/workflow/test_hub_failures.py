"""The Hub is slow, refuses, breaks off, or sends other bytes than it says."""

import re

import pytest
import yaml
from hub import content
from hub.client import Client
from hub.standin import serving

from darksecrets.core.run.files import fingerprint

pytestmark = pytest.mark.thorough

CONFIG = content.RUN | {"samples": {"size": 4}}
MADE = ("results/hub/models/pretrained", "results/hub/data/SST-2")


@pytest.fixture(scope="module")
def undisturbed(snakemake, glue_repository, bert_repository, tmp_path_factory):
    """A directory with what a Hub without faults sent."""
    folder = tmp_path_factory.mktemp("undisturbed")
    with serving([glue_repository, bert_repository]) as hub:
        client = Client(folder / "huggingface", hub.endpoint)
        fetch(snakemake, folder, client.environment, check=True)
    return folder


@pytest.fixture
def folder(tmp_path):
    made = tmp_path / "faulty"
    made.mkdir()
    return made


def fetch(snakemake, folder, environment, check=False):
    """The plain call, with the files of the Hub in its folder afterwards."""
    file = folder / "config.yaml"
    file.write_text(yaml.safe_dump(CONFIG))
    return snakemake(folder, *MADE, config=str(file), environment=environment, check=check)


FAULTS = {
    "slow": {"delay": 0.5},
    "429 twice": {"refusals": [429, 429]},
    "503 twice": {"refusals": [503, 503]},
    "503 for ever": {"refusals": [503] * 10_000},
    "429 for ever": {"refusals": [429] * 10_000},
    "half a file": {"breaks": {"model.safetensors": 1000}},
    "other bytes": {"corrupt": {"model.safetensors"}},
}


@pytest.mark.parametrize("fault", FAULTS)
def test_a_plain_call_fetches_what_the_hub_failed_to_send(
    snakemake, hub, bert_repository, client, folder, undisturbed, fault
):
    hub.repositories.append(bert_repository)
    for name, value in FAULTS[fault].items():
        setattr(hub, name, value)
    called = fetch(snakemake, folder, client.environment)
    if called.returncode:
        assert re.search("again|Check |Remove ", called.stderr), called.stderr
        hub.delay, hub.refusals, hub.breaks, hub.corrupt = 0.0, [], {}, set()
        fetch(snakemake, folder, client.environment, check=True)
    for made in MADE:
        assert fingerprint(folder / made) == fingerprint(undisturbed / made)
