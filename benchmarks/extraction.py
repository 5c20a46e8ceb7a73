"""Cost of extraction: time compared with a plain forward pass, and memory as examples grow.

    python benchmarks/extraction.py [--examples 48] [--repetitions 3] [--threads 1]

A BERT-base with random weights reads texts as long as GLUE's. Every padded batch goes, in changing
order, through the model alone with eager attention, through extraction (the pass, checks, cropping,
writing), and, for information, through the model alone with fused attention. Then N and 4 N
examples are extracted in separate processes, to measure their memory.
"""

from __future__ import annotations

import argparse
import os
import resource
import subprocess
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _examples import LONGEST, glue_lengths
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.data.tasks import Task
from workflow.lib.tasks import shipped_tasks

BOUND = 1.5
TASK = shipped_tasks()["SST-2"]
PASSES = EAGER, EXTRACTION, FUSED = ("plain, eager", "extraction", "plain, fused")
WORDS = [f"word{i}" for i in range(1000)]


def save_model(folder: Path, task: Task) -> None:
    """Save a random BERT-base whose vocabulary is `WORDS`."""
    from transformers import BertConfig, BertForSequenceClassification, BertTokenizer

    vocabulary = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", *WORDS]
    tokenizer = BertTokenizer(
        vocab={word: i for i, word in enumerate(vocabulary)}, model_max_length=512
    )
    tokenizer.save_pretrained(folder / "model")
    labels = dict(enumerate(task.labels))
    BertForSequenceClassification(BertConfig(id2label=labels)).save_pretrained(folder / "model")


def prepare(folder: Path, examples: int, batch_size: int) -> None:
    """Save a random BERT-base, and N and 4 N single sentences.

    Each set has a batch of the greatest length, so that the largest batch is the same.
    """
    from datasets import Dataset, DatasetDict

    save_model(folder, TASK)
    rng = np.random.default_rng(0)
    for times in (1, 4):
        lengths = glue_lengths(examples * times - batch_size) + [LONGEST] * batch_size
        texts = [" ".join(rng.choice(WORDS, size=length - 2)) for length in lengths]
        columns = {"idx": range(len(texts)), "sentence1": texts, "label": [0] * len(texts)}
        split = Dataset.from_dict(columns)
        DatasetDict(train=split, validation=split).save_to_disk(folder / f"data{times}")
        pd.DataFrame({"idx": split["idx"]}).to_csv(folder / f"sample{times}.csv", index=False)


def extract(folder: Path, times: int, batch_size: int) -> None:
    """Extract N or 4 N examples, and print the most memory used, in MiB, and the seconds."""
    from darksecrets.attention.extraction import extract, read_sample

    start = time.perf_counter()
    extract(
        folder / "model",
        read_sample(
            folder / f"data{times}", pd.read_csv(folder / f"sample{times}.csv")["idx"].tolist()
        ),
        folder / f"store{times}",
        max_length=LONGEST,
        batch_size=batch_size,
    )
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024
    print(peak, time.perf_counter() - start)


