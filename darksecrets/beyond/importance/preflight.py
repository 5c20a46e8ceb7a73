"""What importance and removal of heads need of configuration and model, before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darksecrets.core.data.preflight import check_chosen
from darksecrets.core.run.errors import InputError
from darksecrets.paper.ablation.preflight import check_states

_PARTS = {
    "importance.tasks": "measures no importance",
    "importance.pruning.tasks": "removes no heads",
    "importance.learned_gates.tasks": "trains no gates",
}
"""Keys that choose tasks, and what a run without any of them does not do."""


def check(config: Mapping[str, Any]) -> None:
    """Check that runs with learned gates also disable heads.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: The run disables no heads (`ablation.states` is empty).
    """
    tasks = config["importance"]["learned_gates"]["tasks"]
    if tasks and not config["ablation"]["states"]:
        raise InputError(
            f"importance.learned_gates.tasks is [{', '.join(tasks)}], but ablation.states is []. "
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
        InputError: The key names no task.
    """
    check_states(config, left_out)
    for each in dict.fromkeys(("importance.tasks", key)):  # the others are among the former
        check_chosen(config, each, _PARTS[each])
