"""Cost of resetting layers and heads to pre-trained weights, compared with a sweep.

    python benchmarks/resetting.py --run <results of a run> [--task RTE] [--seed 1]
        [--examples 160] [--threads 1 2]

For one fine-tuned model of the run and all its validation examples, the three programs take turns
on halves of the examples: the sweep in float32; the sweep with screening in bfloat16; and what the
rule `reset_weights` computes, with and without the points between both models.
"""

from __future__ import annotations

import argparse
import functools
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pandas as pd
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from ablation import SCREENED, SHARED, Race, examples, load, part

from darksecrets.landscape.running import heads_of, run
from darksecrets.landscape.swaps import interpolated, interpolations, swaps
from darksecrets.models import devices
from darksecrets.models.mixing import END, Mixture, whole
from darksecrets.models.starting import Start, load_start
from workflow.lib.tasks import shipped_tasks

POINTS = (0.0, 0.25, 0.5, 0.75, 1.0)
RESETTING, BETWEEN = "layers and heads reset", f"{len(POINTS)} points between both models"
Seconds = tuple[float, float]
"""Of the wall clock, and of CPU time."""


def timed(name: str, function: Callable[[], object]) -> dict[str, Seconds]:
    """How long a function takes, under a name."""
    start, cpu = time.perf_counter(), time.process_time()
    function()
    return {name: (time.perf_counter() - start, time.process_time() - cpu)}


def programs(options: argparse.Namespace, threads: int) -> dict[str, Seconds]:
    """Seconds of every program on all examples."""
    torch.set_num_threads(threads)
    task = shipped_tasks()[options.task]
    model, split = load(options, task, "sdpa"), examples(options, task)
    start = Start.of("finetuned", options.seed, std=0.02, init_seed=None, layers=0)
    before, _ = load_start(options.run / "models/pretrained", task, start)
    mixture = Mixture(devices.place(before), model)
    layers = mixture.layers
    mixes = [whole(layers, END), *(swap.mix(layers) for swap in swaps(layers))]
    between = [
        interpolated(*of, share, layers) for of in interpolations(layers) for share in POINTS
    ]
    found = dict.fromkeys((SHARED, SCREENED, RESETTING, BETWEEN), (0.0, 0.0))
    for half in (0, 1):
        rows = part(split, list(range(half, len(split), 2)))
        race = Race(model, model, rows, threads, (SHARED, SCREENED))
        reset = functools.partial(run, mixture, rows, mixes, heads_of(model), predicted=True)
        steps: list[Callable[[], dict[str, Seconds]]] = [
            functools.partial(sweeps, race),
            functools.partial(timed, RESETTING, reset),
            functools.partial(timed, BETWEEN, functools.partial(run, mixture, rows, between)),
        ]
        for step in steps[::-1] if half else steps:
            for name, (seconds, cpu) in step().items():
                found[name] = (found[name][0] + seconds, found[name][1] + cpu)
    return found


def sweeps(race: Race) -> dict[str, Seconds]:
    """Seconds of both sweeps, with the decision of ties."""
    race.run()
    return {name: (race.seconds[name], race.cpu_seconds[name]) for name in race.programs}


def rows_of(options: argparse.Namespace, threads: int) -> list[dict[str, Any]]:
    """Rows of the table."""
    found = programs(options, threads)
    return [
        {
            "threads": threads,
            "program": name,
            "seconds": seconds,
            "CPU seconds": cpu,
            "sweeps in float32": seconds / found[SHARED][0],
            "sweeps with screening": seconds / found[SCREENED][0],
        }
        for name, (seconds, cpu) in found.items()
    ]


def main() -> None:
    """Measure, and write the results."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, required=True, help="with models/ and data/")
    parser.add_argument("--task", default="RTE", choices=shipped_tasks())
    parser.add_argument("--seed", type=int, default=1, help="seed of the run's model")
    parser.add_argument("--examples", type=int, help="validation examples; all by default")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    options = parser.parse_args()
    table = pd.DataFrame([row for n in options.threads for row in rows_of(options, n)])
    notes = (
        f"The model that a run fine-tuned on {options.task}, and what it was made from; validation "
        "examples; everything in one process, in turns on halves of the examples. Sweeps disable "
        "every head and every layer. Resetting puts layers of the model before fine-tuning into "
        "the fine-tuned one in all ways that `reset_layers.csv` lists, and the other way round, "
        "and resets every head's own weights; it is in float32, because losses need exact "
        "outputs. Both include the decision of ties. Points between both models are counted apart; "
        "`reset_weights` computes them for training examples, too.\n\n"
        "Made with `python benchmarks/resetting.py --run <run>`."
    )
    write_results(
        "resetting",
        "Resetting layers and heads",
        table.round(2),
        describe("torch", "transformers", "numpy"),
        notes,
    )


if __name__ == "__main__":
    main()
