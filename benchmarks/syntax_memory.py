"""Memory of the comparison with a treebank, by the number of sentences.

    python benchmarks/syntax_memory.py [250 1000 4000]

The tiny BERT that ships reads sentences of the built-in grammar, and the tables of syntactic heads,
of trees and of subjects are made, as the rule `measure_syntax` does for each model. Every number of
sentences has a process of its own. What counts is by how much its memory grows after the libraries,
the model and one batch were in it.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Sequence
from pathlib import Path

import pandas as pd
import psutil
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

SIZES = (250, 1000, 4000)


def measure(count: int) -> dict[str, float]:
    """What a process needs for so many sentences, in MiB and CPU seconds."""
    from darksecrets.models.reading import Reading
    from darksecrets.run.files import RESOURCES
    from darksecrets.syntax import measuring, treebank
    from darksecrets.syntax.measuring import Measured, tables

    def run(sentences: Sequence[treebank.Sentence]) -> Measured:
        found = measuring.measure(Reading(RESOURCES / "tiny-bert", 64, 32), sentences)
        tables({"random/seed-1": found}, "random/seed-1", 1)
        return found

    run(treebank.builtin(128, 2))
    process = psutil.Process()
    before = process.memory_info().rss
    sentences = treebank.builtin(count, 1)
    own = process.memory_info().rss - before
    start = time.process_time()
    found = run(sentences)
    seconds = time.process_time() - start
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024
    words = sum(map(len, sentences))
    heads = found.guesses[0].shape[1] * found.guesses[0].shape[2]
    waiting = sum(array.nbytes for spool in (found.guesses, found.trees) for array in spool)
    return {
        "sentences": count,
        "words": words,
        "heads": heads,
        "memory it grows by, MiB": (peak - before) / 2**20,
        "sentences and trees alone, MiB": own / 2**20,
        "of heads, on disk, MiB": waiting / 2**20,
        "CPU s": seconds,
    }


def main() -> None:
    """Measure every number of sentences and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("sizes", nargs="*", type=int, default=SIZES)
    rows = []
    context = multiprocessing.get_context("spawn")
    for count in parser.parse_args().sizes:
        with context.Pool(1) as pool:
            rows.append(pool.apply(measure, (count,)))
    notes = (
        "The tiny BERT (6 layers) reads sentences of the built-in grammar; then the tables of "
        "`measure_syntax` are made. What heads do with every sentence waits in a temporary file, "
        "and is added up in blocks of 64 sentences. Memory is what the process grows by after the "
        "libraries, the model and a first run on 128 sentences were in it. It grows with the "
        "sentences themselves: their words, trees and tokens, and what verbs attend to, which "
        "does not depend on the number of heads. The test `tests/unit/syntax/test_memory.py` holds "
        "this bound.\n\n"
        "Not measured here, and limited by the configuration instead: probes are fitted to all "
        "word maps at once, in each of 50 steps, so that `treebank.probed` bounds their memory; "
        "coreference keeps 24 bytes per head and anaphor (`coreference.texts`), norms 480 and "
        "types 56 per head and example (`samples.size`), because bootstraps and random signs "
        "draw whole examples again and again."
    )
    table = pd.DataFrame(rows).round(1)
    write_results(
        "syntax_memory",
        "Memory of the comparison with a treebank",
        table,
        describe("torch", "numpy"),
        notes,
    )


if __name__ == "__main__":
    main()
