"""Grids of made-up fine-tunings: how good each run is, its answers, and its scores part-way."""

import numpy as np
from glue import TASKS
from scipy.stats import norm

from darksecrets.beyond.seeds.measure.grid import Grid
from darksecrets.core.data.metrics import PERCENT
from darksecrets.core.data.tasks import Task

TASK = TASKS["RTE"]


def normal_skill(
    rng: np.random.Generator, shape: tuple[int, int], init: float, order: float, residual: float
) -> np.ndarray:
    """[starts, orders] chances of a right answer, around 0.7; deviations in points."""
    starts, orders = shape
    made = init * rng.normal(size=(starts, 1)) + order * rng.normal(size=(1, orders))
    chances = 0.7 + (made + residual * rng.normal(size=shape)) / PERCENT
    return np.clip(chances, 0.02, 0.98)


def grid_of(
    rng: np.random.Generator,
    skill: np.ndarray,
    *,
    early: float = 0.0,
    examples: int = 120,
    epochs: int = 3,
    task: Task = TASK,
) -> Grid:
    """Runs that find the same examples hard, so that their errors are correlated.

    Args:
        rng: Source of randomness.
        skill: [starts, orders] chances of a right answer.
        early: How much scores part-way depend on the final ones; 0 for not at all.
        examples: Validation examples.
        epochs: Epochs of the training.
        task: The task; it has labels 0 and 1.
    """
    labels = np.arange(examples) % 2
    hard = rng.normal(size=examples) + rng.normal(size=(skill.size, examples))
    right = hard < np.sqrt(2) * norm.ppf(skill).reshape(-1, 1)
    final = PERCENT * right.mean(axis=1).reshape(skill.shape)
    noise = 3 * rng.normal(size=(*skill.shape, epochs - 1))
    part_way = early * final[..., None] + (1 - early) * 70 + noise
    scores = np.concatenate([np.clip(part_way, 0, 100), final[..., None]], axis=-1)
    starts, orders = skill.shape
    answers = np.where(right, labels, 1 - labels)
    of_metrics = dict.fromkeys(task.metrics, scores)
    units = np.arange(examples)
    return Grid(task, range(starts), range(orders), labels, units, answers, of_metrics)
