"""What a run will cost, said before it starts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

import pandas as pd

from darksecrets import costs

HOUR = 3600


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


def table(steps: Iterable[Step], config: Mapping[str, Any]) -> pd.DataFrame:
    """Cost of each rule.

    Returns:
        A row per rule, the longest first: number of ``jobs``, ``core_hours`` of all of them on
        processors such as those that were measured, ``gpu_hours`` (of jobs that ask for one; then
        without ``core_hours``), ``longest`` of them in hours, and what the largest asks for,
        ``memory`` in GB.
    """
    rows = []
    for step in steps:
        need = costs.need(step.rule, config, step.task)
        hours = need.time(step.threads, gpu=step.gpu) / HOUR
        core, gpu = (0.0, hours) if step.gpu else (hours * step.threads, 0.0)
        rows.append((step.rule, core, gpu, hours, costs.memory_asked(need) / 1000))
    frame = pd.DataFrame(rows, columns=["rule", "core_hours", "gpu_hours", "longest", "memory"])
    groups = frame.groupby("rule", sort=False)
    return (
        groups.agg(
            jobs=("rule", "size"),
            core_hours=("core_hours", "sum"),
            gpu_hours=("gpu_hours", "sum"),
            longest=("longest", "max"),
            memory=("memory", "max"),
        )
        .sort_values(["gpu_hours", "core_hours"], ascending=False)
        .reset_index()
    )


def summary(steps: Iterable[Step], config: Mapping[str, Any]) -> str:
    """Say in a line what a run costs."""
    steps = list(steps)
    if not steps:
        return "Nothing to be done."
    costs_of_rules = table(steps, config)
    core, gpu = costs_of_rules["core_hours"].sum(), costs_of_rules["gpu_hours"].sum()
    parts = [
        f"{len(steps)} steps",
        f"{len({step.submission for step in steps})} jobs if submitted",
        f"about {_hours(core)} of one core",
        *([f"{_hours(gpu)} of a GPU (assumed, not measured)"] if gpu else []),
        f"longest step {_hours(costs_of_rules['longest'].max())}",
        f"at most {costs_of_rules['memory'].max():.1f} GB of memory asked for by one",
        f"{costs.disk_needed(config) / 1e9:.1f} GB of disk when all is done",
    ]
    return f"Run {config['run']}: " + ", ".join(parts) + "."


def _hours(hours: float) -> str:
    return f"{hours:.1f} h" if hours >= 1 else f"{60 * hours:.0f} min"
