"""What made a run: commits, machines, versions and costs, from the records of its jobs."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.records import describe_environment, read_all

if TYPE_CHECKING:
    import pandas as pd

_SHOWN = ("torch", "transformers", "snakemake", "numpy", "pandas", "scikit-learn")
_LOOK = "inspect/"
"""Begins the paths of what only looks at a text."""


def facts(run: Path, seeds: str, origins: Mapping[str, str]) -> dict[str, str]:
    """What made a run, by name, as text.

    Without records, as where results are kept in remote storage, it is this process.

    Args:
        run: Folder of the run.
        seeds: Its fine-tuning seeds, in words.
        origins: Where model and data came from, with revisions.
    """
    records = [
        record
        for _, record in read_all(run)
        if not all(name.startswith(_LOOK) for name in record["outputs"])
    ]
    known: list[dict[str, Any]] = records or [{"environment": describe_environment()}]
    environments = [record["environment"] for record in known]
    commits = Counter(own["darksecrets"]["commit"] or "unknown" for own in environments)
    created = sorted(record["created"].replace("T", " ")[:16] for record in records)
    made = " to ".join(dict.fromkeys([created[0], created[-1]])) if created else ""
    return {
        "Commit": _several(commits),
        "Made": f"{made} UTC" if made else "times are not recorded here",
        "Seeds": seeds,
        **origins,
        "Hardware": _several(Counter(map(_describe_machine, known))),
        "Software": ", ".join(_describe_versions(environments)),
    }


def _describe_machine(record: Mapping[str, Any]) -> str:
    """The CPU of a job, and its GPU if it used one."""
    own = record["environment"]
    used = [part.get("device") for part in record.values() if isinstance(part, dict)]
    others = sorted({device for device in used if device and device != "cpu"})
    return ", ".join([f"{own['processor']}, {own['cores']} cores", *others])


def _describe_versions(environments: list[dict[str, Any]]) -> list[str]:
    """The project, Python and the main libraries, each with the versions of all jobs."""
    found: dict[str, Counter[str]] = {}
    for own in environments:
        libraries = {name: own["libraries"].get(name) for name in _SHOWN}
        named = {"darksecrets": own["darksecrets"]["version"], "Python": own["python"], **libraries}
        for name, version in named.items():
            if version:
                found.setdefault(name, Counter())[version] += 1
    return [f"{name} {' and '.join(versions)}" for name, versions in found.items()]


def _several(counts: Counter[str]) -> str:
    """One name, or several with how many results each made."""
    if len(counts) == 1:
        return next(iter(counts))
    words = {
        name: f"{count} result{'s' if count > 1 else ''}" for name, count in counts.most_common()
    }
    return "; ".join(f"{name} ({text})" for name, text in words.items())


def costs(run: Path) -> pd.DataFrame:
    """Jobs of every measured rule, their time and memory, from Snakemake's benchmark files.

    Args:
        run: Folder of the run.

    Returns:
        A row per rule, the longest first: ``rule``, ``jobs``, ``wall`` and ``cpu`` (seconds, sums),
        ``longest`` (seconds of one job), ``memory`` (MiB, of the largest job).

    Raises:
        InputError: A benchmark file is damaged.
    """
    import pandas as pd

    folder = run / "benchmarks"
    rows = []
    for file in sorted(folder.rglob("*.tsv")):
        rule = file.relative_to(folder).parts[0].removesuffix(".tsv")
        try:
            measured = pd.read_csv(file, sep="\t").iloc[-1]
            rows.append((rule, *measured[["s", "cpu_time", "max_rss"]].astype(float)))
        except (ValueError, LookupError) as error:  # pandas' own errors are kinds of these
            raise InputError(
                f"{file} is no measurement of a job ({error}), which Snakemake writes in columns "
                "s, cpu_time and max_rss. Remove it, and the time of this job is not counted."
            ) from error
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
