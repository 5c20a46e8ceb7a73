"""Scores of two runs that differ in their settings, on the same tasks and seeds, as Markdown.

python benchmarks/two_runs.py results/small-data results/small-data-paper

Differences are paired over examples and seeds, as in Table 1 (`darksecrets.finetuning.comparison`).
"""

from __future__ import annotations

import argparse
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.data.tasks import Task
from darksecrets.finetuning.comparison import Outcomes, Resampling, compare
from darksecrets.finetuning.tables import predictions

FINETUNED, OTHER = "finetuned", "pretrained"
"""What the runs are called for `compare`; the second has the place of a control."""


def read(run: Path, name: str) -> tuple[Task, dict[int, pd.DataFrame]]:
    """A task of a run, and the predictions of its fine-tuned models by seed."""
    settings: dict[str, Any] = yaml.safe_load((run / "config.yaml").read_text(encoding="utf-8"))
    entry = settings["tasks"][name]
    known = {key: entry[key] for key in ("text", "label", "labels", "metrics") if key in entry}
    task = Task.from_entry(name, known)
    files = sorted((run / "predictions" / name / FINETUNED).glob("seed-*.csv"))
    tables = [predictions(task.num_labels).read(file) for file in files]
    return task, {int(table["seed"].iloc[0]): table for table in tables}


def outcomes(run: Path, other: Path, name: str) -> Outcomes:
    """What both runs predict, with the seeds that both have."""
    (task, first), (_, second) = read(run, name), read(other, name)
    seeds = sorted(first.keys() & second.keys())
    if not seeds:
        sys.exit(f"{name}: found no seed that both {run} and {other} have predictions of.")
    examples = [of[seed][["idx", "label"]] for of in (first, second) for seed in seeds]
    if not all(each.equals(examples[0]) for each in examples):
        sys.exit(f"{name}: found different validation examples in {run} and {other}.")
    found = {
        state: np.stack([of[seed]["prediction"].to_numpy() for seed in seeds])
        for state, of in ((FINETUNED, first), (OTHER, second))
    }
    return Outcomes(task, examples[0]["label"].to_numpy(), found, seeds)


def summary(run: Path, other: Path, all_outcomes: list[Outcomes]) -> pd.DataFrame:
    """A row per task and metric: scores of both runs, and their difference."""
    means, differences, _ = compare(all_outcomes, Resampling(resamples=9999, seed=1))
    rows = []
    for found in differences.to_dict("records"):
        same = means[(means["task"] == found["task"]) & (means["metric"] == found["metric"])]
        scores = same.set_index("model")
        rows.append(
            {
                **{name: found[name] for name in ("task", "metric", "seeds", "examples")},
                **{
                    str(label): _text(scores.loc[state], "score")
                    for label, state in ((run, FINETUNED), (other, OTHER))
                },
                "difference (95 %)": _text(found, "difference"),
                "p": f"{found['p_value']:.3f}",
            }
        )
    return pd.DataFrame(rows)


def _text(row: Any, name: str) -> str:  # noqa: ANN401 - a row of a table
    return f"{row[name]:.1f} ({row['ci_low']:.1f} to {row['ci_high']:.1f})"


def main() -> None:
    """Print the comparison."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("run", type=Path, help="folder of a run, such as results/small-data")
    parser.add_argument("other", type=Path, help="folder of the run to compare it with")
    given = parser.parse_args()
    folders = (given.run / "predictions", given.other / "predictions")
    tasks = sorted(set.intersection(*({each.name for each in of.glob("*/")} for of in folders)))
    if not tasks:
        sys.exit(f"Found no task that both {folders[0]} and {folders[1]} have, expected one.")
    found = [outcomes(given.run, given.other, name) for name in tasks]
    print(summary(given.run, given.other, found).to_markdown(index=False, disable_numparse=True))


if __name__ == "__main__":
    main()
