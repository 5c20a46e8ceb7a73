"""What the stages of the paper's run cost here, in seconds per unit of work and in hours.

    python benchmarks/stages.py [--threads 2] [--scale 1]

Each stage runs twice, on a small and on a larger set of examples; the difference is its cost, so
that loading models and starting threads do not count. The encoder has BERT-base's shape and random
weights; texts are as long as GLUE's. `--scale` multiplies both sets: 1 suits two cores, 32 a GPU.
The peak is what one large product of matrices reaches here, in the stage's precision.
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

import numpy as np
import pandas as pd
import torch
from _examples import NEEDED, PARAMETERS, SETS, glue_lengths, save_data, save_encoder
from _machine import describe, peaks, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.core.attention.extraction import extract_maps, read_sample
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.interventions.sweep import Settings as SweepSettings
from darksecrets.core.interventions.sweep import sweep
from darksecrets.core.models import devices, precision
from darksecrets.core.run.states import FINETUNED, FROZEN, PRETRAINED
from darksecrets.paper.finetuning import pretrained, training
from darksecrets.paper.patterns.network.classification import classify
from darksecrets.paper.patterns.network.classifier import load
from darksecrets.paper.patterns.network.trained import CLASSIFIER
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
        passes: Forward passes that a unit needs of the layers; a backward pass is two.
        precision: That of the passes.
    """

    name: str
    unit: str
    units: int
    examples: tuple[int, int]
    work: Work
    passes: float = 0.0
    precision: str = "float32"

    @property
    def operations(self) -> float:
        """Floating-point operations that a unit needs, padding and products with maps left out."""
        return self.passes * 2 * PARAMETERS * float(np.mean(glue_lengths(10_000)))


class Workshop:
    """A folder with an encoder and data, and each stage's work in it."""

    def __init__(self, folder: Path, threads: int) -> None:
        self.folder, self.threads = folder, threads
        self.encoder = folder / "model"
        save_encoder(self.encoder)

    def data(self, train: int, validation: int) -> Path:
        """Save a data set with as many examples, if it is not there; return its folder."""
        folder = self.folder / f"data-{train}-{validation}"
        if not folder.exists():
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
        sweep(self.encoder, self.data(examples, examples), output, settings, threads=self.threads)
        return examples

    def extract(self, examples: int) -> int:
        """Write attention maps."""
        sample = read_sample(self.data(examples, examples), list(range(examples)))
        extract_maps(self.encoder, sample, self.folder / f"maps-{examples}", max_length=LONGEST)
        return examples

    def classify(self, examples: int) -> int:
        """Classify the maps that `extract` wrote."""
        classify(AttentionStore.open(self.folder / f"maps-{examples}"), load(CLASSIFIER))
        return examples


def stages(shop: Workshop) -> list[Stage]:
    """All stages, in the order of the run."""
    step = f"step of {BATCH} examples"
    training_precision = precision.resolve("auto")
    return [
        Stage(
            "finetune",
            step,
            881_850,
            (4 * BATCH, 20 * BATCH),
            shop.finetune,
            passes=3 * BATCH,
            precision=training_precision,
        ),
        Stage("evaluate_pretrained", "example", 2_056_775, (32, 128), shop.evaluate, passes=1),
        Stage("sweep_heads", "example", 293_825, (4, 16), shop.sweep, passes=SETS * NEEDED),
        Stage("extract_attention", "example", 33_342, (32, 128), shop.extract, passes=1),
        Stage("measure_attention", "example", 33_342, (32, 128), shop.classify),
    ]


def measure(stage: Stage, shop: Workshop, scale: int, peak: float) -> dict[str, object]:
    """Time both sizes of a stage; return a row of the table."""
    units, seconds = [], []
    for examples in (scale * each for each in stage.examples):
        shop.data(examples, FEW)
        shop.data(examples, examples)
        start = time.perf_counter()
        units.append(stage.work(examples))
        seconds.append(time.perf_counter() - start)
    cost = (seconds[1] - seconds[0]) / (units[1] - units[0])
    rate = stage.operations / cost
    return {
        "stage": stage.name,
        "unit": stage.unit,
        "seconds": float(f"{cost:.3g}"),
        "precision": stage.precision if stage.passes else "",
        "TFLOP/s": f"{rate / 1e12:.3g}" if stage.passes else "",
        "share of peak": f"{rate / peak:.3f}" if stage.passes else "",
        "units of the paper's run": stage.units,
        "hours": round(cost * stage.units / 3600, 2),
    }


def main() -> None:
    """Measure, and write `results/stages_<device>.csv` and `.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--threads", type=int, default=2)
    parser.add_argument("--scale", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    peak = peaks()
    with tempfile.TemporaryDirectory() as name:
        shop = Workshop(Path(name), options.threads)
        rows = [measure(each, shop, options.scale, peak[each.precision]) for each in stages(shop)]
    table = pd.DataFrame(rows)
    notes = (
        f"BERT-base with random weights, texts as long as GLUE's, {options.threads} thread(s), "
        f"scale {options.scale}. Hours are for one job after another: they leave out starting "
        "jobs, loading models, parsing sentences, statistics and figures. The peak is "
        + " and ".join(f"{rate / 1e12:.3g} TFLOP/s in {name}" for name, rate in peak.items())
        + "; operations are those needed, without padding and products with maps."
    )
    device = "gpu" if devices.best().type == "cuda" else "cpu"
    machine = describe("torch", "transformers")
    write_results(f"stages_{device}", "What the stages cost", table, machine, notes)


if __name__ == "__main__":
    main()
