"""What the paper's run costs on CPUs beside training and passes of models, in CPU seconds.

    python benchmarks/statistics_at_size.py [--pipeline <name or folder of spaCy's>] [--workers 2]

Seven tasks have GLUE's sizes, encoders BERT-base's shape with 144 heads, and there are five seeds.
Predictions are made up: of models that are right on about nine in ten examples, and that answer two
in a hundred anew if a head or a layer is disabled. Texts have words as frequent as those of a
language. The functions that the rules call run on them, every part in a process of its own with one
thread. Of the encoders with random weights, a tenth runs. Without a pipeline, no text is parsed.
"""

from __future__ import annotations

import argparse
import multiprocessing
import os
import resource
import sys
import tempfile
import time
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pandas as pd
from _examples import WORDS as KNOWN_WORDS
from _examples import save_encoder
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.core.arrays import Values
from darksecrets.core.data.tasks import Task
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.interventions.sets import sweep_sets
from darksecrets.core.interventions.sweep import table_of
from darksecrets.core.models.loading import Draw
from darksecrets.core.models.selectors import Shape
from darksecrets.core.run.states import FINETUNED, FROM_NORMAL, FROZEN, PRETRAINED
from darksecrets.paper.ablation import statistics
from darksecrets.paper.ablation.scoring import scored
from darksecrets.paper.ablation.seeds import effects_over_seeds
from darksecrets.paper.features import parser
from darksecrets.paper.finetuning import comparison
from darksecrets.paper.finetuning.baselines import evaluate_baselines
from darksecrets.paper.finetuning.tables import BASELINE_NAMES
from darksecrets.paper.framenet import untrained
from darksecrets.paper.framenet.links import Annotation, Element, words_of
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
SAMPLED = 1000
"""Examples of a task whose texts are parsed."""
LINKS, LINK_WORDS = 473, 16
"""Sentences with frame-semantic links, and words of each."""
ENCODERS = 2
"""Encoders with random weights that run, of `untrained.ENCODERS`; their time is multiplied."""
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


def parse_texts(pipeline: str, task: Task, examples: int) -> None:
    """Tags and dependencies of sampled texts."""
    sample = min(SAMPLED, examples)
    columns = {
        f"sentence{place}": made_up_texts(sample, LENGTHS[task.name], place)
        for place, _ in enumerate(task.columns, start=1)
    }
    for _ in parser.parse(range(sample), columns, parser.load_pipeline(pipeline)):
        pass


def made_up_links() -> list[Annotation]:
    """Sentences whose third word evokes a frame, with an element five words later."""
    rng = np.random.default_rng(0)
    links = []
    for _ in range(LINKS):
        text = " ".join(rng.choice(KNOWN_WORDS, LINK_WORDS))
        words = words_of(text)
        links.append(Annotation(text, words[2], (Element(words[7]),)))
    return links


def count_random_heads() -> None:
    """Heads of encoders with random weights that exceed all controls."""
    with tempfile.TemporaryDirectory() as folder:
        save_encoder(Path(folder))
        untrained.count_exceeding(
            Path(folder),
            made_up_links(),
            [Draw(seed, 0.02) for seed in range(1, ENCODERS + 1)],
            {"max_length": 128, "batch_size": 16},
            {"draws": constants.CONSTANTS["framenet.draws"], "seed": 1},
        )


PARTS: dict[str, Callable[[Task, int], None]] = {
    "score_ablation": score_ablation,
    "score_ablation, over seeds": score_ablation_over_seeds,
    "compare_scores": compare_scores,
    "evaluate_baselines": fit_baselines,
}
"""Parts of rules that are of a task, by what they are called here."""


class Work(NamedTuple):
    """A part of a run.

    Attributes:
        part: Its rule, in words.
        task: Its task; empty if it is of none.
        examples: Examples, or sentences.
        run: What it does.
        times: How often it runs in the paper's run.
    """

    part: str
    task: str
    examples: int
    run: Callable[[], None]
    times: float = 1


def measure(part: Callable[[], None]) -> tuple[float, float]:
    """CPU seconds of a part, and the gigabytes of its process."""
    start = time.process_time()
    part()
    taken = time.process_time() - start
    return taken, resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1e6


def main() -> None:
    """Measure, and write `results/statistics_at_size.csv` and `.md`."""
    arguments = argparse.ArgumentParser(description=__doc__)
    arguments.add_argument("--pipeline", help="a spaCy pipeline for English")
    arguments.add_argument("--workers", type=int, default=1, help="parts that run side by side")
    options = arguments.parse_args()
    parts = dict(PARTS)
    if options.pipeline:
        parts["annotate_examples"] = partial(parse_texts, options.pipeline)
    work = [
        Work(name, task, SIZES[task][1], partial(part, TASKS[task], SIZES[task][1]))
        for name, part in parts.items()
        for task in TASKS
    ]
    times = untrained.ENCODERS / ENCODERS
    work.append(Work("count_random_framenet_heads", "", LINKS, count_random_heads, times))
    os.environ["OMP_NUM_THREADS"] = "1"  # as Snakemake sets it for a job with one thread
    rows = []
    with multiprocessing.get_context("spawn").Pool(options.workers, maxtasksperchild=1) as pool:
        measured = pool.imap(measure, [one.run for one in work])
        for one, (taken, memory) in zip(work, measured, strict=True):
            rows.append(
                {
                    "part": one.part,
                    "task": one.task,
                    "examples": one.examples,
                    "CPU seconds": round(one.times * taken, 1),
                    "memory, GB": round(memory, 1),
                }
            )
            print(rows[-1], flush=True)
    table = pd.DataFrame(rows)
    total = table["CPU seconds"].sum()
    parsed = f"The first {SAMPLED} examples of a task are parsed. " if options.pipeline else ""
    notes = (
        f"Seven tasks with GLUE's numbers of examples, {LAYERS} × {HEADS} heads, {len(SEEDS)} "
        f"seeds, made-up predictions and texts. {parsed}Of {untrained.ENCODERS} encoders with "
        f"random weights, {ENCODERS} ran; their time is multiplied. All parts together take "
        f"{total / 60:.0f} CPU minutes, with the time for making predictions and texts up."
    )
    machine = describe("numpy", "scipy", "scikit-learn", "torch")
    write_results(
        "statistics_at_size",
        "What the paper's run costs beside training and passes",
        table,
        machine,
        notes,
    )


if __name__ == "__main__":
    main()
