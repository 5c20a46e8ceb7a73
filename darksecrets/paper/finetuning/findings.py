"""What a run found about fine-tuning, in a sentence (section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from darksecrets.core.data.metrics import accuracy_rows
from darksecrets.core.run.states import FINETUNED, FROM_NORMAL

LAST = 2
"""Layers that the paper finds to change most: the last ones."""


def describe_changed_layers(cosine: pd.DataFrame, tasks: Sequence[str]) -> str:
    """On how many tasks the last layers change most, by the mean over heads and seeds.

    Args:
        cosine: The table `cosine`.
        tasks: Tasks that are described.
    """
    if len(tasks) == 1:
        means = cosine[cosine["task"] == tasks[0]].groupby("layer")["similarity"].mean()
        return f"Fine-tuning on {tasks[0]} changes layer {means.idxmin()} most"
    found = len(find_tasks_whose_last_layers_change_most(cosine, tasks))
    which = "the last two layers" if _count_last_layers(cosine) > 1 else "the last layer"
    return f"Fine-tuning changes {which} most on {found} of {len(tasks)} tasks"


def find_tasks_whose_last_layers_change_most(
    cosine: pd.DataFrame, tasks: Sequence[str]
) -> list[str]:
    """Tasks whose last two layers have the lowest similarities, by means over heads and seeds.

    Args:
        cosine: The table `cosine`.
        tasks: Tasks among which they are looked for.
    """
    means = cosine.groupby(["task", "layer"])["similarity"].mean()
    layers = int(cosine["layer"].max())
    last = _count_last_layers(cosine)
    wanted = set(range(layers - last + 1, layers + 1))
    return [task for task in tasks if set(means[task].nsmallest(last).index) == wanted]


def _count_last_layers(cosine: pd.DataFrame) -> int:
    """Two, or as many as leave one layer to compare with."""
    return min(LAST, int(cosine["layer"].max()) - 1)


def describe_learned_tasks(learned: pd.DataFrame, means: pd.DataFrame) -> str:
    """How many tasks fine-tuned models have learned, and what pre-training is worth on these.

    Args:
        learned: The table `learned`.
        means: The table `score_means`.
    """
    tasks = learned[learned["seed"].isna()]
    chosen = tasks.loc[tasks["learned"].astype(bool), "task"].tolist()
    said = f"Fine-tuned models have learned {len(chosen)} of {len(tasks)} tasks"
    gains = score_gains(means, chosen, FINETUNED, FROM_NORMAL)
    if gains.empty:
        return said
    sign = "above" if gains.mean() >= 0 else "below"
    average = "on average " if len(gains) > 1 else ""
    return (
        f"{said}; there, they score {average}{abs(gains.mean()):.1f} points {sign} models trained "
        "from random weights"
    )


def score_gains(
    means: pd.DataFrame, tasks: Sequence[str], model: str, reference: str
) -> pd.Series[float]:
    """By task, the mean score of a model over that of another: accuracy, or the main metric.

    Args:
        means: The table `score_means`.
        tasks: Tasks that are meant.
        model: A state of the model.
        reference: What it is compared with.
    """
    rows = accuracy_rows(means[means["task"].isin(list(tasks))])
    scores = rows.pivot_table(index="on", columns="model", values="score", sort=False)
    if not {model, reference} <= set(scores.columns):
        return pd.Series(dtype=float)
    return (scores[model] - scores[reference]).dropna()
