"""Cost of each stage on this machine, and a projection to the paper's whole run.

    python benchmarks/stages.py [--seconds 10] [--threads N] [--examples 64]

A BERT-base with random weights reads texts as long as GLUE's, with the package's own functions, on
a GPU if there is one. Every stage runs in its own process, to measure its memory, on chunks that
are spread evenly over the lengths, until its time is up. To know the cost on other hardware, run
this program there.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import itertools
import json
import math
import os
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import asdict
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import yaml
from _examples import LONGEST, glue_lengths
from _machine import describe, gpu, write_results
from extraction import save_model
from measures import prepare_pairs

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.attention import store
from workflow.lib import configuration
from workflow.lib.tasks import shipped, shipped_tasks

PAPER = Path(__file__).parents[1] / "config" / "paper.yaml"
TASK = shipped_tasks()["MRPC"]
STATES = 2
"""Fine-tuned states: from the pre-trained weights, and randomly initialized."""
EXAMPLES = 1024
"""Texts that a stage's chunks are taken from."""
WARM_UP = 2
"""Training steps that are not timed."""
GOLDEN = (math.sqrt(5) - 1) / 2
STAGES = (
    FINE_TUNING,
    SCORING,
    EXTRACTION,
    STATISTICS,
    CLASSIFICATION,
    SIMILARITY,
    SWEEP,
) = (
    "fine-tuning",
    "scoring",
    "extraction",
    "statistics",
    "classification",
    "similarity",
    "sweep",
)
UNITS = dict.fromkeys(STAGES, "example") | {FINE_TUNING: "step of 32 examples"}
#: Multiplications and additions per parameter of the encoder's layers and token.
OPERATIONS = {FINE_TUNING: 6, SCORING: 2, EXTRACTION: 2}

Chunks = Sequence[Sequence[int]]


def spread(count: int) -> list[int]:
    """Evenly spaced quantiles of GLUE's lengths in tokens, the longest first."""
    shares = (np.arange(count) + 0.5) / count
    lengths = np.quantile(glue_lengths(2**14), shares, method="nearest")
    return [int(length) for length in lengths[::-1]]


MEAN_TOKENS = float(np.mean(spread(2**12)))


def random_split(lengths: Sequence[int]) -> Any:  # noqa: ANN401 - imports torch
    """Random tokens and labels."""
    from darksecrets.data.batches import EncodedSplit

    rng = np.random.default_rng(0)
    starts = np.cumsum([0, *lengths])
    ids = rng.integers(5, 1000, starts[-1]).astype(np.int32)
    return EncodedSplit(
        idx=np.arange(len(lengths)),
        labels=np.arange(len(lengths)) % 2,
        starts=starts,
        inputs={"input_ids": ids, "token_type_ids": np.zeros_like(ids)},
        padding={"input_ids": 0, "token_type_ids": 0},
    )


def spend(seconds: float, chunks: Chunks, work: Callable[[Sequence[int]], object]) -> float:
    """Seconds of an example of average length.

    Chunks of examples are sorted, the longest first, and run in an order that spreads them evenly.
    Examples are weighted by their tokens. The longest chunk warms up, so that memory peaks there.
    """
    lengths = np.array(spread(EXAMPLES))
    order = sorted(range(len(chunks)), key=lambda number: number * GOLDEN % 1)
    work(chunks[0])
    taken, tokens, done = 0.0, 0, 0
    while taken < seconds:
        done += 1
        chunk = chunks[order[done % len(order)]]
        synchronise()
        start = time.perf_counter()
        work(chunk)
        synchronise()
        taken += time.perf_counter() - start
        tokens += int(lengths[list(chunk)].sum())
    return taken / tokens * MEAN_TOKENS


def synchronise() -> None:
    """Wait until the GPU is idle."""
    import torch

    if torch.cuda.is_available():
        torch.cuda.synchronize()


def part(split: Any, rows: Sequence[int]) -> Any:  # noqa: ANN401
    """Consecutive examples of a split."""
    return random_split(split.lengths[list(rows)].tolist())


def load_model(folder: Path, **options: Any) -> Any:  # noqa: ANN401
    """The classifier, on the device that the package chooses."""
    from darksecrets.models import devices
    from darksecrets.models.loading import load_classifier

    return load_classifier(folder / "model", TASK, seed=1, **options)[0].to(devices.best())


