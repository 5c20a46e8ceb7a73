"""What made a run: commits, machines, versions and costs, from the records of its jobs."""

from __future__ import annotations

import json
import os
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.run.files import PROVENANCE
from darksecrets.run.provenance import environment

if TYPE_CHECKING:
    import pandas as pd

_ELSEWHERE = {"inspect", "logs", "benchmarks"}
"""Folders of a run without records of its own results."""
_SHOWN = ("torch", "transformers", "snakemake", "numpy", "pandas", "scikit-learn")


@dataclass(frozen=True)
class History:
    """What made a run.

    Attributes:
        commits: Commits of the project, with the number of results that each made, the commonest
            first; ``unknown`` outside of a checkout.
        machines: CPUs with their numbers of cores, the same way; with GPUs, if any was used.
        versions: Versions of the project, of Python and of the main libraries.
        first: When the first result was made (UTC); empty without records.
        last: When the last one was.
    """

    commits: Mapping[str, int]
    machines: Mapping[str, int]
    versions: Mapping[str, str]
    first: str
    last: str


def records(run: Path) -> Iterator[dict[str, Any]]:
    """The provenance records of a run's results.

    Args:
        run: Folder of the run.
    """
    for folder, folders, names in os.walk(run, followlinks=True):  # of which some may be links
        if Path(folder) == run:
            folders[:] = {*folders} - _ELSEWHERE
        folders.sort()
        for name in sorted(names):
            if name.endswith(PROVENANCE):
                yield json.loads(Path(folder, name).read_text(encoding="utf-8"))


def gather(found: Iterable[Mapping[str, Any]]) -> History:
    """Summarize provenance records.

    Args:
        found: The records; of none, as where results are kept in remote storage, the history is
            that of this process.
    """
    known = [record for record in found if "environment" in record]
    environments = [record["environment"] for record in known] or [environment()]
    versions: dict[str, Counter[str]] = {}
    for own in environments:
        named = {"darksecrets": own["darksecrets"]["version"], "Python": own["python"]}
        for name, version in (
            named | {name: own["libraries"].get(name) for name in _SHOWN}
        ).items():
            versions.setdefault(name, Counter())[version or ""] += 1
    created = sorted(record["created"] for record in known if "created" in record)
    return History(
        commits=_counted(own["darksecrets"]["commit"] or "unknown" for own in environments),
        machines=_counted(map(_machine, known or [{"environment": environments[0]}])),
        versions={
            name: " and ".join(version for version, _ in counts.most_common() if version)
            for name, counts in versions.items()
        },
        first=created[0] if created else "",
        last=created[-1] if created else "",
    )


def _counted(names: Iterable[str]) -> dict[str, int]:
    return dict(Counter(names).most_common())


def _machine(record: Mapping[str, Any]) -> str:
    """The CPU of a job, and its GPU if it used one."""
    own = record["environment"]
    used = [part.get("device") for part in record.values() if isinstance(part, dict)]
    others = sorted({device for device in used if device and device != "cpu"})
    return ", ".join([f"{own['processor']}, {own['cores']} cores", *others])


def facts(history: History, seeds: str, origins: Mapping[str, str]) -> dict[str, str]:
    """What made a run, by name, as text.

    Args:
        history: Its history.
        seeds: Its fine-tuning seeds, in words.
        origins: Where model and data came from, with revisions.
    """
    made = " to ".join(dict.fromkeys(time.replace("T", " ")[:16] for time in _ends(history)))
    return {
        "Commit": _several(history.commits),
        "Made": f"{made} UTC" if made else "times are not recorded here",
        "Seeds": seeds,
        **origins,
        "Hardware": _several(history.machines),
        "Software": ", ".join(f"{name} {text}" for name, text in history.versions.items() if text),
    }


def _ends(history: History) -> list[str]:
    return [time for time in (history.first, history.last) if time]


def _several(counts: Mapping[str, int]) -> str:
    """One name, or several with how many results each made."""
    if len(counts) == 1:
        return next(iter(counts))
    words = {name: f"{count} result{'s' if count > 1 else ''}" for name, count in counts.items()}
    return "; ".join(f"{name} ({text})" for name, text in words.items())


def costs(run: Path) -> pd.DataFrame:
    """Jobs of every measured rule, their time and memory, from Snakemake's benchmark files.

    Args:
        run: Folder of the run.

    Returns:
        A row per rule, the longest first: ``rule``, ``jobs``, ``wall`` and ``cpu`` (seconds, sums),
        ``longest`` (seconds of one job), ``memory`` (MiB, of the largest job).
    """
    import pandas as pd

    folder = run / "benchmarks"
    rows = []
    for file in sorted(folder.rglob("*.tsv")):
        measured = pd.read_csv(file, sep="\t").iloc[-1]
        rule = file.relative_to(folder).parts[0].removesuffix(".tsv")
        rows.append((rule, *measured[["s", "cpu_time", "max_rss"]].astype(float)))
    table = pd.DataFrame(rows, columns=["rule", "s", "own", "rss"])
    groups = table.groupby("rule")
    summed = groups.agg(
        jobs=("s", "size"),
        wall=("s", "sum"),
        longest=("s", "max"),
        cpu=("own", "sum"),
        memory=("rss", "max"),
    )
    return summed.sort_values("wall", ascending=False).reset_index()
