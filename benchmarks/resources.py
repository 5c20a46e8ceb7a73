"""What the jobs of finished runs used, beside what they ask for.

python benchmarks/resources.py results/demo results/real

Used: Snakemake's benchmark files of the run. Asked: `darksecrets.costs`, with the run's
configuration. The largest job of every rule counts, for memory and for time each.
"""

from __future__ import annotations

import argparse
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets import configuration, costs
from darksecrets.tasks import TASKS

FORMATS = ("", ".0f", ".0f", ".0f", ".0f", ".1f", ".0f", ".1f", ".1f")
TASK = re.compile("|".join(TASKS))


def jobs(run: Path) -> Iterator[dict[str, Any]]:
    """One row per measured job of a run."""
    config = configuration.resolve(
        yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    )
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


def disk(run: Path) -> str:
    """What the large folders take, beside what was expected."""
    config = configuration.resolve(
        yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    )
    used = sum(
        file.stat().st_size
        for part in ("data", "models", "attention")
        for file in (run / part).rglob("*")
        if file.is_file()
    )
    return f"Disk: {used / 1e6:.0f} MB used, {costs.disk_needed(config) / 1e6:.0f} MB expected."


def main() -> None:
    """Print a table per run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("runs", type=Path, nargs="+", help="folders of finished runs")
    for run in parser.parse_args().runs:
        table = summary(run).to_markdown(index=False, floatfmt=FORMATS)
        print(f"### {run.name}\n\n{table}\n\n{disk(run)}\n")


if __name__ == "__main__":
    main()
