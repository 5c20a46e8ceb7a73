"""The section ``importance`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.settings import Section, Tasks, constant, setting, tasks_among


@dataclass(frozen=True)
class Pruning(Section):
    """Heads removed in the order of their importance."""

    tasks: Tasks = tasks_among(
        "importance.tasks",
        "Tasks, among `importance.tasks`, for which heads are removed in the order of their "
        "importance; all of these if not given, none for an empty list.",
    )
    draws: int = setting(20, "Random orders, for comparison.", minimum=2, maximum=1_000_000)
    tolerance: float = constant(1, "Drop of a score (× 100) up to which heads are removable.")


@dataclass(frozen=True)
class LearnedGates(Section):
    """Gates that learn to close heads."""

    tasks: Tasks = tasks_among(
        "importance.tasks",
        "Tasks, among `importance.tasks`, on which models are trained on with gates that learn to "
        "close heads. It takes a training for every penalty, and more for comparison.",
        default=(),
    )
    penalties: tuple[float, ...] = setting(
        (0.003, 0.01, 0.03, 0.1),
        "Penalties λ per head that is not closed, each for a training of its own; the larger, the "
        "fewer heads are kept.",
        items={"exclusiveMinimum": 0},
        minItems=1,
        uniqueItems=True,
    )
    epochs: int = setting(
        3,
        "Epochs of such a training; the other settings are those of `fine_tuning`.",
        minimum=1,
        maximum=1000,
    )
    draws: int = constant(20, "Random sets of as many heads as gates keep, for comparison.")
    trained: int = setting(
        2,
        "How many of these are trained on, too, besides as many heads by the absolute gradient; "
        "neither if 0.",
        minimum=0,
        maximum=1_000_000,
    )


@dataclass(frozen=True)
class Settings(Section):
    """Whose heads are measured, and what is done with the order of their importance."""

    tasks: Tasks = tasks_among(
        "ablation.tasks",
        "Tasks, among `ablation.tasks`, for which the importance of heads is measured; all of "
        "these if not given.",
    )
    examples: int = setting(
        250,
        "Training examples on which importance is measured; as many others choose how many heads "
        "are removed. If there are too few, half of them each.",
        minimum=2,
        maximum=1_000_000,
    )
    pruning: Pruning = setting(Pruning, "Heads removed in the order of their importance.")
    learned_gates: LearnedGates = setting(LearnedGates, "Gates that learn to close heads.")
