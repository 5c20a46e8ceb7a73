"""What the three largest computations cost, as ratios within one run.

    python benchmarks/speed.py [--examples 24] [--threads 1] [--repetitions 3]

- The sweep over all heads and layers (section 4.6), beside a loop that runs the model once per set
  of disabled heads, on the same padded batches, with hooks.
- Extraction of attention maps (section 3), beside the plain forward pass that it contains.
- Classification of maps (section 4.1), in maps per second.

The encoder has BERT-base's shape and random weights; texts are as long as GLUE's. Each repetition
runs all programs in turn. The whole demonstration is timed by `time make demo`.
"""

from __future__ import annotations

import argparse
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd
import torch
from _examples import save_data, save_encoder
from _machine import describe, write_results

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
    from transformers import PreTrainedModel

    from darksecrets.core.interventions.sets import HeadSet

TASK = shipped_tasks()["SST-2"]
LONGEST, BATCH = 128, 16
LOOP_SETS = 8
"""Sets that the loop runs, of 157; its time is multiplied accordingly."""
AGREEMENT = 1e-3
"""How far the loop's logits may be from the sweep's."""


class HookedLoop:
    """A sweep as a user writes it: a forward pass per set of heads, with hooks that disable them.

    With a map of 1/L everywhere, a head gives every token the mean of its value vectors. A hook
    replaces the values of disabled heads by that mean; the map then does not matter, because its
    rows sum to 1.
    """

    def __init__(self, model: PreTrainedModel, sets: list[HeadSet]) -> None:
        self.model, self.sets = model, sets
        self.size = model.config.hidden_size // model.config.num_attention_heads

    def logits(self, number: int, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Logits, [examples, outputs], of a padded batch under one set."""
        encoder: Any = self.model.base_model
        handles = []
        for layer, heads in self.sets[number].heads.items():
            value = encoder.encoder.layer[layer - 1].attention.self.value
            hook = self._disable([head - 1 for head in sorted(heads)], batch["attention_mask"])
            handles.append(value.register_forward_hook(hook))
        logits: torch.Tensor = self.model(**batch).logits
        for handle in handles:
            handle.remove()
        return logits

    def _disable(self, disabled: list[int], mask: torch.Tensor) -> Callable[..., torch.Tensor]:
        share = (mask / mask.sum(dim=1, keepdim=True))[:, :, None, None]  # 1/L, 0 for padding

        def hook(_module: object, _inputs: object, values: torch.Tensor) -> torch.Tensor:
            by_head = values.unflatten(-1, (-1, self.size))  # [example, token, head, size], a view
            by_head[:, :, disabled] = (by_head[:, :, disabled] * share).sum(1, keepdim=True)
            return values

        return hook


def seconds(program: Callable[[], object]) -> float:
    """Wall-clock seconds of a call."""
    start = time.perf_counter()
    program()
    return time.perf_counter() - start


def time_sweep(folder: Path) -> dict[str, float]:
    """Seconds of the sweep and of the loop over the same sets; stop if they disagree."""
    tokenizer = load_tokenizer(folder / "model")
    split = load_split(folder / "data", "validation", tokenizer, TASK, LONGEST)
    model, _ = load_classifier(folder / "model", TASK, seed=1)
    eager, _ = load_classifier(folder / "model", TASK, seed=1)
    eager.set_attn_implementation("eager")
    sets = sweep_sets(shape_of(model))
    backend = choose_backend(model, split, [each.intervention("uniform") for each in sets])
    loop = HookedLoop(eager, sets)
    chosen = [1 + number * (len(sets) - 1) // LOOP_SETS for number in range(LOOP_SETS)]
    found = np.empty((len(sets), len(split), 2))
    looped = np.empty((LOOP_SETS, len(split), 2))

    def run_sweep() -> None:
        for rows in batches_by_length(split.lengths, 64):
            found[:, rows] = backend.all_logits(rows)

    def run_loop() -> None:
        for rows in batches_by_length(split.lengths, BATCH):
            batch = split.batch(rows)
            del batch["labels"]
            for place, number in enumerate(chosen):
                looped[place, rows] = loop.logits(number, batch).numpy()

    with torch.inference_mode():
        times = {"sweep": seconds(run_sweep)}
        times["loop"] = seconds(run_loop) * len(sets) / LOOP_SETS
    apart = np.abs(found[chosen] - looped).max()
    if not apart <= AGREEMENT:
        sys.exit(f"The loop's logits differ from the sweep's by {apart:.2g}.")
    return times


def time_extraction(folder: Path) -> dict[str, float]:
    """Seconds of extraction, and of the forward passes of the same batches without it."""
    tokenizer = load_tokenizer(folder / "model")
    split = load_split(folder / "data", "validation", tokenizer, TASK, LONGEST)
    model = load_encoder(folder / "model")
    model.set_attn_implementation("eager")
    sample = read_sample(folder / "data", list(range(len(split))))
    output = folder / "store"

    def run_extraction() -> None:
        extract_maps(folder / "model", sample, output, max_length=LONGEST, batch_size=BATCH)

    def run_model() -> None:
        for rows in batches_by_length(split.lengths, BATCH):
            batch = split.batch(rows)
            del batch["labels"]
            model(**batch, output_attentions=True)

    with torch.inference_mode():
        return {"extraction": seconds(run_extraction), "forward passes": seconds(run_model)}


def time_classification(folder: Path) -> dict[str, float]:
    """Maps per second of both shipped classifiers together, on the maps of `time_extraction`."""
    store = AttentionStore.open(folder / "store")
    maps = store.examples * store.layers * store.heads
    classifier = load(CLASSIFIER)
    taken = seconds(lambda: classify(store, classifier))
    return {"maps/s": maps / taken}


def main() -> None:
    """Measure, and write `results/speed.csv` and `.md`."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--examples", type=int, default=24)
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--repetitions", type=int, default=3)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    rows = []
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        save_encoder(folder / "model")
        save_data(folder / "data", options.examples, options.examples)
        for _ in range(options.repetitions):
            row = time_sweep(folder) | time_extraction(folder) | time_classification(folder)
            row["loop / sweep"] = row["loop"] / row["sweep"]
            row["extraction / forward"] = row["extraction"] / row["forward passes"]
            rows.append(row)
    table = pd.DataFrame(rows).round(2)
    notes = (
        f"{options.examples} examples, {options.threads} thread(s), a row per repetition. The loop "
        f"runs {LOOP_SETS} of 157 sets and is projected; extraction includes loading the model."
    )
    machine = describe("torch", "transformers")
    write_results("speed", "Cost of the largest computations", table, machine, notes)


if __name__ == "__main__":
    main()
