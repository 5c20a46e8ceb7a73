"""The subnetworks of one model, and what they predict beside the whole model."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np
import pandas as pd
from transformers import PreTrainedModel

from darksecrets.beyond.subnetworks.declared import BAD, GOOD, RANDOM, SUBNETWORKS
from darksecrets.beyond.subnetworks.measure.parts import Parts
from darksecrets.beyond.subnetworks.measure.search import SearchResult, predictions
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.models.hooks import shape_of
from darksecrets.core.models.mlps import linear_maps_of
from darksecrets.core.run.errors import InputError

WHOLE = "whole"


def sets_of(names: Sequence[str]) -> pd.DataFrame:
    """Rows of the sets of a sweep; the first is the whole model."""
    kinds = ["baseline", *["set"] * (len(names) - 1)]
    sets = pd.DataFrame({"kind": kinds, "layer": pd.NA, "head": pd.NA, "name": list(names)})
    return sets.astype({"layer": "Int64", "head": "Int64"})


def add_retrained(result: SweepResult, predictions: Mapping[str, pd.DataFrame]) -> SweepResult:
    """The whole model beside re-trained subnetworks.

    Args:
        result: Predictions of the whole model, and others.
        predictions: By name, tables of predictions of the re-trained subnetworks.

    Raises:
        InputError: A table is about other examples.
    """
    found = [result.predictions[0]]
    for name, table in predictions.items():
        if table["idx"].tolist() != result.idx.tolist():
            raise InputError(
                f"The predictions of the re-trained subnetwork {name} are of other examples than "
                "those of the fine-tuned model. Run both again."
            )
        found.append(table["prediction"].to_numpy(dtype=result.predictions.dtype))
    return replace(result, sets=sets_of([WHOLE, *predictions]), predictions=np.stack(found))


def subnetworks(model: PreTrainedModel, found: SearchResult, draws: int, seed: int) -> pd.DataFrame:
    """The good, the bad and random subnetworks.

    Args:
        model: The model that was searched.
        found: Its good subnetwork.
        draws: Number of random subnetworks, of exactly the size of the good one.
        seed: Their seed.

    Returns:
        The table ``subnetworks`` without the columns of the model.
    """
    rng, shape = np.random.default_rng(seed), shape_of(model)
    every = [(GOOD, 1, found.good), (BAD, 1, found.bad())]
    every += [
        (RANDOM, draw, Parts.drawn(shape, found.good.size, rng)) for draw in range(1, draws + 1)
    ]
    steps = np.concatenate([found.heads.ravel(), found.mlps])
    removed_at = pd.Series(steps, dtype="Int64").where(steps > 0)
    never = pd.Series(pd.NA, index=removed_at.index, dtype="Int64")
    tables = []
    for name, draw, parts in every:
        table = parts.table().assign(subnetwork=name, draw=draw, weights=_weights(model))
        tables.append(table.assign(step=removed_at if name == GOOD else never))
    joined = pd.concat(tables, ignore_index=True)
    return SUBNETWORKS.select(joined)


def _weights(model: PreTrainedModel) -> list[int]:
    """Weights of the linear maps of all heads, then of all MLPs."""
    layers, heads = linear_maps_of(model), shape_of(model).heads
    head_sizes = [sum(m.weight.numel() for m in layer.attention) // heads for layer in layers]
    mlp_sizes = [sum(m.weight.numel() for m in layer.mlp) for layer in layers]
    return [*np.repeat(head_sizes, heads).tolist(), *mlp_sizes]


def predicted(
    model: PreTrainedModel, split: EncodedSplit, task: Task, table: pd.DataFrame
) -> SweepResult:
    """Predictions of the intact model and of all subnetworks.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        split: Encoded validation examples.
        task: Their task.
        table: The table ``subnetworks`` of the model.
    """
    rows = list(range(len(split)))
    groups = table.groupby(["subnetwork", "draw"], sort=False)
    parts = {f"{name} {draw}": Parts.from_table(part) for (name, draw), part in groups}
    removals = [None, *(each.removal() for each in parts.values())]
    found = predictions(model, split, task, rows, removals)
    return SweepResult(sets_of([WHOLE, *parts]), found, split.labels, split.idx, split.units)
