"""Compare what the jobs of finished runs used with what they request.

python benchmarks/resources.py results/real
python benchmarks/resources.py --forked results/demo    its jobs were forks, without imports

Used: from Snakemake's benchmark files of the run. Requested: from `workflow.lib.resources`, with
the run's configuration. For every rule, the job that used most memory and the one that took
longest; then the estimated and measured CPU time of all its jobs, by which the constants of
`workflow.lib.resources` are set. A run's data must still be in place.
"""

from __future__ import annotations

import argparse
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from workflow.lib import configuration, plan, resources

MEMORY = ("memory used (MB)", "requested (MB)")
TIME = ("time used (min)", "requested (min)")
WALL = "wall clock (s)"
CPU = ("its CPU time (s)", "estimated (s)")
FORMATS_OF_TIMES = ("", ".0f", ".0f", ".0f", ".0f", ".1f")
FORMATS = ("", ".0f", ".0f", ".1f", ".0f", ".0f", ".0f", ".1f", ".1f")


def jobs(run: Path, *, forked: bool) -> Iterator[dict[str, Any]]:
    """One row per measured job of a run, whose jobs were forks or not."""
    config = configuration.resolve(
        yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    )
    workflow = plan.dry_run(run / "config.yaml", ["all"])
    asked = {rule.name: plan.asked_by(rule) for rule in workflow.rules}
    needs = {name: needed for name, needed in asked.items() if needed}
    for file in sorted((run / "benchmarks").rglob("*.tsv")):
        rule, *wildcards = file.relative_to(run / "benchmarks").with_suffix("").parts
        task = next((name for name in wildcards if name in config["tasks"]), None)
        need = needs[rule].of(task)
        measured = pd.read_csv(file, sep="\t").iloc[0]
        yield {
            "rule": rule,
            MEMORY[0]: measured["max_rss"] * 2**20 / 1e6,
            MEMORY[1]: resources.memory_asked(need, gpu=False),
            CPU[0]: measured["cpu_time"],
            CPU[1]: need.time(1, forked=forked),
            WALL: measured["s"],
            TIME[0]: measured["s"] / 60,
            TIME[1]: resources.minutes_asked(need, config["threads"], gpu=False),
        }


def summary(table: pd.DataFrame) -> pd.DataFrame:
    """The job of every rule that used most memory, and the one that took longest."""
    largest, longest = (
        table.loc[table.groupby("rule")[column].idxmax(), ["rule", *columns]].set_index("rule")
        for column, columns in ((MEMORY[0], MEMORY), (TIME[0], (*TIME, *CPU)))
    )
    result = largest.join(longest)
    result["memory covered"] = result[MEMORY[1]] / result[MEMORY[0]]
    result["time covered"] = result[TIME[1]] / result[TIME[0]]
    return result.sort_values(MEMORY[0], ascending=False).reset_index()


def times(table: pd.DataFrame) -> pd.DataFrame:
    """Estimated and measured seconds of all jobs of every rule, and of all rules."""
    groups = table.groupby("rule")
    sums = groups[[CPU[1], CPU[0], WALL]].sum().sort_values(CPU[1], ascending=False)
    sums.insert(0, "jobs", groups.size())
    sums.loc["all"] = sums.sum()
    sums = sums.rename(columns={CPU[0]: "CPU time (s)"})
    return sums.assign(ratio=sums[CPU[1]] / sums["CPU time (s)"]).reset_index()


def disk(run: Path) -> str:
    """Size of the large folders, compared with what was expected."""
    config = configuration.resolve(
        yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    )
    used = sum(
        file.stat().st_size
        for part in ("data", "models", "attention")
        for file in (run / part).rglob("*")
        if file.is_file()
    )
    return f"Disk: {used / 1e6:.0f} MB used, {resources.disk_needed(config) / 1e6:.0f} MB expected."


def main() -> None:
    """Print a table per run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of finished runs")
    parser.add_argument("--forked", action="store_true", help="their jobs were forks")
    arguments = parser.parse_args()
    for run in arguments.runs:
        table = pd.DataFrame(jobs(run, forked=arguments.forked))
        print(f"### {run.name}\n")
        print(summary(table).to_markdown(index=False, floatfmt=FORMATS), end="\n\n")
        print(times(table).to_markdown(index=False, floatfmt=FORMATS_OF_TIMES), end="\n\n")
        print(disk(run), end="\n\n")


if __name__ == "__main__":
    main()
