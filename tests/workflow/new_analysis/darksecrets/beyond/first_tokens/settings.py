"""The section ``first_tokens`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.settings import Section, Tasks, setting, tasks_among


@dataclass(frozen=True)
class Settings(Section):
    """Whose heads are measured, and on how much."""

    tasks: Tasks = tasks_among("tasks", "Tasks whose sampled examples are read; all if not given.")
    examples: int = setting(10, "Examples of a task; all if it has fewer.", minimum=1)
