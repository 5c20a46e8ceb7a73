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
    means = cosine.groupby(["task", "layer"])["similarity"].mean()
    if len(tasks) == 1:
        return f"Fine-tuning on {tasks[0]} changes layer {means[tasks[0]].idxmin()} most"
    layers = int(cosine["layer"].max())
    last = min(LAST, layers - 1)
    changed = [set(means[task].nsmallest(last).index) for task in tasks]
    found = sum(each == set(range(layers - last + 1, layers + 1)) for each in changed)
    which = "the last two layers" if last > 1 else "the last layer"
    return f"Fine-tuning changes {which} most on {found} of {len(tasks)} tasks"


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
