"""The section ``landscape`` of the configuration."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from darksecrets.run.settings import Section, Tasks, constant, setting, tasks_among

State = Literal["finetuned", "finetuned-from-normal"]


def _limits(minimum: int, maximum: int) -> dict[str, int]:
    return {"minimum": minimum, "maximum": maximum}


@dataclass(frozen=True)
class Trajectories(Section):
    """Heads followed through training."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models are followed through their training, head by head; all of "
        "the run for `null`. Each training keeps its weights at some steps until they are measured "
        "(2 bytes per parameter and snapshot).",
        default=(),
    )
    seeds: tuple[int, ...] | None = setting(
        None,
        "Fine-tuning seeds of these tasks that are followed; all if not given.",
        items={"minimum": 0, "maximum": 2**31 - 1},
        minItems=1,
        uniqueItems=True,
    )
    snapshots: int = constant(
        8,
        "Steps at which weights are kept, at most, the first and the last included; half of them "
        "evenly spaced, half geometrically.",
    )
    examples: int = setting(
        100,
        "Sampled examples whose attention is measured at every snapshot; all if a task has fewer.",
        **_limits(10, 100_000),
    )


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
    grid: int = setting(
        15,
        "Points along each axis of a plane, an odd number. The loss is computed at twice its "
        "square and about twice as many again on a line (479 for 15).",
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
    """Layers reset to pre-trained weights, paths between models, and the loss around them."""

    tasks: Tasks = tasks_among(
        "tasks",
        "Tasks whose fine-tuned models have layers and heads reset to pre-trained weights; all if "
        "not given, none for an empty list.",
    )
    states: tuple[State, ...] = setting(
        ("finetuned",),
        "Models whose layers are reset, and whose training is followed; must include `finetuned`. "
        "Those of `finetuned-from-normal` are reset to their random initialization.",
        uniqueItems=True,
        anyOf=[{"contains": {"const": "finetuned"}}],
        **{"$comment": "`finetuned` among them"},
    )
    points: tuple[float, ...] = setting(
        (0, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9, 1),
        "Shares of the fine-tuned weights in the models between both, ascending from 0 to 1.",
        items={"minimum": 0, "maximum": 1},
        minItems=2,
    )
    examples: int | None = setting(
        None,
        "Validation examples that are scored, at most; all if not given.",
        **_limits(10, 1_000_000),
    )
    training: int = setting(
        250,
        "Training examples whose loss is computed between both models; all if a task has fewer.",
        **_limits(1, 1_000_000),
    )
    trajectories: Trajectories = setting(Trajectories, "Heads followed through training.")
    surface: Surface = setting(Surface, "Loss surfaces.")
    flatness: Flatness = setting(Flatness, "Flatness of the loss.")
