"""How often do null simulations pass each inference, and how often are true effects found?

    python benchmarks/adversaries.py [TRIALS ...]

Heads that look at one place, one class of words or one distance, random weights, shuffled labels,
equal models and tables without effects go through the project's own functions, as in
``tests/unit/test_adversaries.py`` but with more draws; so do heads and models with a known effect.
With names of functions of ``tests/unit/adversarial/every.py``, such as ``models.layers_changed``,
only these are tried again, and the table keeps all other rows: each function has its own seeds, so
they are what a whole run would give, unless their code has changed.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterable
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path

import pandas as pd
from _machine import RESULTS, describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from adversarial.every import ALL
from adversarial.trials import LARGE, LIMIT, NULL, POWER, Size, Trial

Inference = Callable[[Size, Path], Iterable[Trial]]

NOTES = (
    "*null*: nothing is there to be found, and the share that passes must not exceed the stated "
    "rate; *limit*: likewise, but the inference is known not to see through it "
    "([controls](../../docs/methods/controls.md)); *power*: a true effect is there. A draw is a "
    "corpus of 60 sentences, 80 texts, or texts with features; a sweep of {layers} layers with "
    "{layers} heads on {examples} examples, or several; a run's tables. In a draw, a statement "
    "can be made once per head, layer, set or claim, or once. *± %*: standard error of the share, "
    "over draws. Every trial is a row of [adversaries.csv](adversaries.csv)."
)
NULLS = (
    "A row is an inference, tried on so many kinds of heads or data; its share is the greatest, "
    "and *greatest on* has the kind, if any passed. *kept*: whether no share is so great that, at "
    "the stated rate, it happens less than once in a thousand times; else how many are."
)


def row(trial: Trial) -> dict[str, object]:
    """A row of the table."""
    return {
        "inference": trial.inference,
        "tried on": trial.kind,
        "truth": trial.truth,
        "passed": sum(trial.draws),
        "of": len(trial.draws) * trial.tries,
        "draws": len(trial.draws),
        "share %": round(100 * trial.share, 1),
        "± %": round(100 * trial.error, 1),
        "stated %": 100 * trial.stated,
        "kept": {True: "yes", False: "no"}[trial.keeps_its_rate()] if trial.truth == NULL else "",
    }


def name_of(inference: Inference) -> str:
    """Module and name of a function of trials, as two modules may have one of the same name."""
    return f"{inference.__module__.rpartition('.')[2]}.{inference.__name__}"


def rows_of(inference: Inference) -> list[dict[str, object]]:
    """The rows of one function's trials."""
    begin = time.process_time()
    with tempfile.TemporaryDirectory() as folder:
        rows = [row(trial) for trial in inference(LARGE, Path(folder))]
    print(f"{name_of(inference)}: {time.process_time() - begin:.0f} s", flush=True)
    return rows


def main() -> None:
    """Run trials and write the table."""
    known = {name_of(inference): inference for inference in ALL}
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("trials", nargs="*", metavar="TRIALS", help=", ".join(known))
    names = parser.parse_args().trials
    if unknown := set(names) - set(known):
        parser.error(f"found {', '.join(sorted(unknown))}; expected some of {', '.join(known)}")
    with ProcessPoolExecutor() as processes:
        trials = list(processes.map(rows_of, [known[name] for name in names or known]))
    table = pd.DataFrame([one for of_function in trials for one in of_function])
    notes = NOTES.format(layers=LARGE.layers, examples=LARGE.examples)
    title = "Null simulations of every inference, and known effects"
    table = beside_others(table) if names else table
    write_results("adversaries", title, table, describe("numpy", "scipy"), notes, shown(table))


def shown(table: pd.DataFrame) -> str:
    """What the page shows: inferences with their worst null, and every limit and known effect."""
    columns = ["inference", "tried on", "share %", "± %"]
    limits = table.loc[table["truth"] == LIMIT, [*columns, "stated %"]]
    effects = table.loc[table["truth"] == POWER, columns]
    parts = [
        f"## Null: nothing is there\n\n{NULLS}",
        worst(table[table["truth"] == NULL]).to_markdown(index=False),
        "## Limit: nothing is there, and the inference does not see it",
        limits.to_markdown(index=False),
        "## Power: an effect is there",
        effects.to_markdown(index=False),
    ]
    return "\n\n".join(parts)


def worst(nulls: pd.DataFrame) -> pd.DataFrame:
    """A row per inference: that of the kind on which it passes most often."""
    rows = []
    for inference, own in nulls.groupby("inference", sort=False):
        greatest = own.loc[own["share %"].idxmax()]
        failed = int((own["kept"] == "no").sum())
        rows.append(
            {
                "inference": inference,
                "kinds": len(own),
                "greatest share %": greatest["share %"],
                "± %": greatest["± %"],
                "stated %": greatest["stated %"],
                "greatest on": greatest["tried on"] if greatest["share %"] else "",
                "kept": f"no, {failed}" if failed else "yes",
            }
        )
    return pd.DataFrame(rows)


def beside_others(table: pd.DataFrame) -> pd.DataFrame:
    """The rows that are there, those of the same trials replaced; new ones at the end."""
    there = pd.read_csv(RESULTS / "adversaries.csv", keep_default_na=False)[list(table.columns)]
    keys = ["inference", "tried on"]
    again = pd.concat([there, table], ignore_index=True).drop_duplicates(keys, keep="last")
    order = pd.concat([there, table])[keys].drop_duplicates()
    return order.merge(again, on=keys, validate="one_to_one")


if __name__ == "__main__":
    main()
