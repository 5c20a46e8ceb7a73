"""Whether norms can be measured is known before anything is trained."""

from pathlib import Path

import pytest
from encoders import FAMILIES
from shipped import DATA, MODEL

from darksecrets.beyond.norms import preflight
from darksecrets.core.data import hub
from darksecrets.core.models.hooks import require_projections
from darksecrets.core.models.suitability import trial_model
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from workflow.lib.configuration import resolve

HUB = {"source": "hub", "id": "some/model", "revision": "0" * 40}


def configured(model, **keys):
    return resolve({"run": "r", "data": DATA, "model": model, **keys})


@pytest.fixture(scope="module")
def deberta(tmp_path_factory) -> Path:
    return FAMILIES["DeBERTa-v3"].save(tmp_path_factory.mktemp("deberta") / "model")


def test_the_values_of_the_shipped_model_can_be_observed(tmp_path):
    """Runs do not check it."""
    require_projections(trial_model(RESOURCES / "tiny-bert"))
    assert preflight.left_out(configured(MODEL), tmp_path) == ""
    preflight.check_run(configured(MODEL))


def test_a_model_that_hides_its_values_leaves_norms_out(deberta, tmp_path):
    own = configured({"source": "folder", "folder": str(deberta)})
    reason = preflight.left_out(own, tmp_path)
    assert str(deberta) in reason
    assert "only its maps can be observed" in reason
    with pytest.raises(InputError, match="faithfulness cannot be measured"):
        preflight.check_run(own, reason)
    other = configured({"source": "folder", "folder": str(RESOURCES / "tiny-bert")})
    assert preflight.left_out(other, tmp_path) == ""
    preflight.check_run(other)


def test_a_model_of_the_hub_is_known_once_it_is_fetched(deberta, tmp_path):
    own = configured(HUB)
    assert preflight.left_out(own, tmp_path / "none") == ""
    assert "observed" in preflight.left_out(own, deberta)


def test_a_model_of_the_hub_that_hides_its_values_stops_the_run_once(deberta, monkeypatch):
    monkeypatch.setattr(hub, "download", lambda *_: deberta)
    with pytest.raises(InputError, match="Start the run again: the analyses"):
        preflight.check_run(configured(HUB))
    with pytest.raises(InputError, match="Start the run again without the key `text`"):
        preflight.check_run(configured(HUB, text=["a text"]))