def fine_tuning(folder: Path, seconds: float) -> float:
    """Seconds of a training step, weighted by the tokens of its batch."""
    from transformers import TrainerCallback

    from darksecrets.finetuning import training
    from darksecrets.models import precision

    settings = training.Settings(epochs=100)
    run = {"task": TASK.name, "state": training.FINETUNED, "seed": 1, **asdict(settings)}
    run["precision"] = precision.resolve(settings.precision)
    train, validation = random_split(spread(EXAMPLES)), random_split([8, 8])
    model, _ = training._initial_model(folder / "model", TASK, training.FINETUNED, 1, settings)
    times: list[float] = []

    class Clock(TrainerCallback):
        """Records when steps end, and stops when the time is up."""

        def on_step_end(self, args: object, state: object, control: Any, **_: object) -> None:  # noqa: ANN401, ARG002
            synchronise()
            times.append(time.perf_counter())
            counted = len(times) - WARM_UP
            control.should_training_stop = counted > 0 and times[-1] - times[WARM_UP - 1] >= seconds

    with training.deterministic(1):
        trainer = training.FineTuner(model, train, validation, TASK, run, folder / "checkpoints")
        trainer.add_callback(Clock())
        order = np.array(list(trainer._get_train_sampler()))
        trainer.run(None, math.inf)
    size = settings.batch_size
    first, last = WARM_UP * size, len(times) * size  # only of the first epoch if it was enough
    rows = np.resize(order, last)[first:]
    tokens = int(train.lengths[rows].sum())
    return (times[-1] - times[WARM_UP - 1]) / tokens * MEAN_TOKENS * size


def scoring(folder: Path, seconds: float) -> float:
    """Seconds of an example that a classifier scores."""
    from darksecrets.data.batches import by_length
    from darksecrets.finetuning.evaluation import batch_size_for, evaluate

    model, split = load_model(folder), random_split(spread(EXAMPLES))
    batch_size = batch_size_for(model, split)
    chunks = list(by_length(split.lengths, batch_size))
    return spend(
        seconds, chunks, lambda rows: evaluate(model, part(split, rows), batch_size=batch_size)
    )


def extraction(folder: Path, seconds: float) -> float:
    """Seconds of an example whose maps are computed, checked and written."""
    from darksecrets.attention import extraction
    from darksecrets.models.devices import place
    from darksecrets.models.loading import load_encoder

    model, lengths = place(load_encoder(folder / "model")), spread(EXAMPLES)
    split = random_split(lengths)
    ids = split.inputs["input_ids"]
    rows = [ids[start:end] for start, end in itertools.pairwise(split.starts)]
    inputs = {"input_ids": rows, "attention_mask": [np.ones_like(row) for row in rows]}
    batch_size = paper()["attention"]["batch_size"]
    batches = extraction.batches_for(model, extraction.batches_of(EXAMPLES, batch_size), lengths)

    def work(numbers: Sequence[int]) -> None:
        run = [batch for batch in batches if batch.start in numbers]
        with write(folder / "written", [lengths[number] for number in numbers]) as writer:
            arrays = extraction.maps_of(model, inputs, run, pad_token_id=0)
            for batch in run:
                extraction.write_maps(
                    next(arrays), lengths[batch.start : batch.stop], batch, writer
                )

    # On a GPU, one chunk has all batches, because a batch is computed while the last is written.
    chunks: Chunks = batches if model.device.type == "cpu" else [range(EXAMPLES)]
    return spend(seconds, chunks, work)


@contextlib.contextmanager
def write(folder: Path, lengths: Sequence[int]) -> Iterator[store.AttentionWriter]:
    """Write maps of BERT-base to a store, in place of the last one."""
    empty = ("segments", "special", "starts", "ends")
    table = pd.DataFrame(
        [
            {"idx": number, "tokens": ["t"] * length} | dict.fromkeys(empty, [0] * length)
            for number, length in enumerate(lengths)
        ]
    )
    with store.write_store(folder, table, 12, 12) as writer:
        yield writer


def on_a_store(
    folder: Path, seconds: float, work: Callable[[store.AttentionStore], object]
) -> float:
    """Seconds of an example of a store, from repeated work on all of its maps."""
    opened = store.AttentionStore.open(folder / "store")
    return spend_all(seconds, opened.examples, lambda: work(opened))


def spend_all(seconds: float, examples: int, work: Callable[[], object]) -> float:
    """Seconds of an example, from repeated work on all examples."""
    work()
    rounds, start = 0, time.perf_counter()
    while time.perf_counter() - start < seconds:
        work()
        rounds += 1
    return (time.perf_counter() - start) / rounds / examples


