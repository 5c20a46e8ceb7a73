"""What the search for subnetworks needs, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darksecrets.core.models.preflight import known_folder, refusal
from darksecrets.core.run.errors import InputError
from darksecrets.paper.ablation import preflight as ablation


def check_run(config: Mapping[str, Any]) -> None:
    """Check that the heads and the MLPs of a model can be disabled, once a run begins.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: Heads or MLPs cannot be disabled; the message says what to do.
    """
    ablation.check_run(config)
    folder = known_folder(config["model"])
    if folder and (problem := refusal(folder, "darksecrets.core.models.mlps.linear_maps_of")):
        raise InputError(
            f"{problem} To run everything else, set `subnetworks: {{tasks: []}}` in the "
            "configuration."
        )


def check_tasks(config: Mapping[str, Any], left_out: str = "") -> None:
    """Check that a run searches for subnetworks, for targets that need it to.

    Args:
        config: A resolved configuration.
        left_out: Why it has to leave out the sweep over heads, if it does.

    Raises:
        InputError: The run searches for no subnetworks.
    """
    ablation.check_states(config, left_out)
    if not config["subnetworks"]["tasks"] or "finetuned" not in config["ablation"]["states"]:
        raise InputError(
            "This run searches for no subnetworks. subnetworks.tasks must name tasks and is "
            f"{config['subnetworks']['tasks']}; ablation.states must include finetuned and is "
            f"{config['ablation']['states']}. Change the configuration, or leave out `subnetworks` "
            "and `subnetwork_scores`."
        )
