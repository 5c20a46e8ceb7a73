"""Lengths of what tokens add to a layer's output: from products, and as the authors compute them.

    python benchmarks/norms.py [--repetitions 5]

One layer of BERT-base's size with random vectors reads inputs of several lengths. *Explicit* is the
authors' way: all vectors α f(x), [head, query, key, hidden], are built, and their lengths and those
of their sums over heads are taken. *Products* is `darksecrets.attention.contributions`. Each runs
in a process of its own, for its memory; times are CPU times of one thread.
"""

from __future__ import annotations

import argparse
import multiprocessing
import resource
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

HEADS, SIZE = 12, 64
LENGTHS = (32, 64, 128)


def explicit(maps: Any, values: Any, weight: Any) -> tuple[Any, Any]:  # noqa: ANN401 - tensors
    """[head, query, key] lengths of every vector, and [query, key] of their sums over heads."""
    from darksecrets.attention.contributions import transformed

    vectors = transformed(values, weight)[0].transpose(0, 1)  # [head, key, hidden]
    added = maps[0][..., None] * vectors[:, None]  # [head, query, key, hidden]
    return added.norm(dim=-1), added.sum(dim=0).norm(dim=-1)


def products(maps: Any, values: Any, weight: Any) -> tuple[Any, Any]:  # noqa: ANN401 - tensors
    """The same from the lengths and products of the vectors of each token."""
    from darksecrets.attention import contributions

    vectors = contributions.transformed(values, weight)
    alone = maps * contributions.lengths(vectors)[:, :, None]
    together = contributions.lengths_of_sums(maps, contributions.products(vectors))
    return alone[0], together[0]


WAYS: dict[str, Callable[..., tuple[Any, Any]]] = {"explicit": explicit, "products": products}


def measure(way: str, length: int, repetitions: int) -> dict[str, float]:
    """Median CPU time, memory beyond the inputs, and the sum of all lengths, to compare."""
    import torch

    torch.set_num_threads(1)
    generator = torch.Generator().manual_seed(0)
    maps = torch.softmax(3 * torch.randn(1, HEADS, length, length, generator=generator), dim=-1)
    values = torch.randn(1, HEADS, length, SIZE, generator=generator)
    weight = torch.randn(HEADS, SIZE, HEADS * SIZE, generator=generator)
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    times = []
    with torch.inference_mode():
        for _ in range(repetitions):
            start = time.process_time()
            alone, together = WAYS[way](maps, values, weight)
            times.append(time.process_time() - start)
    memory = (resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before) / 1024
    sums = alone.double().sum(), together.double().sum()
    return {"ms": 1000 * float(np.median(times)), "MiB": memory, "sums": sum(map(float, sums))}


def main() -> None:
    """Measure both ways and write the results."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--repetitions", type=int, default=5)
    repetitions = parser.parse_args().repetitions
    rows = []
    context = multiprocessing.get_context("spawn")
    for length in LENGTHS:
        found = {}
        for way in WAYS:
            with context.Pool(1) as pool:
                found[way] = pool.apply(measure, (way, length, repetitions))
        first, second = (found[way] for way in WAYS)
        assert np.isclose(first["sums"], second["sums"], rtol=1e-4), "both give the same lengths"
        rows.append(
            {
                "tokens": length,
                "explicit ms": first["ms"],
                "products ms": second["ms"],
                "times as fast": first["ms"] / second["ms"],
                "explicit MiB": first["MiB"],
                "products MiB": second["MiB"],
                "vectors [head, query, key, hidden] MiB": HEADS**2 * SIZE * length**2 * 4 / 2**20,
            }
        )
    notes = (
        f"One layer of BERT-base's size ({HEADS} heads, hidden size {HEADS * SIZE}), one input: "
        "the lengths ‖α f(x)‖ of all heads and pairs of tokens, and those of the sums over heads. "
        "*Explicit* builds all vectors, as Kobayashi et al. (2020) do; *products* does not. CPU "
        f"time of one thread, median of {repetitions} repetitions; memory is what the process "
        "grows by."
    )
    write_results(
        "norms",
        "Norms of what tokens add",
        pd.DataFrame(rows).round(2),
        describe("torch", "numpy"),
        notes,
    )


if __name__ == "__main__":
    main()