def statistics(folder: Path, seconds: float) -> float:
    """Seconds of an example for all measures of sections 4.4, 4.5 and 5."""
    from darksecrets.features.measures import measure
    from darksecrets.features.tokens import describe as describe_tokens

    return on_a_store(
        folder,
        seconds,
        lambda maps: measure(maps, describe_tokens(maps, folder / "pairs.jsonl"), 0),
    )


def classification(folder: Path, seconds: float) -> float:
    """Seconds for classifying all maps of an example."""
    from darksecrets.patterns.classification import classify
    from darksecrets.patterns.classifier import untrained

    classifier = untrained()
    return on_a_store(folder, seconds, lambda maps: classify(maps, classifier))


def similarity(folder: Path, seconds: float) -> float:
    """Seconds for comparing two models' maps of an example."""
    from darksecrets.finetuning.cosine import compare, table

    return on_a_store(folder, seconds, lambda maps: table(compare(maps, maps)))


def sweep(folder: Path, seconds: float) -> float:
    """Seconds of an example under every set of disabled heads, in float32."""
    import torch

    from darksecrets.ablation.sets import sweep_sets
    from darksecrets.ablation.shared import Shared
    from darksecrets.ablation.sweep import BLOCK
    from darksecrets.models.hooks import shape_of

    model, split = load_model(folder), random_split(spread(EXAMPLES))
    sets = sweep_sets(shape_of(model))
    backend = Shared(model, split, [of_set.intervention("uniform") for of_set in sets])
    # On a CPU, a block would take minutes; single examples are as fast.
    step = 1 if model.device.type == "cpu" else BLOCK[model.device.type]
    blocks = [range(start, start + step) for start in range(0, EXAMPLES, step)]
    with torch.inference_mode():
        return spend(seconds, blocks, backend.block)


WORK: dict[str, Callable[[Path, float], float]] = {
    FINE_TUNING: fine_tuning,
    SCORING: scoring,
    EXTRACTION: extraction,
    STATISTICS: statistics,
    CLASSIFICATION: classification,
    SIMILARITY: similarity,
    SWEEP: sweep,
}


def run_stage(stage: str, folder: Path, seconds: float) -> dict[str, Any]:
    """Run one stage, in its own process."""
    import torch

    with contextlib.redirect_stdout(io.StringIO()):
        each = WORK[stage](folder, seconds)
    found = {
        "stage": stage,
        "unit": UNITS[stage],
        "seconds": each,
        "peak memory, MiB": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    }
    if torch.cuda.is_available():
        found["GPU memory, MiB"] = torch.cuda.max_memory_allocated() / 2**20
    if stage in OPERATIONS:
        tokens = MEAN_TOKENS * (32 if stage == FINE_TUNING else 1)
        found["GFLOP/s"] = OPERATIONS[stage] * layer_parameters() * tokens / each / 1e9
    return found


def layer_parameters() -> int:
    """Parameters of BERT-base's layers; looking up an embedding costs nothing."""
    hidden, wide, layers = 768, 3072, 12
    attention = 4 * (hidden * hidden + hidden)
    feed_forward = hidden * wide + wide + wide * hidden + hidden
    return layers * (attention + feed_forward + 2 * 2 * hidden)


def paper() -> dict[str, Any]:
    """The configuration of the paper's run."""
    config = yaml.safe_load(PAPER.read_text(encoding="utf-8"))
    return configuration.resolve(config)


def units_of_the_paper() -> dict[str, int]:
    """Units of every stage in the paper's run, from its configuration and GLUE's sizes."""
    config = paper()
    tuning, seeds = config["fine_tuning"], len(config["seeds"])
    sizes = [shipped()[task]["size"] for task in config["tasks"]]
    steps = sum(math.ceil(train / tuning["batch_size"]) for train, _ in sizes)
    validation = sum(count for _, count in sizes)
    sampled = sum(min(config["samples"]["size"], count) for _, count in sizes)
    models = 1 + seeds  # whose maps are studied: the pre-trained one, and those fine-tuned from it
    return {
        FINE_TUNING: steps * tuning["epochs"] * STATES * seeds,
        # after every epoch; and the pre-trained model with the classifier of every seed
        SCORING: validation * (tuning["epochs"] * STATES + 1) * seeds,
        EXTRACTION: sampled * models,
        STATISTICS: sampled * models,
        CLASSIFICATION: sampled * models,
        SIMILARITY: sampled * seeds,
        SWEEP: validation * seeds * len(config["ablation"]["states"]),
    }


