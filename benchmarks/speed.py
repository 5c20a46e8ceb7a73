"""What the largest computations cost in CPU time, beside what other programs take for the same.

    python benchmarks/speed.py [--examples 24] [--threads 1] [--repetitions 3]

- The sweep over all heads and layers (section 4.6), beside plain forward passes, one for each set
  of disabled heads, and beside programs that disable heads in such passes: hooks of PyTorch, and
  nnsight and TransformerLens if they are installed (`pip install nnsight transformer-lens`).
- Extraction of attention maps (section 3), beside the forward pass that it contains.
- Classification of these maps (section 4.1).

The encoder has BERT-base's shape and random weights; texts are as long as GLUE's. Other programs
get batches sorted by length. Each repetition runs all programs in turn.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING, NamedTuple

import numpy as np
import pandas as pd
import torch
from _examples import NEEDED, PARAMETERS, SETS, save_data, save_encoder
from _machine import describe, peaks, write_results
from _peers import places_of, programs

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.core.attention.extraction import extract_maps, read_sample
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.data.batches import batches_by_length, load_split
from darksecrets.core.interventions.sets import sweep_sets
from darksecrets.core.interventions.sweep import choose_backend
from darksecrets.core.models.hooks import shape_of
from darksecrets.core.models.loading import load_classifier, load_encoder
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.paper.patterns.network.classification import classify
from darksecrets.paper.patterns.network.classifier import load
from darksecrets.paper.patterns.network.trained import CLASSIFIER
from workflow.lib.tasks import shipped_tasks

if TYPE_CHECKING:
    from darksecrets.core.data.batches import EncodedSplit

TASK = shipped_tasks()["SST-2"]
LONGEST, BATCH = 128, 16
LOOP_SETS = 8
"""Sets that the other programs run; their time is multiplied accordingly."""
AGREEMENT = 1e-3
"""How far their logits may be from the sweep's."""
OURS = "this project"
SWEEP, EXTRACTION, PATTERNS = "sweep over heads", "attention maps", "patterns of maps"


class Time(NamedTuple):
    """What one program takes.

    Attributes:
        computation: What is computed.
        program: What computes it.
        seconds: CPU seconds of all threads.
        passes: Forward passes of all examples through the layers that it needs; 0 if it is none.
    """

    computation: str
    program: str
    seconds: float
    passes: float = 0


def cpu_seconds(program: Callable[[], object]) -> float:
    """CPU seconds of a call, of all threads."""
    start = time.process_time()
    program()
    return time.process_time() - start


def sorted_batches(split: EncodedSplit) -> Iterator[tuple[list[int], dict[str, torch.Tensor]]]:
    """Rows of batches of examples of similar lengths, and their inputs."""
    for rows in batches_by_length(split.lengths, BATCH):
        batch = split.batch(rows)
        del batch["labels"]
        yield rows, batch


