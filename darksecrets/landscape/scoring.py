"""All tables of one task and state, from the outputs of its models."""

from __future__ import annotations

from collections.abc import Mapping

import pandas as pd

from darksecrets.ablation.statistics import Resampling
from darksecrets.data.tasks import Task
from darksecrets.landscape.joining import change_and_cost
from darksecrets.landscape.results import Floats, Reset, require_alike
from darksecrets.landscape.statistics import interpolation, reset_heads, reset_layers, reset_means
from darksecrets.run.tables import identify


def score(
    results: Mapping[int, Reset],
    maps: Mapping[int, Floats],
    task: Task,
    state: str,
    resampling: Resampling,
) -> dict[str, pd.DataFrame]:
    """Make the tables `darksecrets.landscape.tables.TABLES` of a task and state, by name.

    Args:
        results: The results by seed.
        maps: [layers, heads] how much each head's maps changed, by seed; empty if not known.
        task: The task.
        state: The state of the models.
        resampling: Numbers of samples, seed.

    Raises:
        InputError: The results are of different examples or cannot be scored.
    """
    require_alike(results, task)
    layers = [reset_layers(result, task, resampling) for result in results.values()]
    heads = [reset_heads(result, task, resampling) for result in results.values()]
    of_seeds = {"reset_layers": layers, "reset_heads": heads}
    found = {
        name: pd.concat(
            [
                identify(table, task.name, f"{state}/seed-{seed}")
                for seed, table in zip(results, tables, strict=True)
            ],
            ignore_index=True,
        )
        for name, tables in of_seeds.items()
    }
    over_seeds = {
        "reset_means": reset_means(results, layers, task, resampling),
        "interpolation": interpolation(results, task, resampling),
        "change_and_cost": change_and_cost(results, maps, task, resampling),
    }
    for name, table in over_seeds.items():
        about = pd.DataFrame({"task": task.name, "state": state}, index=table.index)
        found[name] = pd.concat([about, table], axis=1)
    return found


def changes_of_maps(cosine: pd.DataFrame) -> Floats:
    """[layers, heads] 1 − cosine of the maps before and after fine-tuning.

    Args:
        cosine: Rows of the table ``cosine`` of one task and seed.
    """
    wide = 1 - cosine.pivot(index="layer", columns="head", values="similarity").sort_index()
    changes: Floats = wide.to_numpy(dtype=float)
    return changes
