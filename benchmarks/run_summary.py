"""Results and cost of a finished run, as Markdown for a page such as docs/real-run.md.

python benchmarks/run_summary.py results/real

Prints Table 1, the tables behind the figures in brief (patterns, similarity and stripes per layer,
features beside their controls, significant effects of disabling heads), time and memory per rule as
measured by Snakemake, disk space, and the machine and commit from the provenance.
"""

from __future__ import annotations

import argparse
import json
import sys
from pathlib import Path

import pandas as pd
from _machine import system

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.contracts import TABLES
from darksecrets.run import history

PARTS = ("data", "models", "attention")


def costs(run: Path) -> pd.DataFrame:
    """Jobs, wall-clock and CPU seconds, and largest memory (MiB) of every measured rule."""
    columns = {
        "jobs": "jobs",
        "wall": "wall clock, sum (s)",
        "longest": "longest job (s)",
        "cpu": "CPU, sum (s)",
        "memory": "largest memory (MiB)",
    }
    table = history.costs(run).set_index("rule")
    return table[list(columns)].round(0).astype(int).rename(columns=columns).reset_index()


def _read(run: Path, name: str) -> pd.DataFrame:
    table = TABLES[name]
    return table.read(run / "tables" / table.file)


def layers(run: Path) -> pd.DataFrame:
    """Mean ± standard deviation over the heads of a layer of the similarity, a column per task."""
    table = _read(run, "cosine")
    heads = table.groupby(["task", "layer", "head"], sort=False)["similarity"].mean()
    groups = heads.groupby(["layer", "task"], sort=False)
    text = groups.mean().map("{:.3f}".format) + " ± " + groups.std().map("{:.3f}".format)
    return text.unstack("task").reset_index()


def patterns(run: Path) -> pd.DataFrame:
    """Share of each pattern in per cent (corrected), a row per definition, task and state."""
    table = _read(run, "patterns")
    table["text"] = [
        f"{100 * row.share:.0f} ({100 * row.corrected:.0f})" for row in table.itertuples()
    ]
    rows = ["definition", "task", "state"]
    wide = table.pivot_table(
        index=rows, columns="pattern", values="text", aggfunc="first", sort=False
    )
    return wide.reset_index()


def stripes_by_layer(run: Path) -> pd.DataFrame:
    """Mean weight of [CLS] and [SEP] over the heads of a layer, fine-tuned (pre-trained)."""
    table = _read(run, "stripes").query("feature in ['[CLS]', '[SEP]']")
    keys = ["feature", "task", "layer", "state"]
    means = table.groupby(keys, sort=False)["weight"].mean().unstack("state")
    text = means["finetuned"].map("{:.2f}".format) + " (" + means["pretrained"].map("{:.2f}".format)
    return (text + ")").unstack("layer").reset_index()


def stripes_by_feature(run: Path) -> pd.DataFrame:
    """Mean weight over all heads after fine-tuning, its control, and the number of examples."""
    table = _read(run, "stripes").query("state == 'finetuned'")
    groups = table.groupby(["feature", "task"], sort=False)
    means = groups[["weight", "control"]].mean()
    text = [
        f"{row.weight:.3f} ({row.control:.3f}), {examples}"
        for row, examples in zip(means.itertuples(), groups["examples"].max(), strict=True)
    ]
    return pd.Series(text, means.index).unstack("task").fillna("–").reset_index()


def survival(run: Path) -> pd.DataFrame:
    """Effects of disabling single heads on the scores, and how many are significant."""
    table = _read(run, "survival").query("kind == 'head'")
    return pd.DataFrame(
        {
            "task": table["task"],
            "seed": table["seed"],
            "metric": table["metric"],
            "intact": table["baseline"].map("{:.2f}".format),
            "heads that help": [f"{row.helped} of {row.sets}" for row in table.itertuples()],
            "p < .05": table["helped_p"],
            "after correction": table["helped_q"],
            "hurt, after correction": table["hurt_q"],
            "best gain, where chosen": table["naive_gain"].map("{:+.2f}".format),
            "on other examples (95 %)": [
                f"{row.unbiased_gain:+.2f} ({row.ci_low:.2f} to {row.ci_high:.2f})"
                for row in table.itertuples()
            ],
            "a random head": table["mean_effect"].map("{:+.2f}".format),
        }
    )


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
    for title, table in (
        ("Shares of the patterns in per cent (corrected for confusions)", patterns(run)),
        ("Mean similarity per layer (± standard deviation over its heads)", layers(run)),
        ("Stripes per layer, fine-tuned (pre-trained)", stripes_by_layer(run)),
        ("Stripes after fine-tuning (random tokens), examples", stripes_by_feature(run)),
        ("Significant effects of disabling single heads", survival(run)),
    ):
        print(f"### {title}\n")
        print(table.to_markdown(index=False, disable_numparse=True), end="\n\n")
    print("### Time and memory\n")
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