def time_sweep(folder: Path) -> Iterator[Time]:
    """Times of the sweep and of all programs over the same sets; stop if they disagree."""
    tokenizer = load_tokenizer(folder / "model")
    split = load_split(folder / "data", "validation", tokenizer, TASK, LONGEST)
    model, _ = load_classifier(folder / "model", TASK, seed=1)
    eager, _ = load_classifier(folder / "model", TASK, seed=1)
    eager.set_attn_implementation("eager")
    sets = sweep_sets(shape_of(model))
    backend = choose_backend(model, split, [each.intervention("uniform") for each in sets])
    found = np.empty((len(sets), len(split), 2))

    def run_sweep() -> None:
        for rows in batches_by_length(split.lengths, 64):
            found[:, rows] = backend.all_logits(rows)

    def run_plain() -> None:
        for _, batch in sorted_batches(split):
            model(**batch)

    yield Time(SWEEP, OURS, cpu_seconds(run_sweep), NEEDED * SETS)
    yield Time(SWEEP, "plain forward passes", len(sets) * cpu_seconds(run_plain), SETS)
    chosen = [1 + number * (len(sets) - 1) // LOOP_SETS for number in range(LOOP_SETS)]
    places = [places_of(sets[number]) for number in chosen]
    for name, program in programs(eager, tokenizer).items():
        logits = np.empty((LOOP_SETS, len(split), 2))
        start = time.process_time()
        for rows, batch in sorted_batches(split):
            for place, disabled in enumerate(places):
                logits[place, rows] = program(disabled, batch).numpy()
        taken = time.process_time() - start
        apart = np.abs(found[chosen] - logits).max()
        if not apart <= AGREEMENT:
            sys.exit(f"{name}: logits differ from the sweep's by {apart:.2g}.")
        yield Time(SWEEP, name, taken * len(sets) / LOOP_SETS, SETS)


def time_extraction(folder: Path) -> Iterator[Time]:
    """Times of extraction, with loading and writing, and of forward passes of the same batches."""
    tokenizer = load_tokenizer(folder / "model")
    split = load_split(folder / "data", "validation", tokenizer, TASK, LONGEST)
    model = load_encoder(folder / "model")
    model.set_attn_implementation("eager")
    sample = read_sample(folder / "data", list(range(len(split))))
    output = folder / "store"

    def run_extraction() -> None:
        extract_maps(folder / "model", sample, output, max_length=LONGEST, batch_size=BATCH)

    def run_model() -> None:
        for _, batch in sorted_batches(split):
            model(**batch, output_attentions=True)

    yield Time(EXTRACTION, OURS, cpu_seconds(run_extraction), 1)
    yield Time(EXTRACTION, "plain forward passes", cpu_seconds(run_model), 1)


def time_classification(folder: Path) -> Iterator[Time]:
    """Time of classifying the maps of `time_extraction`."""
    store = AttentionStore.open(folder / "store")
    classifier = load(CLASSIFIER)
    yield Time(PATTERNS, OURS, cpu_seconds(lambda: classify(store, classifier)))


def table_of(times: list[Time], tokens: int, peak: float) -> pd.DataFrame:
    """A row per computation and program: the median over repetitions, beside this project's.

    Args:
        times: Of all repetitions.
        tokens: Tokens of all examples.
        peak: Operations per second of a thread in a large product of matrices.
    """
    rows = pd.DataFrame(times)
    programs_of = ["computation", "program"]
    median = rows.groupby(programs_of, sort=False).median().reset_index()
    ours = median[median["program"] == OURS].set_index("computation")["seconds"]
    operations = median["passes"] * 2 * PARAMETERS * tokens
    share = operations / median["seconds"] / peak
    return pd.DataFrame(
        {
            **median[programs_of],
            "CPU seconds": median["seconds"].round(2),
            "beside this project": (median["seconds"] / median["computation"].map(ours)).round(2),
            "share of peak": share.map("{:.2f}".format).where(median["passes"] > 0, ""),
        }
    )


def main() -> None:
    """Measure, and write `results/speed.csv` and `.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    peak = peaks()["float32"] / options.threads  # of a thread, as seconds are of all threads
    times: list[Time] = []
    with tempfile.TemporaryDirectory() as name, torch.inference_mode():
        folder = Path(name)
        save_encoder(folder / "model")
        save_data(folder / "data", options.examples, options.examples)
        for _ in range(options.repetitions):
            times += [*time_sweep(folder), *time_extraction(folder), *time_classification(folder)]
        store = AttentionStore.open(folder / "store")
    table = table_of(times, int(store.lengths.sum()), peak)
    maps = store.examples * store.layers * store.heads
    missing = [name for name in ("nnsight", "TransformerLens") if name not in {*table["program"]}]
    notes = (
        f"BERT-base with random weights, {options.examples} texts as long as GLUE's, "
        f"{options.threads} thread(s), {options.repetitions} repetitions, medians. The sweep "
        f"disables {SETS} sets of heads; other programs run {LOOP_SETS} of them and are projected, "
        f"on sorted batches, with the same logits (within {AGREEMENT:g}). Attention maps of this "
        f"project are also loaded and written; patterns are those of {maps:,} maps. The peak of a "
        f"thread is {peak / 1e9:.0f} GFLOP/s; operations are those that a program needs, without "
        "padding and products with maps." + "".join(f" Not installed: {one}." for one in missing)
    )
    machine = describe("torch", "transformers")
    write_results("speed", "Cost of the largest computations", table, machine, notes)


if __name__ == "__main__":
    main()