def time_passes(folder: Path, batch_size: int, repetitions: int) -> pd.DataFrame:
    """Time plain forward passes and extraction, a row per repetition, in seconds over all batches.

    Columns are named after the `PASSES` (wall-clock time), and again with "CPU" for CPU time, which
    other programs on the machine disturb less.
    """
    import torch

    from darksecrets.attention import extraction
    from darksecrets.attention.store import AttentionStore, write_store
    from darksecrets.models.devices import place
    from darksecrets.models.loading import load_encoder

    store = AttentionStore.open(folder / "store1")
    rng = np.random.default_rng(0)
    ids = [rng.integers(5, 1000, length).tolist() for length in store.lengths]
    masks = [[1] * length for length in store.lengths]
    model = place(load_encoder(folder / "model"))
    inputs = {"input_ids": ids, "attention_mask": masks}
    batches = [
        (batch, extraction.pad(inputs, batch, 0))
        for batch in extraction.batches_of(store.examples, batch_size)
    ]

    rows = []
    for repetition in range(repetitions + 1):  # the first one warms up
        row = dict.fromkeys([*PASSES, *(f"{kind}, CPU" for kind in PASSES)], 0.0)
        target = folder / "timed"
        with write_store(target, store.table, store.layers, store.heads) as writer:
            for number, (examples, batch) in enumerate(batches):
                shift = (repetition + number) % len(PASSES)
                for kind in PASSES[shift:] + PASSES[:shift]:
                    model.set_attn_implementation("sdpa" if kind == FUSED else "eager")
                    start, cpu = time.perf_counter(), time.process_time()
                    if kind == EXTRACTION:
                        batch_rows = slice(examples.start, examples.stop)
                        (maps,) = extraction.maps_of(model, inputs, [examples], 0)
                        lengths, idx = store.lengths[batch_rows], store.idx[batch_rows]
                        extraction.write_maps(maps, lengths, idx, writer)
                    else:
                        with torch.inference_mode():
                            model(**batch)
                    row[kind] += time.perf_counter() - start
                    row[f"{kind}, CPU"] += time.process_time() - cpu
        if repetition:
            rows.append(row)
    return pd.DataFrame(rows)


def measure(options: argparse.Namespace) -> None:
    """Run everything and write the results."""
    import torch

    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        prepare(folder, options.examples, options.batch_size)
        peaks = {}
        for times in (1, 4):
            command = [sys.executable, __file__, "--child", name, str(times)]
            command += ["--batch-size", str(options.batch_size)]
            threads = {"OMP_NUM_THREADS": str(options.threads)}
            done = subprocess.run(
                command, env=os.environ | threads, stdout=subprocess.PIPE, text=True, check=True
            )
            peaks[times], seconds = map(float, done.stdout.split())
            print(f"{times} N: {peaks[times]:.0f} MiB, {seconds:.0f} s", file=sys.stderr)
        passes = time_passes(folder, options.batch_size, options.repetitions)
        written = (folder / "store4" / "maps.npy").stat().st_size / 2**20
    ratios = passes[EXTRACTION] / passes[EAGER]
    cpu = passes[f"{EXTRACTION}, CPU"] / passes[f"{EAGER}, CPU"]
    fused = passes[EXTRACTION] / passes[FUSED]
    rows = [
        ("plain forward pass, eager attention", passes[EAGER].median(), "s"),
        ("extraction of the same batches", passes[EXTRACTION].median(), "s"),
        ("plain forward pass, fused attention", passes[FUSED].median(), "s"),
        ("extraction / plain, eager", ratios.median(), f"at most {BOUND}"),
        ("extraction / plain, eager: smallest", ratios.min(), ""),
        ("extraction / plain, eager: largest", ratios.max(), ""),
        ("extraction / plain, eager: CPU time", cpu.median(), ""),
        ("extraction / plain, fused", fused.median(), "for information"),
        (f"peak memory, {options.examples} examples", peaks[1], "MiB"),
        (f"peak memory, {4 * options.examples} examples", peaks[4], "MiB"),
        (f"maps of {4 * options.examples} examples", written, "MiB"),
    ]
    notes = (
        f"BERT-base with random weights, {options.examples} texts as long as GLUE's (of which "
        f"{options.batch_size} of {LONGEST} tokens), batches of {options.batch_size}, "
        f"{options.threads} thread(s). Medians of {options.repetitions} repetitions."
    )
    table = pd.DataFrame(rows, columns=["what", "value", "unit"]).round({"value": 2})
    machine = describe("torch", "transformers", "numpy")
    write_results("extraction", "Extraction of attention maps", table, machine, notes)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=48, help="N")
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--child", nargs=2, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        extract(Path(options.child[0]), int(options.child[1]), options.batch_size)
    else:
        measure(options)


if __name__ == "__main__":
    main()
