"""The section ``seed_grid`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from darksecrets.core.run.settings import Section, Tasks, setting, tasks_among

Seeds = tuple[int, ...]


def _seeds(description: str) -> Any:  # noqa: ANN401 - a field
    limits = {"minItems": 2, "maxItems": 1000, "uniqueItems": True}
    each = {"minimum": 0, "maximum": 2**32 - 1}
    return setting((1, 2, 3), description, items=each, **limits)


@dataclass(frozen=True)
class Settings(Section):
    """Which tasks are fine-tuned with every pair of seeds."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks that are fine-tuned with every seed of the initialization and every seed of the "
        "data order, to see how much scores depend on each; all if not given. It takes a training "
        "for every pair except those of `seeds`.",
    )
    init_seeds: Seeds = _seeds("Seeds of the initialization.")
    order_seeds: Seeds = _seeds("Seeds of the data order.")
