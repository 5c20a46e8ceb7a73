"""How often does what knows nothing pass each inference, and how often are true effects found?

    python benchmarks/adversaries.py

Heads that look at one place, one class of words or one distance, random weights, shuffled labels
and equal models go through the project's own functions, as in ``tests/unit/test_adversaries.py``
but with more draws; so do heads and models with a known effect. About two minutes on one core.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import pandas as pd
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))
sys.path.insert(0, str(Path(__file__).parents[1] / "tests" / "unit"))

from adversarial.inferences import LARGE, NULL, Trial
from adversarial.models import ALL

NOTES = (
    "*null*: nothing is there to be found, and the share that passes must not exceed the stated "
    "rate; *limit*: likewise, but the inference is known not to see through it "
    "([protocol](../../docs/protocol.md)); *power*: a true effect is there. A draw is a corpus of "
    "60 sentences, 80 texts, or a sweep of {layers} layers with {layers} heads on {examples} "
    "examples; in a draw, a statement can be made once per head, layer or set, or once. *kept*: "
    "whether the share is at most the stated rate, up to 3.1 standard errors over draws."
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
        "stated %": 100 * trial.stated,
        "kept": {True: "yes", False: "no"}[trial.keeps_its_rate()] if trial.truth == NULL else "",
    }


def main() -> None:
    """Run all trials and write the table."""
    rows = []
    for inference in ALL:
        with tempfile.TemporaryDirectory() as folder:
            rows += [row(trial) for trial in inference(LARGE, Path(folder))]
    notes = NOTES.format(layers=LARGE.layers, examples=LARGE.examples)
    title = "What knows nothing, put through every inference"
    write_results("adversaries", title, pd.DataFrame(rows), describe("numpy", "scipy"), notes)


if __name__ == "__main__":
    main()
