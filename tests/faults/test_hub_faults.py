"""The Hub is slow, refuses, breaks off, or sends other bytes than it says."""

import pytest
import yaml
from faults.trial import check_message
from hub import content

from darksecrets.run.files import fingerprint

pytestmark = pytest.mark.faults

CONFIG = {
    "run": "hub",
    "tasks": ["SST-2"],
    "data": {"source": "hub"},
    "model": {"source": "hub", "id": content.BERT, "revision": content.BERT_COMMIT},
    "samples": {"size": 4},
}
MADE = ("results/hub/models/pretrained", "results/hub/data/SST-2")


@pytest.fixture
def call(snakemake, hub, bert_repository, client, tmp_path):
    hub.repositories.append(bert_repository)
    file = tmp_path / "config.yaml"
    file.write_text(yaml.safe_dump(CONFIG))

    def call(folder, **settings):
        folder.mkdir(exist_ok=True)
        return snakemake(
            *(folder, *MADE),
            config=str(file),
            environment=client.environment | settings,
            check=False,
        )

    return call


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
def test_a_plain_call_fetches_what_the_hub_failed_to_send(call, hub, tmp_path, fault, outcomes):
    for name, value in FAULTS[fault].items():
        setattr(hub, name, value)
    called = call(tmp_path / "faulty")
    output = called.stdout + called.stderr
    end = "equal results"
    if called.returncode:
        check_message(output)
        end = "a message, then equal results"
    hub.delay, hub.refusals, hub.breaks, hub.corrupt = 0.0, [], {}, set()
    for folder in ("faulty", "undisturbed"):
        done = call(tmp_path / folder)
        assert done.returncode == 0, done.stdout + done.stderr
    for made in MADE:
        one, other = (fingerprint(tmp_path / name / made) for name in ("faulty", "undisturbed"))
        assert one == other
    outcomes.add("Hub", fault, end)
