"""Estimate the cost of a run, before it starts or without running it.

python -m workflow.lib.plan config/paper.yaml                     the whole run
python -m workflow.lib.plan config/paper.yaml figure5             one figure and its dependencies
python -m workflow.lib.plan config/paper.yaml --config gpu=0      without GPUs

Finished steps are not counted. docs/resources.md explains where the numbers come from.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import math
import sys
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from darksecrets.run import analyses
from workflow.lib import compat, configuration, forks, preflight, resources

ROOT = Path(__file__).parents[2]
MINUTE, HOUR = 60, 3600
REST = "tables and figures"
"""Label of the row for all rules that declare no resources."""

OF_A_LOOK = {
    *("inspect", "look", "look_at_text", "measure_text"),
    *("get_pretrained_model", "cross_validate_patterns", "train_pattern_classifier"),
}
"""Rules that the target `inspect` needs."""


@dataclass(frozen=True)
class Step:
    """One job of the workflow.

    Attributes:
        rule: Its rule; `REST` for all that only read and write tables.
        need: Memory, time and disk that it needs.
        threads: Cores that it uses.
        gpu: Whether it requests a GPU.
        submission: Shared by all steps that are submitted together, as one cluster job.
        forked: Whether it starts as a fork, with the libraries imported.
        minutes: Time that it is given; None if nothing limits it.
    """

    rule: str
    need: resources.Need
    threads: int
    gpu: bool
    submission: object
    forked: bool = False
    minutes: float | None = None

    @property
    def seconds(self) -> float:
        """Expected time from start to end."""
        return self.need.time(self.threads, gpu=self.gpu, forked=self.forked)


@dataclass
class Outlook:
    """How long a run takes on this machine.

    Attributes:
        expected: All steps of the run, by the number of their job.
        cores: CPU cores of the run.
        gpus: GPUs of the run, at least 1.
        took: Measured seconds of finished steps.
    """

    expected: Mapping[int, Step]
    cores: int
    gpus: int = 1
    took: dict[int, float] = field(default_factory=dict)

    def left(self, running: Mapping[int, float] | None = None) -> float:
        """Seconds until the end.

        Args:
            running: Seconds since the start of every step that is running.
        """
        running = running or {}
        spent = sum(self.took.values()) + PRIOR
        pace = spent / (sum(self.expected[job].seconds for job in self.took) + PRIOR)
        cores = gpus = longest = 0.0
        for job, step in self.expected.items():
            if job not in self.took:
                seconds = max(0.0, pace * step.seconds - running.get(job, 0.0))
                cores += seconds * step.threads + resources.SNAKEMAKE
                gpus += seconds * step.gpu
                longest = max(longest, seconds)
        return max(cores / self.cores, gpus / self.gpus, longest)


PRIOR = 60.0
"""Seconds of finished steps that count as much as the estimates."""


def outlook(dag: Any, cores: int, gpus: int) -> Outlook:  # noqa: ANN401
    """How long the steps take that Snakemake will run, with these cores and GPUs."""
    jobs = list(compat.jobs_of(dag))
    many = forks.save_time(len(jobs))
    return Outlook({job.jobid: _step(dag, job, many=many) for job in jobs}, cores, gpus)


def steps(dag: Any) -> list[Step]:  # noqa: ANN401 - Snakemake's graph of jobs
    """Steps that Snakemake will run (or would, in a plan)."""
    return [_step(dag, job) for job in compat.jobs_of(dag)]


def is_look(dag: Any, config: Mapping[str, Any]) -> bool:  # noqa: ANN401
    """Whether all steps to run are of the target `inspect`, which needs no data."""
    rules = {job.rule.name for job in compat.jobs_of(dag)}
    return config["text"] is not None and rules <= OF_A_LOOK


def _step(dag: Any, job: Any, *, many: bool = False) -> Step:  # noqa: ANN401
    asked = asked_by(job.rule)
    rule, need = REST, resources.READS_TABLES
    if asked:
        rule, need = job.rule.name, asked.of(getattr(job.wildcards, "task", None))
    gpu = job.resources.get("gpu", 0) > 0
    return Step(
        rule=rule,
        need=need,
        threads=job.threads,
        gpu=gpu,
        submission=compat.submission_of(dag, job),
        forked=many and job.threads == 1 and not gpu,
        minutes=_given(job.resources.get("runtime")),
    )


def _given(runtime: object) -> float | None:
    """Minutes of a resource; a plan has words for what is only known later."""
    return float(runtime) if isinstance(runtime, int | float) else None


def misfits(planned: Iterable[Step], memory: int | None) -> list[str]:
    """What to say of steps that are expected to exceed the machine's memory or the time given.

    Args:
        planned: Steps of a run.
        memory: Bytes of the machine; None if the steps run elsewhere.
    """
    planned, said = list(planned), []
    largest = max(planned, key=lambda step: step.need.memory, default=None)
    if memory and largest and largest.need.memory * resources.MB > memory:
        said.append(
            f"A step of the rule {largest.rule} needs about "
            f"{largest.need.memory / 1000:.1f} GB of memory, and this machine has "
            f"{memory / 1e9:.1f} GB: expect it to be killed. Use a larger machine, or a smaller "
            "model or batch (docs/resources.md)."
        )
    late = [step for step in planned if step.minutes and step.seconds > step.minutes * MINUTE]
    for rule in sorted({step.rule for step in late}):
        step = max((step for step in late if step.rule == rule), key=lambda each: each.seconds)
        said.append(
            f"A step of the rule {rule} takes about {duration(step.seconds)}, and is given "
            f"{duration(60 * (step.minutes or 0))}. Give it more "
            f"(--set-resources {rule}:runtime={math.ceil(2 * step.seconds / MINUTE)}), or split it "
            "(docs/cluster.md); training and sweeps resume in the next attempt."
        )
    return said


def asked_by(rule: Any) -> resources.Asked | None:  # noqa: ANN401 - Snakemake's
    """Resources that the jobs of a rule request, if it declares any."""
    asked = getattr(compat.resource_function(rule, "mem_mb"), "__self__", None)
    return asked if isinstance(asked, resources.Asked) else None


def table(planned: Iterable[Step]) -> pd.DataFrame:
    """Cost of each rule.

    Returns:
        A row per rule, the costliest first, and one for all that only read and write tables: number
        of ``jobs``; their total ``core hours`` on a CPU like the measured one; ``GPU hours`` of
        jobs that request a GPU, which then count no core hours (no column if none does); the
        ``longest`` job in minutes; and the ``memory`` in GB that the largest requests.
    """
    rows = []
    for step in planned:
        seconds = step.seconds
        core, gpu = (0.0, seconds) if step.gpu else (seconds * step.threads, 0.0)
        memory = resources.memory_asked(step.need, gpu=step.gpu) / 1000
        rows.append((step.rule, core / HOUR, gpu / HOUR, seconds / MINUTE, memory))
    columns = ["rule", "core hours", "GPU hours", "longest (min)", "memory (GB)"]
    groups = pd.DataFrame(rows, columns=columns).groupby("rule", sort=False)
    result = groups.agg(
        {"core hours": "sum", "GPU hours": "sum", "longest (min)": "max", "memory (GB)": "max"}
    )
    result.insert(0, "jobs", groups.size())
    result = result.sort_values(["GPU hours", "core hours"], ascending=False).reset_index()
    return result if result["GPU hours"].any() else result.drop(columns="GPU hours")


def summary(
    planned: Iterable[Step],
    config: Mapping[str, Any],
    here: Outlook | None = None,
    *,
    looking: bool = False,
) -> str:
    """Cost of a run in one line.

    Args:
        planned: Its steps.
        config: A resolved configuration.
        here: What to expect, if the run is on this machine.
        looking: Whether all its steps are of `look`.
    """
    planned = list(planned)
    if not planned:
        return f"Run {config['run']}: nothing to be done."
    rules = table(planned)
    gpu = rules["GPU hours"].sum() if "GPU hours" in rules else 0
    jobs = len({step.submission for step in planned})  # as many as steps where nothing is submitted
    steps = f"{len(planned)} step{'s' * (len(planned) > 1)}"
    if here:
        cost = [steps, f"about {duration(here.left())} on {here.cores} cores"]
    else:
        cost = [
            steps + (f" ({jobs} jobs on a cluster)" if jobs < len(planned) else ""),
            f"about {duration(rules['core hours'].sum() * HOUR)} of one core",
        ]
    parts = [
        *cost,
        *([f"about {duration(gpu * HOUR)} of a GPU (assumed, not measured)"] if gpu else []),
        f"the longest step {duration(rules['longest (min)'].max() * MINUTE)}",
        f"up to {rules['memory (GB)'].max():.1f} GB of memory for one",
        f"{resources.disk_needed(config, looking=looking) / 1e9:.1f} GB of disk for the whole run",
        *_checkpoints(planned),
        *_assumed(config),
    ]
    return f"Run {config['run']}: {', '.join(parts)}."


def _checkpoints(planned: Iterable[Step]) -> list[str]:
    passing = max((step.need.passing for step in planned), default=0.0) / 1000
    return [f"{passing:.1f} GB more while a training runs"] if passing else []


def _assumed(config: Mapping[str, Any]) -> list[str]:
    _, known = resources.size_of(config)
    model = config["model"]["id"]
    return [] if known else [f"assuming that {model}, not fetched yet, has BERT-base's size"]


def duration(seconds: float) -> str:
    """Rounded time, as hours or minutes."""
    hours = seconds / HOUR
    return f"{hours:.1f} h" if hours >= 1 else f"{max(1, round(60 * hours))} min"


def dry_run(config_file: Path, targets: Iterable[str], **keys: Any) -> Any:  # noqa: ANN401
    """Snakemake's workflow with the graph of jobs that a run would have, built silently.

    Args:
        config_file: Configuration of the run.
        targets: Rules or files to make.
        keys: Values that override the configuration.
    """
    from snakemake.api import SnakemakeApi
    from snakemake.settings.types import ConfigSettings, DAGSettings, OutputSettings
    from snakemake.settings.types import ResourceSettings as Resources

    with SnakemakeApi(OutputSettings(dryrun=True)) as api:
        planned = api.workflow(
            resource_settings=Resources(cores=sys.maxsize),
            config_settings=ConfigSettings(configfiles=[config_file], config=keys),
            snakefile=ROOT / "Snakefile",
        )
        planned.dag(DAGSettings(targets=set(targets))).execute_workflow(executor="dryrun")
        return compat.workflow_behind(planned)


SUMMARIES = {"claims", "atlas", "describe_run", "report", "all"}
"""Rules that read the results of every analysis of a run."""


def by_analysis(planned: Any) -> pd.DataFrame:  # noqa: ANN401 - Snakemake's workflow
    """What each analysis costs beside the paper.

    Args:
        planned: The workflow of a run that makes all analyses, see `dry_run`.

    Returns:
        A row per analysis, the paper first: what it asks, its ``steps`` and their ``time`` on one
        core or GPU, without those of the paper. A step that several need counts in each.
    """
    dag, content = planned.dag, planned.globals
    results = str(configuration.results_folder(content["config"]))
    maker = {str(file): job for job in dag.jobs for file in job.output}
    needed: dict[str, set[Any]] = {}
    for name, files in content["RESULTS_OF"].items():
        made = {
            maker[path] for file in files if (path := file.replace("<results>", results)) in maker
        }
        queue = [job for job in made if job.rule.name not in SUMMARIES]
        found = needed.setdefault(name, set())
        while queue:
            job = queue.pop()
            if job not in found:
                found.add(job)
                queue.extend(dag.dependencies[job])
    waiting, known, rows = set(compat.jobs_of(dag)), analyses.find(), []
    for name, jobs in needed.items():
        paper = name == analyses.PAPER
        own = waiting & (jobs if paper else jobs - needed[analyses.PAPER])
        of_each = [_step(dag, job) for job in own]
        seconds = sum(step.seconds * (1 if step.gpu else step.threads) for step in of_each)
        asked = "sections 3 to 5" if paper else known[name].question
        rows.append((name, asked, len(own), duration(seconds)))
    return pd.DataFrame(rows, columns=["analysis", "what it asks", "steps", "time"])


def _of_analyses(config_file: Path, config: Mapping[str, Any], **keys: Any) -> str:  # noqa: ANN401
    """The costs of all analyses as a table that marks those of the run, and what is left out."""
    costs = by_analysis(dry_run(config_file, ["all"], **{**keys, "analyses": [analyses.ALL]}))
    made = ["yes" if name in config["analyses"] else "could be added" for name in costs["analysis"]]
    costs.insert(1, "in this run", made)
    shown = costs.to_markdown(index=False)
    lines = [
        f"Left out: {', '.join(names)}. {reason}"
        for reason, names in preflight.lacking(config).items()
    ]
    return "\n\n".join([shown, *lines])


def describe(config_file: Path, targets: Iterable[str], **keys: Any) -> str:  # noqa: ANN401
    """Cost of every rule of a plan, the total, and of every analysis; see `dry_run`."""
    messages = io.StringIO()
    try:
        configuration.read(config_file)
        with contextlib.redirect_stderr(messages):
            workflow = dry_run(config_file, targets, **keys)
            planned, config = steps(workflow.dag), workflow.globals["config"]
    except Exception as error:  # whatever stops a run also stops its plan, with the same message
        sys.exit(f"{messages.getvalue()}{compat.plain(str(error))}")
    looking = is_look(workflow.dag, config)
    total = summary(planned, config, looking=looking)
    if not planned:
        return total
    parts = [table(planned).to_markdown(index=False, floatfmt=".1f"), total]
    if list(targets) == ["all"]:
        with contextlib.redirect_stderr(messages):
            parts.append(_of_analyses(config_file, config, **keys))
    return "\n\n".join(parts)


def main() -> None:
    """Build the graph of jobs and print what it costs."""
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("file", type=Path, help="configuration file")
    parser.add_argument("target", nargs="*", help="targets (default: all)")
    parser.add_argument("--config", nargs="*", default=[], metavar="KEY=VALUE", help="other keys")
    arguments = parser.parse_args()
    pairs = (pair.partition("=") for pair in arguments.config)
    keys = {key: yaml.safe_load(text) for key, _, text in pairs}
    print(describe(arguments.file, arguments.target or ["all"], **keys))


if __name__ == "__main__":
    main()
