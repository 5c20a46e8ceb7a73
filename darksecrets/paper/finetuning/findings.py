"""What a run found about fine-tuning, in a sentence (section 4.3)."""

from __future__ import annotations

from collections.abc import Sequence

import pandas as pd

from darksecrets.core.run.states import FROM_NORMAL

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


def describe_learned_tasks(learned: pd.DataFrame, differences: pd.DataFrame) -> str:
    """How many tasks fine-tuned models have learned, and what pre-training is worth.

    Args:
        learned: The table `learned`.
        differences: The table `mean_differences`.
    """
    tasks = learned[learned["seed"].isna()]
    count = int(tasks["learned"].sum())
    said = f"Fine-tuned models have learned {count} of {len(tasks)} tasks"
    rows = differences[differences["model"] == FROM_NORMAL]
    for lost in rows.loc[rows["reference"] == "finetuned", "difference"]:
        sign = "better" if lost <= 0 else "worse"
        said += f"; they are {abs(lost):.1f} points {sign} than without pre-training"
    return said
