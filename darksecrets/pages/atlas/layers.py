"""What is known of whole layers, which stands on the cards of their heads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import pandas as pd

from darksecrets.beyond.layers.declared import LAYER_GEOMETRY, LAYER_PROBES, STRUCTURAL_PROBES
from darksecrets.core.run.shown import ends, plain
from darksecrets.core.run.tables import Table
from darksecrets.paper.ablation.tables import LAYER_ABLATION


@dataclass(frozen=True)
class OfLayer:
    """A column of a table that has a row for every layer.

    Attributes:
        table: The table.
        value: The column.
        name: What people read; ``{kind}`` stands for the kind.
        kind: The column that distinguishes the kinds, by text; empty if there is one.
    """

    table: Table
    value: str
    name: str
    kind: str = ""


MEASURES = (
    OfLayer(LAYER_ABLATION, "delta", "Score with all its heads disabled, difference"),
    OfLayer(LAYER_PROBES, "accuracy", "Probe finds {kind}", kind="property"),
    OfLayer(STRUCTURAL_PROBES, "uuas", "Arcs of trees found in space"),
    OfLayer(LAYER_GEOMETRY, "anisotropy", "Anisotropy of words"),
)
"""In the order of the card; a run shows those whose tables it has."""


def content(
    tables: Mapping[str, pd.DataFrame], metrics: Mapping[str, Sequence[str]]
) -> list[dict[str, Any]]:
    """Numbers of the layers above the embeddings, as the page needs them.

    Args:
        tables: Tables of the run by name.
        metrics: Metrics of every task, the main one first.

    Returns:
        A dict per layer and number: ``layer``, ``task`` (empty of an encoder), ``state``, ``name``,
        ``value``, ``low`` and ``high`` of a single model, ``unit``, ``meaning``, and, where there
        is one, ``control``. Over several seeds, it is the mean.
    """
    known = [one for one in MEASURES if one.table.name in tables]
    return [row for one in known for row in _rows(one, tables[one.table.name], metrics)]


def _rows(
    one: OfLayer, table: pd.DataFrame, metrics: Mapping[str, Sequence[str]]
) -> Iterator[dict[str, Any]]:
    rows = table[(table["layer"] > 0) & table[one.value].notna()]
    if "metric" in rows:
        rows = rows[rows["metric"] == rows["task"].map({task: m[0] for task, m in metrics.items()})]
    names = ["task", "state", "layer"]
    if one.kind:
        names.append(one.kind)
    column = next(c for c in one.table.columns if c.name == one.value)
    low, high = ends(one.table, one.value)
    control = next((c.name for c in one.table.columns if c.control_of == one.value), None)
    for place, group in rows.groupby(names, sort=False, dropna=False):
        of = dict(zip(names, place, strict=True))
        found: dict[str, Any] = {
            "layer": int(group["layer"].iloc[0]),
            "task": of["task"] if isinstance(of["task"], str) else "",
            "state": of["state"],
            "name": one.name.format(kind=of.get(one.kind, "")),
            "value": _rounded(group[one.value]),
            "unit": column.unit,
            "meaning": plain(column.meaning),
        }
        if len(group) == 1 and group[[low, high]].notna().all(axis=None):
            found["low"] = _rounded(group[low])
            found["high"] = _rounded(group[high])
        if control and group[control].notna().all():
            found["control"] = {"name": control, "value": _rounded(group[control])}
        yield found


def _rounded(values: pd.Series[float]) -> float:
    return float(f"{values.mean():.4g}")
