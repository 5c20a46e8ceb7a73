"""Made-up numbers of whole models: what they learned, grids of fine-tunings, flatness, surfaces."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from glue import TASKS

from darksecrets.data.metrics import compute
from darksecrets.finetuning.tables import LEARNED
from darksecrets.landscape.surface import Grid as Nodes
from darksecrets.landscape.surface import Points, Surface, along, around, between
from darksecrets.landscape.tables import FLATNESS, MEASURES, STATES
from darksecrets.seeds.statistics import Grid

TASK = TASKS["MRPC"]
EXAMPLES, EPOCHS = 40, 4
NO_POINTS = (np.array([], dtype=np.int64), np.empty((0, 2)), np.empty((0, 2)), np.empty(0))
NO_LOSSES = (np.empty((2, 0)), np.empty((2, 2, 0)))


def made_surface(*, path: bool = False, flat: bool = False) -> Surface:
    """Losses of a bowl around the fine-tuned model; or the same loss everywhere."""

    def grid(x: np.ndarray, y: np.ndarray) -> Nodes:
        across, up = np.meshgrid(x, y)
        bowl = np.full_like(across, 0.7) if flat else 0.1 + across**2 + up**2
        losses = np.stack([bowl, bowl])
        return Nodes(x, y, losses, np.stack([0.98 * losses, 1.02 * losses]))

    shares = np.array([[1.0, 0], [0, 0], [0, 1]])
    ones = np.ones((2, 3))
    ends = np.stack([0.8 * ones, 1.2 * ones])
    corners = Points(np.full(3, -1), shares, 2 * shares, np.zeros(3), ones, ends)
    steps, places = np.array([0, 5, 9]), np.array([[1.0, 0], [0.4, 0.1], [0, 0]])
    followed = Points(steps, places, 2 * places, np.zeros(3), ones, ends)
    planes = {
        "models": grid(between(7), between(7)),
        "random": grid(around(7, 1), around(7, 1)),
        "line": grid(along(7), np.zeros(1)),
    }
    none = Points(*NO_POINTS, *NO_LOSSES)
    return Surface(planes, corners, followed if path else none, np.ones((2, 1, 2)))


def made_flatness(seeds: int, ratio: float = 4.0) -> pd.DataFrame:
    """Numbers of two tasks, with a spread over seeds."""
    rng, rows = np.random.default_rng(0), []
    for task in ("MRPC", "RTE"):
        for state, times in zip(STATES, (1.0, ratio), strict=True):
            for seed in range(seeds):
                for measure in MEASURES:
                    value = times * np.exp(0.3 * rng.normal())
                    ends = {"ci_low": 0.9 * value, "ci_high": 1.1 * value, "error": 0.05 * value}
                    known = {} if measure == "sharpness" else ends
                    row = {"task": task, "state": state, "seed": seed, "measure": measure}
                    rows.append({**row, "value": value, **known})
    about = {"split": "train", "scale": "filter", "steps": 3, "examples": 8, "parameters": 9}
    numbers = {"loss": 0.1, "constant_loss": 0.69, "gradient": 0.1}
    return pd.DataFrame(rows).assign(**about, **numbers)[list(FLATNESS.names)]


def made_grid(rng: np.random.Generator, skill: np.ndarray, early: float) -> Grid:
    """A grid whose runs are right with some probability, and whose scores part-way tell of it.

    Args:
        rng: Source of randomness.
        skill: [starts, orders] chances of a right answer.
        early: How much the scores part-way depend on the final ones; 0 for not at all.
    """
    labels = np.arange(EXAMPLES) % 2
    right = rng.random((skill.size, EXAMPLES)) < skill.reshape(-1, 1)
    answers = np.where(right, labels, 1 - labels)
    scores = {}
    for metric in TASK.metrics:
        final = np.array(
            [100 * compute(TASK, np.eye(2)[each], labels)[metric] for each in answers]
        ).reshape(skill.shape)
        noise = rng.normal(0, 5, (*skill.shape, EPOCHS - 1))
        part_way = early * final[..., None] + (1 - early) * 60 + noise
        scores[metric] = np.concatenate([np.clip(part_way, 0, 100), final[..., None]], axis=-1)
    starts, orders = skill.shape
    return Grid(TASK, range(starts), range(orders), labels, answers, scores)


def judged(
    metrics: Mapping[str, Sequence[str]],
    unlearned: Collection[str],
    seeds: Collection[int] = (1, 2),
) -> pd.DataFrame:
    """Whether models learned these tasks; of each task, those of the second seed did not."""
    rows = [
        {"task": task, "seed": seed, "metric": own[0], "learned": flag}
        for task, own in metrics.items()
        for number, seed in enumerate((None, *(seeds if len(seeds) > 1 else ())))
        for flag in [task not in unlearned and number != 2]
    ]
    numbers = {"score": 21.3, "majority": 20.0, "bag_of_words": 25.5, "p_value": 0.4}
    table = pd.DataFrame(rows).assign(**numbers).astype({"seed": "Int64"})
    return table[list(LEARNED.names)]
