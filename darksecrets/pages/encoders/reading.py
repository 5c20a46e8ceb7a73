"""Read finished runs, or what people send back of them: the record, the configuration, tables."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from pathlib import Path

import pandas as pd

from darksecrets.core.run import learned
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import read_yaml
from darksecrets.core.run.tables import Table
from darksecrets.pages.claims.tables import CLAIMS
from darksecrets.paper.ablation.tables import HEAD_ABLATION
from darksecrets.paper.finetuning.tables import COSINE, LEARNED, SCORE_MEANS
from darksecrets.paper.patterns.tables import PATTERN_SHARES

COMPARED = (LEARNED, SCORE_MEANS, COSINE, PATTERN_SHARES, HEAD_ABLATION)
"""Tables that are compared besides claims; a run may lack any."""
_FACTS = ("Model", "Data", "Seeds", "Software", "Commit", "Made")
VERDICT = "verdict_on_learned_tasks"
"""The verdict that is compared: a run that has not all tasks of a paper decides few others."""
_OF_CLAIMS = ("paper", "id", "claim", VERDICT, "value", "ci_low", "ci_high", "unit", "needs")


@dataclass(frozen=True)
class FinishedRun:
    """A run that is finished.

    Attributes:
        name: What the page calls it: its encoder, and its own name where encoders are the same.
        folder: Its folder.
        facts: What made it, from its record.
        metrics: Metrics of its tasks, the main one first.
        claims: The columns of its table of claims that are compared, by paper and number.
        tables: Further tables, by name.
        left_out: Tables of another version, and what is wrong with them.
    """

    name: str
    folder: Path
    facts: Mapping[str, str]
    metrics: Mapping[str, Sequence[str]]
    claims: pd.DataFrame
    tables: Mapping[str, pd.DataFrame]
    left_out: Mapping[str, str] = field(default_factory=dict)

    @property
    def unlearned(self) -> set[str]:
        """Tasks that its models have not learned."""
        rows = self.tables.get(LEARNED.name, pd.DataFrame())
        return {*learned.unlearned(rows.to_dict("records"))}


def read(folders: Sequence[Path]) -> list[FinishedRun]:
    """Read runs, in the order given.

    Args:
        folders: Their folders: ``results/<run>``, or one with ``run.json``, ``config.yaml`` and
            the tables in it.

    Raises:
        InputError: There are fewer than two; one is no folder of a finished run, or the same as
            another.
    """
    if len(folders) < 2:
        raise InputError("Give the folders of at least two finished runs, such as results/mine.")
    runs = [_read(folder) for folder in folders]
    for number, run in enumerate(runs):
        for other in runs[:number]:
            same = run.folder.resolve() == other.folder.resolve()
            if same or (run.facts == other.facts and run.claims.equals(other.claims)):
                raise InputError(f"{run.folder} and {other.folder} are the same run. Give it once.")
    return _named(runs)


def _read(folder: Path) -> FinishedRun:
    """Read one run.

    Raises:
        InputError: It is no folder of a finished run.
    """
    if not folder.is_dir():
        raise InputError(f"There is no folder {folder}. Give that of a finished run.")
    tables = folder / "tables" if (folder / "tables").is_dir() else folder
    needed = [folder / "run.json", folder / "config.yaml", tables / CLAIMS.file]
    if missing := [str(path.relative_to(folder)) for path in needed if not path.is_file()]:
        raise InputError(
            f"{folder} has no {', '.join(missing)}, so it is no run, or not finished. Complete it "
            "with the command that started it and the target `all`."
        )
    try:
        facts = json.loads(needed[0].read_text(encoding="utf-8"))["facts"]
        config = read_yaml(needed[1])
        metrics = {task: list(entry["metrics"]) for task, entry in config["tasks"].items()}
        claims = pd.read_csv(needed[2], keep_default_na=True)[list(_OF_CLAIMS)]
    except (KeyError, ValueError, TypeError, AttributeError) as error:
        raise InputError(
            f"{folder}: the record, the configuration or the claims cannot be read ({error}). "
            "Copy run.json, config.yaml and claims.csv again."
        ) from error
    found, left_out = {}, {}
    for declared in COMPARED:
        path = tables / declared.file
        if path.is_file():
            try:
                found[declared.name] = declared.read(path)
            except InputError as error:
                left_out[declared.name] = str(error)
    name = facts["Model"].partition(" in ")[0].partition(", revision")[0]
    own = f"{name} ({config['run']})"
    return FinishedRun(own, folder, facts, metrics, claims.astype({"id": str}), found, left_out)


def _named(runs: Sequence[FinishedRun]) -> list[FinishedRun]:
    """The same runs; encoders that are there once are called by their names alone.

    Raises:
        InputError: Two runs have the same name and encoder.
    """
    shorts = [run.name.rpartition(" (")[0] for run in runs]
    named: list[FinishedRun] = []
    for run, short in zip(runs, shorts, strict=True):
        name = short if shorts.count(short) == 1 else run.name
        if name in [other.name for other in named]:
            raise InputError(
                f"Two runs are called {name}. Give one another name: `run:` in its config.yaml."
            )
        named.append(replace(run, name=name))
    return named


def differing_facts(runs: Sequence[FinishedRun]) -> dict[str, list[str]]:
    """What differs between runs: a value for each run, by what it is of."""
    facts = {name: [str(run.facts.get(name, "–")) for run in runs] for name in _FACTS}
    facts["Tasks"] = [", ".join(run.metrics) for run in runs]
    facts["Not learned"] = [", ".join(sorted(run.unlearned)) or "–" for run in runs]
    return {name: values for name, values in facts.items() if len(set(values)) > 1}


def common_tasks(runs: Sequence[FinishedRun], declared: Table) -> list[str]:
    """Tasks that all runs have, and have learned, and of which all have a table."""
    if any(declared.name not in run.tables for run in runs):
        return []
    return [
        task
        for task in runs[0].metrics
        if all(
            task in run.metrics
            and task not in run.unlearned
            and (run.tables[declared.name]["task"] == task).any()
            for run in runs
        )
    ]
