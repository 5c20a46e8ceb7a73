"""What the search for subnetworks needs, checked before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.ablation import preflight as ablation
from darksecrets.models.preflight import known_folder, refusal
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel


def check(config: Mapping[str, Any]) -> None:
    """Check that there are as many random subnetworks as are to be re-trained.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: There are fewer.
    """
    settings = config["subnetworks"]
    if settings["retrain"] and settings["retrained_draws"] > settings["draws"]:
        raise InputError(
            f"subnetworks.retrained_draws in the configuration: found "
            f"{settings['retrained_draws']}, expected at most {settings['draws']}, the random "
            "subnetworks that there are (`subnetworks.draws`)."
        )


def check_run(config: Mapping[str, Any]) -> None:
    """Check that the heads and the MLPs of a model can be disabled, once a run begins.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: They cannot; the message says what to do.
    """
    ablation.check_run(config)
    folder = known_folder(config["model"])
    if folder and (problem := _unreachable(folder)):
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
        InputError: It does not.
    """
    ablation.check_states(config, left_out)
    if not config["subnetworks"]["tasks"] or "finetuned" not in config["ablation"]["states"]:
        raise InputError(
            "This run searches for no subnetworks: found subnetworks.tasks: "
            f"{config['subnetworks']['tasks']} and ablation.states: "
            f"{config['ablation']['states']}, expected names of tasks, and finetuned among the "
            "states. Change the configuration, or leave out `subnetworks` and `subnetwork_scores`."
        )


def _unreachable(folder: Path) -> str:
    """Why the MLPs of a model cannot be disabled; empty if they can, or if torch is missing."""

    def require(model: PreTrainedModel) -> None:
        from darksecrets.models.mlps import linear_maps_of

        linear_maps_of(model)

    return refusal(folder, require)
