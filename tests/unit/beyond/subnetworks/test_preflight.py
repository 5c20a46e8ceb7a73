"""What stops before any job: too few random subnetworks, MLPs that are not found."""

import pytest
from encoders import FAMILIES
from shipped import DATA, MODEL

from darksecrets.beyond.subnetworks import preflight
from darksecrets.core.run.errors import InputError
from workflow.lib.configuration import resolve


def config(**changes):
    return resolve({"run": "own", "data": DATA, "model": MODEL, **changes})


def test_a_run_without_subnetworks_refuses_their_figures() -> None:
    with pytest.raises(InputError, match=r"subnetworks.tasks must name tasks and is \[\]"):
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
