"""What the jobs of finished runs used, beside what they ask for.

python benchmarks/resources.py results/demo results/real

Used: Snakemake's benchmark files of the run. Asked: `darksecrets.costs`, with the run's
configuration. The largest job of every rule counts, for memory and for time each.
"""

from __future__ import annotations

import argparse
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

from darksecrets import costs
from darksecrets.tasks import TASKS

TASK = re.compile("|".join(TASKS))


def jobs(run: Path) -> Iterator[dict[str, Any]]:
    """One row per measured job of a run."""
    config = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    for file in sorted((run / "benchmarks").rglob("*.tsv")):
        path = file.relative_to(run / "benchmarks")
        rule = path.parts[0].removesuffix(".tsv")
        task = TASK.search(str(path))
        need = costs.need(rule, config, task[0] if task else None)
        measured = pd.read_csv(file, sep="\t").iloc[0]
        yield {
            "rule": rule,
            "memory used (MB)": measured["max_rss"] * 2**20 / 1e6,
            "asked (MB)": costs.memory_asked(need),
            "processor time used (s)": measured["cpu_time"],
            "estimated (s)": need.time(1),
            "time used (min)": measured["s"] / 60,
            "asked (min)": costs.minutes_asked(need, config["threads"], gpu=False),
        }


def summary(run: Path) -> pd.DataFrame:
    """The largest job of every rule, and by how much its need is covered."""
    largest = pd.DataFrame(jobs(run)).groupby("rule", sort=False).max()
    largest["memory covered"] = largest["asked (MB)"] / largest["memory used (MB)"]
    largest["time covered"] = largest["asked (min)"] / largest["time used (min)"]
    return largest.sort_values("memory used (MB)", ascending=False).reset_index()


def main() -> None:
    """Print a table per run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of finished runs")
    for run in parser.parse_args().runs:
        print(f"### {run.name}\n\n{summary(run).round(1).to_markdown(index=False)}\n")


if __name__ == "__main__":
    main()
