"""The section ``subnetworks`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass

from darksecrets.core.run.settings import Section, Tasks, constant, setting, tasks_among


@dataclass(frozen=True)
class Settings(Section):
    """Which models are searched, for what, and beside what."""

    tasks: Tasks = tasks_among(
        "ablation.tasks",
        "Tasks, among `ablation.tasks`, whose models are searched for the heads and MLPs that are "
        "enough; all of these if not given.",
    )
    share: float = constant(
        0.9, "Share of the whole model's score that a good subnetwork keeps, on training examples."
    )
    examples: int = setting(
        500,
        "Training examples of the search; one half measures importance, the other decides. If a "
        "task has fewer than twice as many, half of them.",
        minimum=2,
        maximum=1_000_000,
    )
    draws: int = setting(
        20,
        "Random subnetworks of the size of the good one, for comparison.",
        minimum=3,
        maximum=1_000_000,
    )
    retrain: bool = setting(
        False, "Whether subnetworks are also fine-tuned from the pre-trained weights."
    )
    retrained_draws: int = constant(3, "Random subnetworks that are fine-tuned, too, if any are.")
