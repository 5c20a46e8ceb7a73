"""What a finished run cost and gave, as Markdown for a page such as docs/real-run.md.

python benchmarks/run_summary.py results/real

Prints Table 1, the mean similarity per layer (Figure 5), time and memory per rule as Snakemake
measured them, the disk that is used, and the machine and commit from the provenance.
"""

from __future__ import annotations

import argparse
import json
from pathlib import Path

import pandas as pd
from _machine import system

PARTS = ("data", "models", "attention")


def costs(run: Path) -> pd.DataFrame:
    """Jobs, wall-clock and processor seconds, and largest memory (MiB) of every measured rule."""
    rows = []
    for file in sorted((run / "benchmarks").rglob("*.tsv")):
        measured = pd.read_csv(file, sep="\t").iloc[0]
        rule = file.relative_to(run / "benchmarks").parts[0].removesuffix(".tsv")
        rows.append((rule, measured["s"], measured["cpu_time"], measured["max_rss"]))
    table = pd.DataFrame(rows, columns=["rule", "wall", "processor", "memory"])
    return (
        table.groupby("rule")
        .agg(
            jobs=("wall", "size"),
            wall=("wall", "sum"),
            longest=("wall", "max"),
            processor=("processor", "sum"),
            memory=("memory", "max"),
        )
        .sort_values("wall", ascending=False)
        .round(0)
        .astype(int)
        .reset_index()
        .rename(
            columns={
                "wall": "wall clock, sum (s)",
                "longest": "longest job (s)",
                "processor": "processor, sum (s)",
                "memory": "largest memory (MiB)",
            }
        )
    )


def layers(run: Path) -> pd.DataFrame:
    """Mean ± standard deviation over the heads of a layer of the similarity, a column per task."""
    table = pd.read_csv(run / "tables" / "cosine.csv")
    heads = table.groupby(["task", "layer", "head"], sort=False)["similarity"].mean()
    groups = heads.groupby(["layer", "task"], sort=False)
    text = groups.mean().map("{:.3f}".format) + " ± " + groups.std().map("{:.3f}".format)
    return text.unstack("task").reset_index()


def disk(run: Path) -> pd.DataFrame:
    """Megabytes of the large folders."""
    sizes = {
        part: sum(file.stat().st_size for file in (run / part).rglob("*") if file.is_file())
        for part in PARTS
    }
    return pd.DataFrame([{name: round(size / 1e6) for name, size in sizes.items()}])


def main() -> None:
    """Print the summary of one run."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a finished run, such as results/real")
    run = parser.parse_args().run
    record = json.loads((run / "tables" / "cosine.provenance.json").read_text(encoding="utf-8"))
    environment = record["environment"]
    print("### Table 1\n")
    print((run / "figures" / "table1.md").read_text(encoding="utf-8"))
    print("### Mean similarity per layer (± standard deviation over its heads)\n")
    print(layers(run).to_markdown(index=False, disable_numparse=True))
    print("\n### Time and memory\n")
    print(costs(run).to_markdown(index=False))
    print("\nDisk (MB):\n")
    print(disk(run).to_markdown(index=False))
    libraries = ", ".join(f"{name} {version}" for name, version in environment["libraries"].items())
    commit = environment["darksecrets"]["commit"]
    print(f"\nMachine: {environment['processor']}, {environment['cores']} cores,", end=" ")
    print(
        f"{system(environment['platform'])}. Python {environment['python']}, {libraries}.", end=" "
    )
    print(f"Commit {commit}.")


if __name__ == "__main__":
    main()
