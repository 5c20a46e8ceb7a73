"""What importance and removal of heads need of configuration and model, before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.ablation.preflight import check_states
from darksecrets.data.preflight import check_chosen
from darksecrets.models.preflight import known_folder, refusal
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel

_PARTS = {
    "importance.tasks": "measures no importance",
    "importance.pruning.tasks": "removes no heads",
    "importance.learned_gates.tasks": "trains no gates",
}
"""Keys that choose tasks, and what a run without any of them does not do."""


def check(config: Mapping[str, Any]) -> None:
    """Check that models whose gates are to learn are studied at all.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: They are not.
    """
    tasks = config["importance"]["learned_gates"]["tasks"]
    if tasks and not config["ablation"]["states"]:
        raise InputError(
            f"Found importance.learned_gates.tasks: [{', '.join(tasks)}], but ablation.states: []. "
            "Expected [finetuned] or more states, whose importance gates are compared with. Change "
            "one of them."
        )


def check_tasks(config: Mapping[str, Any], key: str, left_out: str = "") -> None:
    """Check that a run has a part of this section, for targets that need it.

    Args:
        config: A resolved configuration.
        key: The key that chooses its tasks, such as ``importance.pruning.tasks``.
        left_out: Why the run has to leave out the sweep over heads, if it does.

    Raises:
        InputError: It has not.
    """
    check_states(config, left_out)
    for each in dict.fromkeys(("importance.tasks", key)):  # the others are among the former
        check_chosen(config, each, _PARTS[each])


def check_removable(config: Mapping[str, Any]) -> None:
    """Check that heads can be taken out of the model, for runs that save smaller ones.

    Of a model on the Hub only ``config.json`` is downloaded, unless it is in the cache.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: They cannot; or the Hub does not have the model.
    """
    folder = known_folder(config["model"])
    if folder and (reason := unremovable(folder)):
        raise InputError(f"{reason} Leave out the target `pruned_models`; everything else runs.")


def unremovable(folder: Path) -> str:
    """Why heads of a checkpoint cannot be removed; empty if they can, or if torch is missing."""

    def require(model: PreTrainedModel) -> None:
        from darksecrets.models.removal import require_removable

        require_removable(model)

    return refusal(folder, require)
