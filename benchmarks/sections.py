"""What the sections beyond the paper cost in finished runs: time and memory of their rules.

    python benchmarks/sections.py results/demo [results/real …]

The numbers are those that Snakemake measured of every job (`results/<run>/benchmarks/`), so nothing
is computed again. Rules that gather tables or draw figures are not measured.
"""

from __future__ import annotations

import argparse
import re
import sys
from pathlib import Path

import pandas as pd
import yaml
from _machine import RESULTS, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.run import history
from workflow.lib import configuration

RULES = Path(__file__).parents[1] / "workflow" / "rules"
SECTIONS = ("syntax", "norms", "attention_measures", "faithfulness", "importance")


def rules_of(section: str) -> list[str]:
    """Names of the rules of a section, in the order of its file."""
    text = (RULES / f"{section}.smk").read_text(encoding="utf-8")
    return re.findall(r"^rule (\w+):", text, re.MULTILINE)


def costs(run: Path) -> pd.DataFrame:
    """A row per measured rule of the sections, and one per section.

    Args:
        run: Folder of a finished run.
    """
    measured = history.costs(run).set_index("rule")
    rows = []
    for section in SECTIONS:
        own = measured.reindex([rule for rule in rules_of(section) if rule in measured.index])
        if own.empty:
            continue
        rows.append((section, "all", *own[["jobs", "cpu"]].sum(), own["memory"].max()))
        rows += [(section, rule, *own.loc[rule, ["jobs", "cpu", "memory"]]) for rule in own.index]
    names = ["section", "rule", "jobs", "CPU, sum (s)", "largest memory (MiB)"]
    table = pd.DataFrame(rows, columns=names).round({"CPU, sum (s)": 1, "largest memory (MiB)": 0})
    return table.astype({"jobs": int, "largest memory (MiB)": int})


def main() -> None:
    """Read the command line, gather the costs, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("runs", nargs="+", type=Path, help="folders of finished runs")
    runs: list[Path] = parser.parse_args().runs
    parts, described = [], []
    for folder in runs:
        config = yaml.safe_load((folder / "config.yaml").read_text(encoding="utf-8"))
        found = costs(folder)
        found.insert(0, "run", config["run"])
        parts.append(found)
        every = history.costs(folder)["cpu"].sum()
        described.append(
            f"*{config['run']}* ({configuration.describe(config)}; all measured jobs of the run: "
            f"{every:.0f} CPU seconds)"
        )
    machines = dict.fromkeys(
        machine for run in runs for machine in history.gather(history.records(run)).machines
    )
    notes = (
        f"Jobs of finished runs: {'; '.join(described)}. Importing torch is part of a job's "
        "memory, but mostly not of its time, as jobs on one machine are forks of a process that "
        "has imported it. CPU time is longer where other work ran beside. Gathering tables and "
        "drawing figures are not measured."
    )
    table = pd.concat(parts, ignore_index=True)
    write_results("sections", "Sections beyond the paper", table, "; ".join(machines), notes)
    print(f"Written to {RESULTS}.")


if __name__ == "__main__":
    main()
