"""What the statistics of the paper's run cost: seven tasks of GLUE's sizes, 144 heads, five seeds.

    python benchmarks/statistics_at_size.py

Predictions are made up: of models that are right on about nine in ten examples, and that answer two
in a hundred anew if a head or a layer is disabled. Texts have words as frequent as those of a
language. The functions that the rules call run on them, every part in a process of its own.
"""

from __future__ import annotations

import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.core.arrays import Values
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.sets import sweep_sets
from darksecrets.core.interventions.sweep import table_of
from darksecrets.core.models.selectors import Shape
from darksecrets.core.run.states import FINETUNED, FROM_NORMAL, FROZEN, PRETRAINED
from darksecrets.paper.ablation import statistics
from darksecrets.paper.ablation.scoring import scored
from darksecrets.paper.ablation.seeds import effects_over_seeds
from darksecrets.paper.finetuning import comparison
from darksecrets.paper.finetuning.baselines import evaluate_baselines
from darksecrets.paper.finetuning.tables import BASELINE_NAMES
from workflow.lib import constants
from workflow.lib.tasks import shipped, shipped_tasks

SEEDS = range(1, 6)
LAYERS = HEADS = 12
RIGHT, CHANGED = 0.88, 0.02
"""Shares of examples that a model answers from the label, and that a disabled set answers anew."""
WORDS, EXPONENT = 60_000, 1.05
"""Words of a language, and the exponent of Zipf's law."""
LENGTHS = {"MRPC": 22, "STS-B": 11, "SST-2": 10, "QQP": 11, "RTE": 26, "QNLI": 20, "MNLI": 15}
"""Words of a sentence, about."""
RESAMPLING = statistics.Resampling(
    bootstrap=constants.CONSTANTS["ablation.bootstrap"],
    permutations=constants.CONSTANTS["ablation.permutations"],
    splits=constants.CONSTANTS["ablation.splits"],
    seed=1,
)
TASKS = shipped_tasks()
SIZES = {name: entry["size"] for name, entry in shipped().items()}
"""Training and validation examples of each task."""


def answers(task: Task, examples: int, labels: Values, seed: int) -> Values:
    """[examples] predictions of one model."""
    rng = np.random.default_rng(seed)
    if task.is_regression:
        return (labels + rng.normal(0, 0.6, examples)).astype(labels.dtype)
    guesses = rng.integers(0, len(task.labels), examples)
    return np.where(rng.random(examples) < RIGHT, labels, guesses)


def gold(task: Task, examples: int) -> Values:
    """[examples] labels."""
    rng = np.random.default_rng(0)
    if task.is_regression:
        return rng.uniform(0, 5, examples).astype(np.float32)
    return rng.integers(0, len(task.labels), examples)


def made_up_sweep(task: Task, examples: int, seed: int) -> SweepResult:
    """A sweep over every head and layer of one model."""
    sets = table_of(sweep_sets(Shape(LAYERS, HEADS)))
    labels = gold(task, examples)
    intact = answers(task, examples, labels, seed)
    rng = np.random.default_rng(seed)
    shape = (len(sets), examples)
    if task.is_regression:
        predictions = (intact + rng.normal(0, 0.05, shape)).astype(labels.dtype)
    else:
        anew = rng.integers(0, len(task.labels), shape)
        predictions = np.where(rng.random(shape) < CHANGED, anew, intact)
    numbers = np.arange(examples)
    return SweepResult(sets, predictions, labels, numbers, numbers)


def score_ablation(task: Task, examples: int) -> None:
    """Effects of all sets, of every seed."""
    for seed in SEEDS:
        scored(made_up_sweep(task, examples, seed), task, RESAMPLING)


def score_ablation_over_seeds(task: Task, examples: int) -> None:
    """Effects over seeds."""
    sweeps = {seed: made_up_sweep(task, examples, seed) for seed in SEEDS}
    effects_over_seeds(sweeps, task, RESAMPLING)


def compare_scores(task: Task, examples: int) -> None:
    """Scores of all models, and their differences."""
    labels = gold(task, examples)
    states = (PRETRAINED, FROZEN, FINETUNED, FROM_NORMAL)
    predictions = {
        state: np.stack([answers(task, examples, labels, 100 * number + seed) for seed in SEEDS])
        for number, state in enumerate(states)
    }
    for number, name in enumerate(BASELINE_NAMES):
        predictions[name] = answers(task, examples, labels, 1000 + number)[None]
    outcomes = comparison.Outcomes(task, labels, np.arange(examples), predictions, list(SEEDS))
    comparison.compare(
        [outcomes], comparison.Resampling(constants.CONSTANTS["scores.resamples"], 1)
    )


def made_up_texts(examples: int, length: int, seed: int) -> list[str]:
    """Texts of words as frequent as those of a language."""
    rng = np.random.default_rng(seed)
    words = np.array([f"word{number:x}" for number in range(WORDS)])
    shares = 1 / np.arange(1, WORDS + 1) ** EXPONENT
    lengths = np.maximum(3, rng.poisson(length, examples))
    drawn = words[rng.choice(WORDS, lengths.sum(), p=shares / shares.sum())]
    ends = np.cumsum(lengths)
    return [" ".join(drawn[end - own : end]) for own, end in zip(lengths, ends, strict=True)]


def fit_baselines(task: Task, examples: int) -> None:
    """The bag of words, on all training examples; labels depend on the first word."""
    sizes = {"train": SIZES[task.name][0], "validation": examples}
    splits = {}
    for seed, (name, size) in enumerate(sizes.items()):
        texts = {
            column: made_up_texts(size, LENGTHS[task.name], 10 * seed + place)
            for place, column in enumerate(task.columns)
        }
        guesses = gold(task, size)
        by_word = np.array([len(text.partition(" ")[0]) for text in texts[task.columns[0]]])
        if not task.is_regression:
            told = by_word % len(task.labels)
            guesses = np.where(np.random.default_rng(seed).random(size) < RIGHT, told, guesses)
        splits[name] = {**texts, "label": guesses.tolist(), "idx": list(range(size))}
    evaluate_baselines(splits["train"], splits["validation"], task)


PARTS: dict[str, Callable[[Task, int], None]] = {
    "score_ablation": score_ablation,
    "score_ablation, over seeds": score_ablation_over_seeds,
    "compare_scores": compare_scores,
    "evaluate_baselines": fit_baselines,
}
"""Parts of rules, by what they are called here."""


def measure(part: str, name: str) -> dict[str, object]:
    """CPU seconds and memory of a part on one task."""
    examples = SIZES[name][1]
    start = time.process_time()
    PARTS[part](TASKS[name], examples)
    return {
        "part": part,
        "task": name,
        "examples": examples,
        "CPU seconds": round(time.process_time() - start, 1),
        "memory, GB": round(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6, 1),
    }


def main() -> None:
    """Measure, and write `results/statistics_at_size.csv` and `.md`."""
    context = multiprocessing.get_context("spawn")
    rows = []
    for part in PARTS:
        for name in TASKS:
            with context.Pool(1) as pool:
                rows.append(pool.apply(measure, (part, name)))
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    total = table["CPU seconds"].sum()
    notes = (
        f"Seven tasks with GLUE's numbers of examples, {LAYERS} × {HEADS} heads, {len(SEEDS)} "
        f"seeds, made-up predictions. All parts together take {total / 60:.0f} CPU minutes, with "
        "the time for making predictions and texts up."
    )
    machine = describe("numpy", "scipy", "scikit-learn")
    write_results(
        "statistics_at_size", "What the statistics of the paper's run cost", table, machine, notes
    )


if __name__ == "__main__":
    main()
