"""What a plan would submit: jobs by their group, with what each of them requests.

Snakemake's own plan lists every job, and tells nothing of what a group of jobs requests together.
"""

from __future__ import annotations

import contextlib
import io
import logging
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from types import SimpleNamespace
from typing import Any

from snakemake.cli import parse_args
from snakemake.resources import GroupResources
from tabulate import tabulate

from workflow.lib import compat
from workflow.lib.targets import is_snakemake

LOCAL = ("local", "dryrun", "touch")
"""Executors that submit nothing."""
SLURM = "slurm"

PartitionOf = Callable[[str, Mapping[str, Any]], str | None]
"""From the name and the resources of a job to its partition; None for Slurm's default."""

_QUIET = logging.getLogger("darksecrets.plan")
_QUIET.addHandler(logging.NullHandler())
_QUIET.propagate = False


@dataclass(frozen=True)
class Request:
    """A job that is submitted: of a rule, or of several in a group.

    Attributes:
        name: The group, or the rule.
        steps: Jobs of rules in it.
        cores: Cores.
        memory: Megabytes.
        minutes: Limit of its time.
        gpus: GPUs.
        partition: Partition of Slurm; empty if none is chosen.
    """

    name: str
    steps: int
    cores: int
    memory: int
    minutes: int
    gpus: int
    partition: str


def requests_of(dag: Any, partition_of: PartitionOf) -> list[Request]:  # noqa: ANN401 - Snakemake's
    """What is submitted for the jobs that a plan has found.

    Args:
        dag: The graph of jobs.
        partition_of: Chooses the partition of a job.
    """
    found, seen = [], set()
    for job in compat.jobs_of(dag):
        group = dag.get_job_group(job)
        if group in seen:
            continue
        resources: Mapping[str, Any] = job.resources
        if group is not None:
            seen.add(group)
            resources = GroupResources.basic_layered(
                toposorted_jobs=group.toposorted,
                constraints=group.global_resources,
                run_local=False,
                additive_resources=["runtime"],
                sortby=["runtime"],
            )
        name = job.rule.name if group is None else group.groupid
        found.append(
            Request(
                name=name,
                steps=1 if group is None else len(group),
                cores=int(resources.get("_cores", 1)),
                memory=int(resources.get("mem_mb", 0)),
                minutes=int(resources.get("runtime", 0)),
                gpus=int(resources.get("gpu", 0)),
                partition=str(
                    resources.get("slurm_partition") or partition_of(name, resources) or ""
                ),
            )
        )
    return found


def table_of(requests: Iterable[Request]) -> str:
    """A table with a row for each kind of job; of memory, time and cores, the most."""
    kinds: dict[tuple[str, int, str], list[Request]] = {}
    for one in requests:
        kinds.setdefault((one.name, one.gpus, one.partition), []).append(one)
    rows = []
    for (name, gpus, partition), alike in kinds.items():
        hours, minutes = divmod(max(one.minutes for one in alike), 60)
        rows.append(
            {
                "job": name,
                "jobs": len(alike),
                "steps": sum(one.steps for one in alike),
                "cores": max(one.cores for one in alike),
                "memory": f"{max(one.memory for one in alike) / 1000:.1f} GB",
                "time": f"{hours}:{minutes:02}",
                "GPUs": gpus,
                "partition": partition or "default",
            }
        )
    sides = ["left", *["right"] * 6, "left"]
    return tabulate(rows, "keys", "plain", colalign=sides, disable_numparse=True)


def describe(dag: Any, arguments: Sequence[str]) -> str:  # noqa: ANN401 - of Snakemake
    """What would be submitted by a command that only plans; empty if nothing would.

    Args:
        dag: The graph of jobs.
        arguments: The command, `sys.argv`; another one than Snakemake's submits nothing.
    """
    if not is_snakemake(arguments):
        return ""
    with contextlib.redirect_stderr(io.StringIO()):  # it names the profiles once more
        _, given = parse_args(list(arguments[1:]))
    if given.executor in (None, *LOCAL):
        return ""
    file = getattr(given, "slurm_partition_config", None)  # or a mark for "not given"
    partition_of: PartitionOf = _no_partition
    if given.executor == SLURM and isinstance(file, str | Path):
        partition_of = _partitions_in(Path(file))
    found = requests_of(dag, partition_of)
    return f"Jobs that would be submitted:\n\n{table_of(found)}\n" if found else ""


def _no_partition(_name: str, _resources: Mapping[str, Any]) -> str | None:
    """Slurm's own default."""
    return None


def _partitions_in(file: Path) -> PartitionOf:
    """How Slurm's plugin chooses a partition from those of a file."""
    # Only a run on Slurm needs its plugin.
    from snakemake_executor_plugin_slurm.partitions import get_best_partition, read_partition_file

    known = read_partition_file(file)

    def choose(name: str, resources: Mapping[str, Any]) -> str | None:
        cores = int(resources.get("_cores", 1))
        job = SimpleNamespace(name=name, resources=resources, threads=cores)
        best: str | None = get_best_partition(known, job, _QUIET)
        return best

    return choose
