"""The section ``faithfulness`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.settings import Section, Tasks, setting, tasks_among


@dataclass(frozen=True)
class Settings(Section):
    """Whose decisions are explained, and by how many examples."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks on which attention is compared with gradients of decisions, and tokens are erased; "
        "all if not given.",
    )
    examples: int = setting(
        100,
        "Sampled examples of a task whose gradients are computed; all if it has fewer.",
        minimum=1,
        maximum=1_000_000,
    )
    erased: int = setting(
        30,
        "How many of these have their tokens erased until the decision changes.",
        minimum=1,
        maximum=1_000_000,
    )
