"""Everything that the page shows, from a run's tables and the maps of its tasks."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.data.metrics import spoken
from darksecrets.core.run import learned
from darksecrets.core.run.series import (
    CHOSEN,
    MEAN,
    Model,
    Series,
    find_series,
    shape_of,
)
from darksecrets.core.run.shown import LEVEL, Shown, plain
from darksecrets.core.run.states import FINETUNED
from darksecrets.pages.atlas import claims as of_claims
from darksecrets.pages.atlas import layers, packing
from darksecrets.pages.atlas.frame import BINS, OFFSETS
from darksecrets.pages.atlas.measures import SHOWN
from darksecrets.pages.atlas.sentences import describe
from darksecrets.pages.claims.registry import Paper

Metrics = Mapping[str, Sequence[str]]


@dataclass(frozen=True)
class Run:
    """What a run is, in words for the head of the page.

    Attributes:
        name: Its name.
        label: Its model and data in a few words.
        metrics: Metrics of every task, the main one first.
        seeds: Fine-tuning seeds.
        comparable: Whether it has the paper's model and data.
        figures: Tables that each figure shows; figures are paths beside the page.
        left_out: Why there is no sweep; empty if there is one.
        made: What made it, by name: the commit first, see `darksecrets.pages.report.history.facts`.
        synthetic: Whether its sentences were generated, so that it says nothing about BERT.
    """

    name: str
    label: str
    metrics: Metrics
    seeds: Sequence[int]
    comparable: bool
    figures: Mapping[str, Sequence[str]]
    left_out: str = ""
    made: Mapping[str, str] = field(default_factory=dict)
    synthetic: bool = False


def content(
    run: Run,
    tables: Mapping[str, pd.DataFrame],
    findings: pd.DataFrame,
    claims: pd.DataFrame,
    papers: Sequence[Paper],
    maps: Mapping[str, Mapping[str, Any]],
) -> tuple[dict[str, Any], str]:
    """What the page shows, without its maps; and its numbers, packed.

    Args:
        run: The run.
        tables: Tables of the measures, `score_means` and `learned`, by name;
            those that the run has.
        findings: The table `findings`.
        claims: The table `claims`.
        papers: The registry of claims.
        maps: Maps of every task, see `darksecrets.pages.atlas.maps.content`.
    """
    shape, judged = shape_of(tables), tables.get(learned.TABLE, pd.DataFrame())
    unlearned = learned.unlearned(judged.to_dict("records"))
    series = [one for shown in SHOWN for one in find_series(shown, tables, run.metrics, shape)]
    starts = np.cumsum([0, *(int(np.prod(one.values.shape[:3])) for one in series)])
    measures = [_measure(one, int(start)) for one, start in zip(series, starts, strict=False)]
    return {
        "run": {
            "name": run.name,
            "label": run.label,
            "comparable": run.comparable,
            "leftOut": run.left_out,
            "synthetic": run.synthetic,
            "made": list(run.made.items()),
            "needs": [{"title": paper.title, "needs": paper.needs} for paper in papers],
        },
        "findings": _findings(findings, run),
        "layers": shape[0],
        "heads": shape[1],
        "tasks": [
            {"name": task, "metric": spoken(names[0]), "unlearned": unlearned.get(task, "")}
            for task, names in run.metrics.items()
        ],
        "learning": {"mark": learned.MARK, "why": learned.WHY},
        "seeds": list(run.seeds),
        "level": LEVEL,
        "bins": BINS,
        "offsets": OFFSETS,
        "scores": _scores(tables.get("score_means"), run.metrics),
        "measures": _menu(measures, series),
        "claims": of_claims.content(papers, claims, series, run.figures, run.metrics),
        "ofLayers": layers.content(tables, run.metrics),
        "sentences": _sentences(series, run),
        "maps": maps,
    }, packing.pack_floats(np.concatenate([one.values.ravel() for one in series]))


def _findings(findings: pd.DataFrame, run: Run) -> list[dict[str, str]]:
    """Sentences, each with the name and the file of the figure that shows it, if there is one."""
    files = {Path(file).stem: file for file in run.figures}
    rows = findings.fillna("").to_dict("records")
    return [
        {
            "sentence": row["sentence"],
            "shownBy": row["shown_by"],
            "file": files.get(row["shown_by"], ""),
        }
        for row in rows
    ]


def _measure(series: Series, start: int) -> dict[str, Any]:
    """A measure as the page needs it: its names, and where its numbers are."""
    shown = series.shown
    column = shown.column(shown.value)
    return {
        "key": series.key,
        "name": series.name,
        "kind": series.kind,
        "kinds": {task: shown.words.get(kind, kind) for task, kind in series.kinds.items()},
        "group": shown.group,
        "table": shown.table.file,
        "meaning": plain(shown.meaning or column.meaning),
        "unit": column.unit,
        "palette": shown.palette,
        "onCard": shown.on_card
        if isinstance(shown.on_card, bool)
        else series.kind in shown.on_card,
        "test": plain(shown.column(shown.test).meaning) if shown.test else "",
        "twoSided": shown.two_sided,
        "columns": list(series.columns),
        "roles": _roles(shown, series.columns),
        "choices": list(series.choices),
        "tasks": list(series.tasks),
        "models": [list(model) for model in series.models],
        "compares": "state" not in shown.table.names,
        "start": start,
    }


def _roles(shown: Shown, columns: Sequence[str]) -> dict[str, Any]:
    """What the columns are for: numbers of columns by role."""
    named = {"value": shown.value, "test": shown.test, "over": shown.over, CHOSEN: CHOSEN}
    for prefix, of in (("", shown.value), ("over", shown.over)):
        ends = zip((f"{prefix}low", f"{prefix}high"), shown.ends(of), strict=False)
        named |= dict(ends)
    found = {role: columns.index(name) for role, name in named.items() if name in columns}
    several = {"controls": shown.controls, "beside": [shown.column(name) for name in shown.beside]}
    return {
        **found,
        **{
            role: [
                {"name": c.name, "column": columns.index(c.name), "meaning": plain(c.meaning)}
                for c in own
                if c.name in columns
            ]
            for role, own in several.items()
        },
    }


def _menu(measures: Sequence[dict[str, Any]], series: Sequence[Series]) -> list[dict[str, Any]]:
    """The measures; before the kinds of a category, the measure of the commonest kind."""
    menu: list[dict[str, Any]] = []
    seen: set[int] = set()
    for entry, one in zip(measures, series, strict=True):
        shown = one.shown
        if shown.palette == "category":
            if id(shown) not in seen:
                parts = [m for m, s in zip(measures, series, strict=True) if s.shown is shown]
                menu.append(_category(shown, entry, parts))
            seen.add(id(shown))
            entry["palette"] = "weight"
        menu.append(entry)
    return menu


def _category(
    shown: Shown, first: Mapping[str, Any], parts: Sequence[Mapping[str, Any]]
) -> dict[str, Any]:
    """The measure of the kind with the greatest value; the page computes it from its parts."""
    kinds = [part["kind"] for part in parts]
    return {
        **first,
        "key": f"{shown.table.name}.{shown.value}",
        "name": f"Commonest {shown.kind}",
        "kind": "",
        "of": "",
        "palette": "category",
        "meaning": f"{shown.kind} with the largest {shown.value}",
        "parts": [part["key"] for part in parts],
        "labels": [shown.words.get(kind, kind) for kind in kinds],
        "colours": [shown.colours[kind] for kind in kinds],
        "letters": [shown.letters[kind] for kind in kinds],
    }


def _scores(means: pd.DataFrame | None, metrics: Metrics) -> list[dict[str, Any]]:
    """Scores of every task's main metric: of each state of the model, and of the baselines."""
    if means is None:
        return []
    main = means[
        means["metric"] == means["task"].map({t: names[0] for t, names in metrics.items()})
    ]
    wanted = ["task", "model", "metric", "score", "ci_low", "ci_high"]
    return main[wanted].round(2).to_dict("records")  # type: ignore[return-value]


def _sentences(series: Sequence[Series], run: Run) -> str:
    """Sentences of all heads, packed: each text once, and its number for every head."""
    texts: dict[str, int] = {}
    found: dict[str, dict[str, list[int]]] = {}
    seeds: list[int | str] = [*run.seeds, MEAN] if len(run.seeds) > 1 else [*run.seeds]
    models = [Model("pretrained", None), *(Model(FINETUNED, seed) for seed in seeds)]
    for task in run.metrics:
        for model in models:
            if (
                model.seed is not None
                and model.seed != MEAN
                and not any(one.has(task, model) for one in series)
            ):
                continue  # the task has other seeds
            said = describe(series, task, model)
            numbers = [texts.setdefault(text, len(texts)) for text in said]
            name = model.state if model.seed is None else f"{model.state}/{model.seed}"
            found.setdefault(task, {})[name] = numbers
    return packing.text(json.dumps({"texts": list(texts), "of": found}).encode())
