"""How often does what knows nothing pass each inference, and how often are true effects found?

    python benchmarks/adversaries.py

Heads that look at one place, one class of words or one distance, random weights, shuffled labels,
equal models and tables without effects go through the project's own functions, as in
``tests/unit/test_adversaries.py`` but with more draws; so do heads and models with a known effect.
About ten minutes on one core.
"""

from __future__ import annotations

import sys
import tempfile
import time
from pathlib import Path

import pandas as pd
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from adversarial.every import ALL
from adversarial.trials import LARGE, NULL, Trial

NOTES = (
    "*null*: nothing is there to be found, and the share that passes must not exceed the stated "
    "rate; *limit*: likewise, but the inference is known not to see through it "
    "([protocol](../../docs/protocol.md)); *power*: a true effect is there. A draw is a corpus of "
    "60 sentences, 80 texts, or texts with features; a sweep of {layers} layers with {layers} "
    "heads on {examples} examples, or several; a run's tables. In a draw, a statement can be made "
    "once per head, layer, set or claim, or once. *± %*: standard error of the share, over draws. "
    "*kept*: whether the share is at most the stated rate, up to 3.1 standard errors."
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


def main() -> None:
    """Run all trials and write the table."""
    rows = []
    for inference in ALL:
        begin = time.process_time()
        with tempfile.TemporaryDirectory() as folder:
            rows += [row(trial) for trial in inference(LARGE, Path(folder))]
        print(f"{inference.__name__}: {time.process_time() - begin:.0f} s", flush=True)
    notes = NOTES.format(layers=LARGE.layers, examples=LARGE.examples)
    title = "What knows nothing, put through every inference"
    write_results("adversaries", title, pd.DataFrame(rows), describe("numpy", "scipy"), notes)


if __name__ == "__main__":
    main()