def prepare(folder: Path, examples: int) -> None:
    """Save a random BERT-base, annotated pairs of sentences, and its maps of them."""
    from darksecrets.attention.extraction import extract, read_sample

    save_model(folder, TASK)
    prepare_pairs(folder, spread(examples), np.random.default_rng(0))
    extract(
        folder / "model",
        read_sample(folder / "pairs", pd.read_csv(folder / "pairs.csv")["idx"].tolist()),
        folder / "store",
        max_length=LONGEST,
        batch_size=16,
    )


def child(options: argparse.Namespace, *arguments: str) -> str:
    """Run this program with other arguments; return its output."""
    command = [sys.executable, __file__, *arguments, "--seconds", str(options.seconds)]
    command += ["--threads", str(options.threads), "--examples", str(options.examples)]
    environment = os.environ | {"OMP_NUM_THREADS": str(options.threads)}
    done = subprocess.run(command, env=environment, stdout=subprocess.PIPE, text=True, check=True)
    return done.stdout


def measure(options: argparse.Namespace) -> None:
    """Run the stages, project the paper's run, and write the results."""
    with tempfile.TemporaryDirectory() as folder:
        child(options, "--prepare", folder)
        rows = [json.loads(child(options, "--stage", one, folder)) for one in STAGES]
    units = units_of_the_paper()
    table = pd.DataFrame(rows)
    table["units of the paper's run"] = table["stage"].map(units)
    table["hours"] = table["seconds"] * table["units of the paper's run"] / 3600
    total = pd.DataFrame([{"stage": "total", "hours": table["hours"].sum()}])
    table = pd.concat([table, total], ignore_index=True)
    table = table.round({"peak memory, MiB": 0, "GPU memory, MiB": 0, "GFLOP/s": 1, "hours": 2})
    table["seconds"] = table["seconds"].map(lambda value: float(f"{value:.3g}"))
    order = ["stage", "unit", "seconds", "GFLOP/s", "peak memory, MiB", "GPU memory, MiB"]
    table = table[[*(name for name in order if name in table), *table.columns[-2:]]]
    table["units of the paper's run"] = table["units of the paper's run"].astype("Int64")
    table.insert(2, "threads", options.threads)
    table = table.astype(object).where(table.notna(), "")
    packages = ("torch", "transformers", "numpy")
    write_results("stages", "What each stage costs", table, describe(*packages), notes(options))


def notes(options: argparse.Namespace) -> str:
    """What was measured, and what was not."""
    from darksecrets.models import precision

    device = gpu()[0] if gpu() else "no GPU (not measured on one)"
    return (
        f"BERT-base with random weights, texts as long as GLUE's (one distribution for all tasks, "
        f"{MEAN_TOKENS:.0f} tokens on average, at most {LONGEST}), {options.threads} thread(s), "
        f"{device}. Each stage ran for about {options.seconds:g} s. Training in "
        f"{precision.resolve('auto')}, all else in float32. The sweep is without screening; its "
        "unit is one example under 157 sets of disabled heads. Screening in bfloat16 makes it "
        "faster, by an amount that depends on how many predictions the model leaves unsure.\n\n"
        "Hours are for running one job after another on this hardware: config/paper.yaml with "
        "seven tasks of GLUE's sizes. They exclude starting jobs and loading models, parsing "
        "sentences, the pattern classifier and its cross-validation, FrameNet, resampling and "
        "figures.\n\n"
        "GFLOP/s count useful operations: 2 per parameter of the layers (85 million) and real "
        "token in a forward pass, 6 in a training step; padding and products with maps do not "
        "count."
    )


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--seconds", type=float, default=10.0, help="for each stage")
    parser.add_argument("--threads", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--examples", type=int, default=64, help="whose maps are on disk")
    parser.add_argument("--prepare", type=Path, help=argparse.SUPPRESS)
    parser.add_argument("--stage", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if not options.prepare and not options.stage:
        measure(options)
        return
    import torch

    torch.set_num_threads(options.threads)
    if options.prepare:
        prepare(options.prepare, options.examples)
    else:
        stage, folder = options.stage
        print(json.dumps(run_stage(stage, Path(folder), options.seconds)))


if __name__ == "__main__":
    main()
