"""What the stages of the paper's run cost here, in seconds per unit of work and in hours.

    python benchmarks/stages.py [--threads 2] [--scale 1]

Each stage runs twice, on a small and on a larger set of examples; the difference is its cost, so
that loading models and starting threads do not count. The encoder has BERT-base's shape and random
weights; texts are as long as GLUE's. `--scale` multiplies both sets: 1 suits two cores, 32 a GPU.
The results are named after the device: `stages_cpu` or `stages_gpu`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

import pandas as pd
from _examples import save_data, save_encoder
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.core.attention.extraction import extract_maps, read_sample
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.interventions.sweep import Settings as SweepSettings
from darksecrets.core.interventions.sweep import sweep
from darksecrets.core.models import devices
from darksecrets.core.run.states import FINETUNED, FROZEN, PRETRAINED
from darksecrets.paper.finetuning import pretrained, training
from darksecrets.paper.patterns.classification import classify
from darksecrets.paper.patterns.classifier import load
from darksecrets.paper.patterns.trained import CLASSIFIER
from workflow.lib.tasks import shipped_tasks

TASK = shipped_tasks()["SST-2"]
LONGEST = 128
FEW = 16
"""Examples of a split that a stage needs and that is not its work."""
BATCH = training.Settings().batch_size

Work = Callable[[int], int]
"""Does a stage's work on some examples; returns how many units of work that is."""


@dataclass(frozen=True)
class Stage:
    """A stage of the paper's run.

    Attributes:
        name: Its rule.
        unit: What its cost is measured in.
        units: Units in the run of config/paper.yaml: seven tasks of GLUE's sizes, five seeds.
        examples: Examples of the smaller and the larger set, at scale 1.
        work: What it does.
    """

    name: str
    unit: str
    units: int
    examples: tuple[int, int]
    work: Work


class Workshop:
    """A folder with an encoder and data, and each stage's work in it."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder, self.threads = folder, threads
        self.encoder = folder / "model"
        save_encoder(self.encoder)

    def data(self, train: int, validation: int) -> Path:
        """Save a data set with as many examples, and return its folder."""
        folder = self.folder / f"data-{train}-{validation}"
        save_data(folder, train, validation)
        return folder

    def finetune(self, examples: int) -> int:
        """One epoch, in the precision that the device chooses."""
        details = training.finetune(
            self.encoder,
            self.data(examples, FEW),
            self.folder / f"finetuned-{examples}",
            task=TASK,
            state=FINETUNED,
            seed=1,
            settings=training.Settings(epochs=1),
            threads=self.threads,
            scores=self.folder / "scores.csv",
            predictions=self.folder / "predictions.csv",
            curve=self.folder / "curve.csv",
        )
        return int(details["steps"])

    def evaluate(self, examples: int) -> int:
        """Score the encoder with an untrained classifier, and with a trained one."""
        states = (PRETRAINED, FROZEN)
        pretrained.evaluate_pretrained(
            self.encoder,
            self.data(examples, examples),
            task=TASK,
            seeds=[1],
            settings=pretrained.Settings(),
            max_length=LONGEST,
            threads=self.threads,
            scores={state: self.folder / f"scores-{state}" for state in states},
            predictions={state: self.folder / f"predictions-{state}" for state in states},
        )
        return 2 * examples

    def sweep(self, examples: int) -> int:
        """Predict with every head and every layer disabled."""
        output = self.folder / f"sweep-{examples}"
        settings = SweepSettings(TASK, 1, LONGEST)
        sweep(self.encoder, self.data(FEW, examples), output, settings, threads=self.threads)
        return examples

    def extract(self, examples: int) -> int:
        """Write attention maps."""
        sample = read_sample(self.data(FEW, examples), list(range(examples)))
        extract_maps(self.encoder, sample, self.folder / f"maps-{examples}", max_length=LONGEST)
        return examples

    def classify(self, examples: int) -> int:
        """Classify the maps that `extract` wrote."""
        classify(AttentionStore.open(self.folder / f"maps-{examples}"), load(CLASSIFIER))
        return examples


def stages(shop: Workshop) -> list[Stage]:
    """All stages, in the order of the run."""
    step = f"step of {BATCH} examples"
    return [
        Stage("finetune", step, 881_850, (BATCH, 4 * BATCH), shop.finetune),
        Stage("evaluate_pretrained", "example", 2_056_775, (32, 128), shop.evaluate),
        Stage("sweep_heads", "example", 293_825, (4, 16), shop.sweep),
        Stage("extract_attention", "example", 33_342, (32, 128), shop.extract),
        Stage("measure_attention", "example", 33_342, (32, 128), shop.classify),
    ]


def measure(stage: Stage, scale: int) -> dict[str, object]:
    """Time both sizes of a stage; return a row of the table."""
    units, seconds = [], []
    for examples in stage.examples:
        start = time.perf_counter()
        units.append(stage.work(scale * examples))
        seconds.append(time.perf_counter() - start)
    cost = (seconds[1] - seconds[0]) / (units[1] - units[0])
    return {
        "stage": stage.name,
        "unit": stage.unit,
        "seconds": float(f"{cost:.3g}"),
        "units of the paper's run": stage.units,
        "hours": round(cost * stage.units / 3600, 2),
    }


def main() -> None:
    """Measure, and write `results/stages_<device>.csv` and `.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--scale", type=int, default=1)
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as name:
        shop = Workshop(Path(name), options.threads)
        table = pd.DataFrame([measure(stage, options.scale) for stage in stages(shop)])
    notes = (
        f"BERT-base with random weights, texts as long as GLUE's, {options.threads} thread(s), "
        f"scale {options.scale}. Hours are for one job after another: they leave out starting "
        "jobs, loading models, parsing sentences, statistics and figures."
    )
    device = "gpu" if devices.best().type == "cuda" else "cpu"
    machine = describe("torch", "transformers")
    write_results(f"stages_{device}", "What the stages cost", table, machine, notes)


if __name__ == "__main__":
    main()
