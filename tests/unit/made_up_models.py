"""Made-up numbers of whole models: what they learned, grids of fine-tunings, flatness."""

from collections.abc import Collection, Mapping, Sequence

import numpy as np
import pandas as pd
from glue import TASKS

from darksecrets.beyond.landscape.declared import FLATNESS, STATES
from darksecrets.beyond.seeds.measure.grid import Grid
from darksecrets.core.data.metrics import compute
from darksecrets.paper.finetuning.tables import LEARNED

TASK = TASKS["MRPC"]
EXAMPLES, EPOCHS = 40, 4


def made_flatness(seeds: int, ratio: float = 4.0) -> pd.DataFrame:
    """Numbers of two tasks, with a spread over seeds."""
    rng, rows = np.random.default_rng(0), []
    for task in ("MRPC", "RTE"):
        for state, times in zip(STATES, (1.0, ratio), strict=True):
            for seed in range(seeds):
                value = times * np.exp(0.3 * rng.normal())
                row = {"task": task, "state": state, "seed": seed, "rise": value}
                rows.append({**row, "rise_low": 0.9 * value, "rise_high": 1.1 * value})
    about = {"examples": 8, "loss": 0.1, "constant_loss": 0.69}
    return pd.DataFrame(rows).assign(**about)[list(FLATNESS.names)]


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
    units = np.arange(EXAMPLES)
    return Grid(TASK, range(starts), range(orders), labels, units, answers, scores)


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
    numbers |= {"texts_cut": 0.0, "words_unknown": 0.01}
    table = pd.DataFrame(rows).assign(**numbers).astype({"seed": "Int64"})
    return table[list(LEARNED.names)]
