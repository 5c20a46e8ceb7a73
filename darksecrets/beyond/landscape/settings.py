"""The section ``landscape`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from darksecrets.core.run.settings import Section, Tasks, constant, setting, tasks_among

State = Literal["finetuned", "finetuned-from-normal"]


def _limits(minimum: int, maximum: int) -> dict[str, int]:
    return {"minimum": minimum, "maximum": maximum}


@dataclass(frozen=True)
class Surface(Section):
    """Loss surfaces."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models have their loss surfaces computed, which takes long; all "
        "for `null`.",
        default=(),
    )
    seeds: int = constant(1, "For how many seeds of a task surfaces are computed.")
    snapshots: int = constant(
        8,
        "Steps of the training at which weights are kept for its path, at most, the first and the "
        "last included; half of them evenly spaced, half geometrically.",
    )
    grid: int = setting(
        15,
        "Points along each axis of the plane, an odd number. The loss is computed at its square "
        "and at nearly twice as many on a line (254 for 15).",
        **_limits(5, 201),
    )
    examples: int = setting(
        100,
        "Examples of each split whose loss is computed; all if a task has fewer.",
        **_limits(10, 1_000_000),
    )


@dataclass(frozen=True)
class Flatness(Section):
    """How flat the loss is around a model."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models, randomly initialized ones included, are measured for how "
        "flat the loss is around them; all for `null`. Each takes about as long as a fine-tuning.",
        default=(),
    )
    examples: int = setting(
        64, "Training examples, drawn at random; all if there are fewer.", **_limits(1, 1_000_000)
    )
    probes: int = setting(10, "Random vectors for the trace of the Hessian.", **_limits(2, 10_000))
    iterations: int = setting(
        16,
        "Lanczos vectors for its top eigenvalue, at most; each takes the encoder's memory again.",
        **_limits(1, 1000),
    )
    directions: int = setting(
        10,
        "Random filter-normalised directions in which the loss is followed, both ways.",
        **_limits(2, 10_000),
    )
    ascent: int = setting(
        5, "Gradients for a sharpness, from each of three starts, at most.", **_limits(1, 1000)
    )


@dataclass(frozen=True)
class Settings(Section):
    """Layers reset to pre-trained weights, and the loss around models."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models have layers reset to pre-trained weights; all if not given, "
        "none for an empty list.",
    )
    states: tuple[State, ...] = setting(
        ("finetuned",),
        "Models whose layers are reset; must include `finetuned`. "
        "Those of `finetuned-from-normal` are reset to their random initialization.",
        uniqueItems=True,
        anyOf=[{"contains": {"const": "finetuned"}}],
        **{"$comment": "`finetuned` among them"},
    )
    examples: int | None = setting(
        None,
        "Validation examples that are scored, at most; all if not given.",
        **_limits(10, 1_000_000),
    )
    surface: Surface = setting(Surface, "Loss surfaces.")
    flatness: Flatness = setting(Flatness, "Flatness of the loss.")
