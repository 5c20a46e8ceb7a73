"""What the sweep needs is checked before anything is trained."""

import pytest
from shipped import DATA, MODEL
from transformers import AutoConfig

from darksecrets.core.data import hub
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.ablation import preflight
from workflow.lib.configuration import resolve

FOLDER = RESOURCES / "tiny-bert"


def _config(model=MODEL, **keys):
    return resolve({"run": "r", "data": DATA, "model": model, "ablation": keys})


HUB = {"source": "hub", "id": "some/model", "revision": "0" * 40}


@pytest.fixture
def on_hub(monkeypatch):
    """Let the Hub have the model of a folder; only its configuration may be downloaded."""

    def serve(folder):
        def download(repository, revision, patterns, kind):
            assert (repository, revision, kind) == (HUB["id"], HUB["revision"], "model")
            assert patterns == ["config.json"]
            return folder

        monkeypatch.setattr(hub, "download", download)

    return serve


def test_the_heads_to_disable_are_those_of_the_model(on_hub):
    """The layers and heads of a model on the Hub are unknown to a plan; a run asks for them."""
    preflight.check(_config(HUB, sets=[7]))
    on_hub(FOLDER)
    with pytest.raises(InputError, match="head 7, but the model has 6 layers of 6 heads"):
        preflight.check_run(_config(HUB, sets=[7]))
    preflight.check_run(_config(HUB, sets=[6]))
    own = {"source": "folder", "folder": str(FOLDER)}
    for config in (_config(sets=[7]), _config(own, sets=[7])):
        with pytest.raises(InputError, match="head 7, but the model has 6 layers of 6 heads"):
            preflight.check(config)


def test_the_mode_is_one_that_the_section_knows():
    for mode in ("uniform", "zero"):
        preflight.check(_config(mode=mode))
    with pytest.raises(InputError, match=r"'mean'.*uniform, zero"):
        preflight.check(_config(mode="mean"))


def test_results_of_disabling_need_states():
    preflight.check_states(_config())
    with pytest.raises(InputError, match=r"ablation\.states is \[\]"):
        preflight.check_states(_config(states=[]))
    with pytest.raises(InputError, match=r"no interface.*Figures 8 and 9"):
        preflight.check_states(_config(), left_out="Found no interface.")


@pytest.fixture
def deberta(tmp_path):
    sizes = {"hidden_size": 32, "num_hidden_layers": 2, "num_attention_heads": 4}
    config = AutoConfig.for_model("deberta-v2", **sizes, intermediate_size=64, vocab_size=100)
    config.save_pretrained(tmp_path / "deberta")
    return tmp_path / "deberta"


def test_a_model_without_the_attention_interface_leaves_the_sweep_out(deberta, tmp_path):
    own = {"source": "folder", "folder": str(deberta)}
    reason = preflight.left_out(_config(own), tmp_path / "none")
    assert str(deberta) in reason
    assert "0 calls of the attention interface" in reason
    assert preflight.left_out(_config(own, states=[]), tmp_path / "none") == ""
    assert preflight.left_out(_config(), tmp_path / "none") == ""


def test_a_model_of_the_hub_is_known_once_it_is_fetched(deberta, on_hub, tmp_path):
    hub = _config(HUB)
    assert preflight.left_out(hub, tmp_path / "none") == ""
    assert "cannot be reached" in preflight.left_out(hub, deberta)
    assert preflight.left_out(hub, FOLDER) == ""
    on_hub(deberta)
    with pytest.raises(InputError, match=r"cannot be reached.*Start the run again"):
        preflight.check_run(hub)
