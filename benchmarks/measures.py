"""Cost of all statistics of heads compared with the extraction of the maps, for BERT-base.

    python benchmarks/measures.py [--examples 48] [--repetitions 3] [--threads 1]

A BERT-base with random weights reads sentence pairs as long as GLUE's. In each repetition, the maps
are extracted, and every statistic of sections 4.4, 4.5 and 5 is computed from them, with its
controls. The words have random tags and heads. One process does both in turn.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
import time
from pathlib import Path

import numpy as np
import pandas as pd
from _examples import LONGEST, glue_lengths
from _machine import describe, write_results
from extraction import WORDS, save_model

sys.path.insert(0, str(Path(__file__).parents[1]))

from workflow.lib.tasks import shipped_tasks

BOUND = 1.0
TASK = shipped_tasks()["MRPC"]
TAGS = ("NN", "NNS", "VBD", "PRP", "DT", "IN", ",")
LABELS = ("nsubj", "dobj", "punct", "det", "prep")


def prepare_pairs(folder: Path, lengths: list[int], rng: np.random.Generator) -> None:
    """Write sentence pairs, the sample of all of them, and a random annotation of their words.

    Args:
        folder: Folder to write to.
        lengths: Tokens of each pair, special tokens included.
        rng: Source of randomness.
    """
    from datasets import Dataset, DatasetDict

    sentences = []
    for length in np.maximum(lengths, 9):
        cut = (length - 3) // 2
        words = rng.choice(WORDS[:200], size=length - 3)  # few words, so that some are in both
        sentences.append((words[:cut].tolist(), words[cut:].tolist()))
    columns = {
        "idx": range(len(lengths)),
        "sentence1": [" ".join(first) for first, _ in sentences],
        "sentence2": [" ".join(second) for _, second in sentences],
        "label": [0] * len(lengths),
    }
    split = Dataset.from_dict(columns)
    DatasetDict(train=split, validation=split).save_to_disk(folder / "pairs")
    pd.DataFrame({"idx": split["idx"]}).to_csv(folder / "pairs.csv", index=False)
    with (folder / "pairs.jsonl").open("w", encoding="utf-8") as stream:
        for idx, pair in enumerate(sentences):
            example = {"idx": idx}
            for name, words in zip(TASK.columns, pair, strict=True):
                example[name] = {"text": " ".join(words), "tokens": annotate(words, rng)}
            stream.write(json.dumps(example) + "\n")


def annotate(words: list[str], rng: np.random.Generator) -> list[dict[str, object]]:
    """Give words random tags, labels, heads and antecedents."""
    ends = np.cumsum([len(word) + 1 for word in words])
    return [
        {
            "text": word,
            "start": int(end - len(word) - 1),
            "end": int(end - 1),
            "tag": str(rng.choice(TAGS)),
            "dep": str(rng.choice(LABELS)),
            "head": int(rng.integers(len(words))),
            "antecedent": int(rng.integers(len(words))) if rng.random() < 0.1 else None,
        }
        for word, end in zip(words, ends, strict=True)
    ]


def time_both(folder: Path, batch_size: int, repetitions: int) -> pd.DataFrame:
    """Time extraction and statistics, a row per repetition, in wall-clock and CPU time."""
    from darksecrets.attention.extraction import extract, read_sample
    from darksecrets.attention.store import AttentionStore
    from darksecrets.features.measures import measure
    from darksecrets.features.tokens import describe as describe_tokens

    rows = []
    for repetition in range(repetitions + 1):  # the first one warms up
        marks = [(time.perf_counter(), time.process_time())]
        extract(
            folder / "model",
            read_sample(folder / "pairs", pd.read_csv(folder / "pairs.csv")["idx"].tolist()),
            folder / "store",
            max_length=LONGEST,
            batch_size=batch_size,
        )
        marks.append((time.perf_counter(), time.process_time()))
        store = AttentionStore.open(folder / "store")
        measure(store, describe_tokens(store, folder / "pairs.jsonl"), 0)
        marks.append((time.perf_counter(), time.process_time()))
        extraction, statistics = np.diff(marks, axis=0)
        if repetition:
            rows.append([*extraction, *statistics])
    columns = ["extraction", "extraction, CPU", "statistics", "statistics, CPU"]
    return pd.DataFrame(rows, columns=columns)


def main() -> None:
    """Read the command line, run everything, and write the results."""
    import torch

    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--examples", type=int, default=48)
    parser.add_argument("--batch-size", type=int, default=16)
    parser.add_argument("--repetitions", type=int, default=3)
    parser.add_argument("--threads", type=int, default=1)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_model(folder, TASK)
        prepare_pairs(folder, glue_lengths(options.examples), np.random.default_rng(0))
        times = time_both(folder, options.batch_size, options.repetitions)
    ratios = times["statistics"] / times["extraction"]
    cpu = times["statistics, CPU"] / times["extraction, CPU"]
    rows = [
        ("extraction", times["extraction"].median(), "s"),
        ("all statistics with their controls", times["statistics"].median(), "s"),
        ("statistics / extraction", ratios.median(), f"at most {BOUND:g}"),
        ("statistics / extraction: smallest", ratios.min(), ""),
        ("statistics / extraction: largest", ratios.max(), ""),
        ("statistics / extraction: CPU time", cpu.median(), ""),
    ]
    notes = (
        f"BERT-base with random weights (12 layers, 12 heads), {options.examples} sentence pairs "
        f"as long as GLUE's, batches of {options.batch_size}, {options.threads} thread(s). Medians "
        f"of {options.repetitions} repetitions."
    )
    table = pd.DataFrame(rows, columns=["what", "value", "unit"]).round({"value": 3})
    machine = describe("torch", "transformers", "numpy")
    write_results("measures", "Statistics of attention heads", table, machine, notes)


if __name__ == "__main__":
    main()
