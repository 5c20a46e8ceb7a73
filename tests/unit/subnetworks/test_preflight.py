"""What stops before any job: too few random subnetworks, MLPs that are not found."""

import pytest
import torch
from encoders import FAMILIES

from darksecrets.models import checkpoints
from darksecrets.run.errors import InputError
from darksecrets.subnetworks import preflight
from workflow.lib.configuration import resolve


def config(**changes):
    return resolve(
        {"run": "own", "data": {"source": "builtin"}, "model": {"source": "builtin"}, **changes}
    )


def test_a_run_without_subnetworks_refuses_their_figures() -> None:
    with pytest.raises(InputError, match=r"found subnetworks.tasks: \[\]"):
        preflight.check_tasks(config(subnetworks={"tasks": []}))
    with pytest.raises(InputError, match="disables no heads"):
        preflight.check_tasks(config(ablation={"states": []}))
    with pytest.raises(InputError, match="Why"):
        preflight.check_tasks(config(), left_out="Why.")
    preflight.check_tasks(config())


@pytest.mark.parametrize("family", ["ALBERT", "DistilBERT"])
def test_encoders_with_mlps_pass(family, tmp_path):
    folder = FAMILIES[family].save(tmp_path / "model")
    preflight.check_run(config(model={"source": "folder", "folder": str(folder)}))


def test_an_encoder_without_mlps_that_are_found_is_refused(tmp_path, monkeypatch):
    folder = FAMILIES["BERT"].save(tmp_path / "model")
    trial_model = checkpoints.trial_model

    def strange(path):
        """The first layer has an MLP of four linear maps."""
        model = trial_model(path)
        layer = model.base_model.encoder.layer[0]
        size = layer.output.dense.out_features
        more = (torch.nn.Linear(size, size) for _ in range(2))
        layer.output.dense = torch.nn.Sequential(layer.output.dense, *more)
        return model

    monkeypatch.setattr(checkpoints, "trial_model", strange)
    with pytest.raises(InputError, match="MLPs of this model cannot be disabled") as error:
        preflight.check_run(config(model={"source": "folder", "folder": str(folder)}))
    assert "tasks: []" in str(error.value)
    assert str(folder) in str(error.value)
