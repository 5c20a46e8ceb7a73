"""What a run will cost, said before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from workflow.lib import resources

MINUTE, HOUR = 60, 3600


@dataclass(frozen=True)
class Step:
    """One job of the workflow.

    Attributes:
        rule: Its rule.
        task: Its task, if it has one.
        threads: Cores that it uses.
        gpu: Whether it asks for a GPU.
        submission: What steps have in common that are submitted together, as one job of a cluster.
    """

    rule: str
    task: str | None
    threads: int
    gpu: bool
    submission: object


def steps(dag: Any) -> list[Step]:  # noqa: ANN401 - Snakemake's graph of jobs
    """What Snakemake is going to run, or would, if this is a plan."""
    return [
        Step(
            rule=job.rule.name,
            task=getattr(job.wildcards, "task", None),
            threads=job.threads,
            gpu=job.resources.get("gpu", 0) > 0,
            submission=dag.get_job_group(job) or job,
        )
        for job in dag.needrun_jobs(exclude_finished=False)
        if job.output  # a target has none
    ]


def table(planned: Iterable[Step], config: Mapping[str, Any]) -> pd.DataFrame:
    """Cost of each rule.

    Returns:
        A row per rule, the longest first, and one for all that read and write tables: number of
        ``jobs``; ``core hours`` of all of them on a processor such as was measured; ``GPU hours``
        of those that ask for one, which then count no core hours (no column if none does); the
        ``longest`` job in minutes, and the ``memory`` in GB that the largest asks for.
    """
    rows = []
    for step in planned:
        need = resources.need(step.rule, config, step.task)
        seconds = need.time(step.threads, gpu=step.gpu)
        core, gpu = (0.0, seconds) if step.gpu else (seconds * step.threads, 0.0)
        name = step.rule if step.rule in resources.NEEDS else "tables and figures"
        memory = resources.memory_asked(need, gpu=step.gpu) / 1000
        rows.append((name, core / HOUR, gpu / HOUR, seconds / MINUTE, memory))
    columns = ["rule", "core hours", "GPU hours", "longest (min)", "memory (GB)"]
    groups = pd.DataFrame(rows, columns=columns).groupby("rule", sort=False)
    result = groups.agg(
        {"core hours": "sum", "GPU hours": "sum", "longest (min)": "max", "memory (GB)": "max"}
    )
    result.insert(0, "jobs", groups.size())
    result = result.sort_values(["GPU hours", "core hours"], ascending=False).reset_index()
    return result if result["GPU hours"].any() else result.drop(columns="GPU hours")


def summary(planned: Iterable[Step], config: Mapping[str, Any]) -> str:
    """Say in one line what a run costs."""
    planned = list(planned)
    if not planned:
        return f"Run {config['run']}: nothing to be done."
    rules = table(planned, config)
    gpu = rules["GPU hours"].sum() if "GPU hours" in rules else 0
    jobs = len({step.submission for step in planned})  # as many as steps where nothing is submitted
    parts = [
        f"{len(planned)} steps" + (f" ({jobs} jobs on a cluster)" if jobs < len(planned) else ""),
        f"about {_time(rules['core hours'].sum())} of one core",
        *([f"about {_time(gpu)} of a GPU (assumed, not measured)"] if gpu else []),
        f"the longest step {_time(rules['longest (min)'].max() * MINUTE / HOUR)}",
        f"up to {rules['memory (GB)'].max():.1f} GB of memory for one",
        f"{resources.disk_needed(config) / 1e9:.1f} GB of disk for the whole run",
        *_checkpoints(planned, config),
    ]
    return f"Run {config['run']}: {', '.join(parts)}."


def _checkpoints(planned: Iterable[Step], config: Mapping[str, Any]) -> list[str]:
    if not any(step.rule == "finetune" for step in planned):
        return []
    passing = resources.need("finetune", config, config["tasks"][0]).passing / 1000
    return [f"{passing:.1f} GB more while a training runs"]


def _time(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 1 else f"{max(1, round(60 * hours))} min"
