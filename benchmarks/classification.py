"""Cost of classifying all maps: in batches, and in a loop over single maps.

    python benchmarks/classification.py [--cells 2000000] [--repetitions 3] [--threads 1]

Maps like BERT's, of four lengths, are classified in batches, as in a run, and one by one, in turn.
A store of examples as long as GLUE's gives the time for the paper's run: 1000 examples, 144 heads,
14 models.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from _examples import glue_lengths, peaked_maps
from _machine import describe, gpu, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.attention.store import AttentionStore, write_store
from darksecrets.patterns import trained
from darksecrets.patterns.classification import classify
from darksecrets.patterns.classifier import Classifier, load
from darksecrets.patterns.seen import Seen

LENGTHS = (16, 32, 64, 128)
LAYERS, HEADS = 12, 12
PAPER = 1000 * LAYERS * HEADS * 14
"""Maps of the paper's run."""
SINGLE = 100  # maps of a loop over single ones, which is slow


def make_store(folder: Path, lengths: list[int]) -> AttentionStore:
    """Write maps of examples of some lengths."""
    rng = np.random.default_rng(0)
    lengths = sorted(lengths, reverse=True)
    empty = ("segments", "special", "starts", "ends")
    rows = [
        {"idx": number, "tokens": ["t"] * length} | dict.fromkeys(empty, [0] * length)
        for number, length in enumerate(lengths)
    ]
    with write_store(folder, pd.DataFrame(rows), LAYERS, HEADS) as writer:
        for length in lengths:
            writer.append(peaked_maps(length, LAYERS, HEADS, rng))
    return AttentionStore.open(folder)


def batched(store: AttentionStore, classifier: Classifier) -> int:
    """Classify as a run does; return the number of maps."""
    return len(classify(store, classifier))


def singly(store: AttentionStore, classifier: Classifier) -> int:
    """Classify the first maps one by one; return their number."""
    maps = store.maps(0).reshape(-1, store.lengths[0], store.lengths[0])[:SINGLE]
    marks = torch.from_numpy(store.special(0))[None], torch.from_numpy(store.segments(0))[None]
    with torch.inference_mode():
        for one in maps:
            seen = Seen.of(torch.from_numpy(one[None].copy()), *marks)
            classifier(seen).argmax(dim=1).item()
    return len(maps)


def rates(
    store: AttentionStore,
    classifier: Classifier,
    methods: list[Callable[..., int]],
    repetitions: int,
) -> list[float]:
    """Maps per second of each method: medians of interleaved repetitions, after a warm-up."""
    seconds = np.empty((repetitions + 1, len(methods)))
    for repetition in range(repetitions + 1):
        for number, method in enumerate(methods):
            start = time.perf_counter()
            maps = method(store, classifier)
            seconds[repetition, number] = (time.perf_counter() - start) / maps
    return [float(rate) for rate in 1 / np.median(seconds[1:], axis=0)]


def measure(options: argparse.Namespace) -> None:
    """Run everything and write the results."""
    torch.set_num_threads(options.threads)
    classifier = load(trained.CLASSIFIER)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        for length in LENGTHS:
            examples = max(1, options.cells // (LAYERS * HEADS * length**2))
            store = make_store(Path(name) / str(length), [length] * examples)
            together, alone = rates(store, classifier, [batched, singly], options.repetitions)
            rows.append((f"L = {length}", round(together), round(alone), together / alone))
        store = make_store(Path(name) / "glue", glue_lengths(options.examples))
        (rate,) = rates(store, classifier, [batched], options.repetitions)
    columns = ["maps", "batched, maps/s", "one by one, maps/s", "ratio"]
    table = pd.DataFrame(rows, columns=columns).round({"ratio": 1})
    device = gpu()[0] if gpu() else "no GPU"
    notes = (
        f"Reading, scaling, features, regression and table; {options.threads} "
        f"thread(s), {device}. Medians of {options.repetitions} interleaved repetitions.\n\n"
        "Most of the time goes to passes over the cells of a map: finding its greatest weights, "
        "and sums over columns, diagonals and sentences. A batch saves the calls' fixed cost.\n\n"
        f"The paper's run, 1000 examples × 144 heads × 14 models = {PAPER / 1e6:.1f} million maps, "
        f"would take **{PAPER / rate / 60:.0f} minutes** at the {rate:.0f} maps/s measured for "
        f"lengths as in GLUE ({store.examples} examples)."
    )
    machine = describe("torch", "numpy")
    write_results("classification", "Classification of attention maps", table, machine, notes)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--cells", type=int, default=2_000_000, help="of the maps of each length")
    parser.add_argument("--examples", type=int, default=72, help="of lengths as in GLUE")
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    measure(parser.parse_args())


if __name__ == "__main__":
    main()
