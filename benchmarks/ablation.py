"""What a sweep over heads and layers costs: four ways to the same predictions, and how cost grows.

    python benchmarks/ablation.py --model <fine-tuned folder> --data <data set folder> [--task RTE]
        [--examples N] [--base-examples 16] [--threads 1] [--pages ablation]

The four ways are a loop that runs the model once per set of disabled heads on one example at a
time, padded to 200 tokens (as the paper's notebook feeds the model); the same loop on batches
sorted by length; the shared path in float32; and the shared path with screening in bfloat16. They
run in one process and take turns block by block. The loops are timed on some sets and examples of
every block, stated in the result, and projected to all. The rate of large matrix products is
measured before, between and after the blocks, and the best counts, because other programs slow down
one moment and not the next. On a GPU the program is the same.
"""

from __future__ import annotations

import argparse
import functools
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from _examples import glue_lengths
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from transformers import BertConfig, BertForSequenceClassification, PreTrainedModel

from darksecrets.ablation.disable import disable, shape_of
from darksecrets.ablation.screening import Bounds, ties
from darksecrets.ablation.sets import sweep_sets
from darksecrets.ablation.shared import first_layers
from darksecrets.ablation.sweep import (
    BLOCK,
    OneByOne,
    Settings,
    Sharing,
    block_logits,
    decide_ties,
    recompute_unsure,
)
from darksecrets.data.batches import EncodedSplit, by_length, load_split
from darksecrets.data.tasks import TASKS
from darksecrets.models import devices
from darksecrets.models.loading import load_classifier, load_tokenizer

NOTEBOOK_LENGTH = 200
WAYS = NOTEBOOK, BATCHED, SHARED, SCREENED = (
    "loop, one example padded to 200",
    "loop, sorted and batched",
    "shared path, float32",
    "shared path with screening",
)
GOALS = {
    (SHARED, BATCHED): 2.5,
    (SHARED, NOTEBOOK): 9,
    (SCREENED, BATCHED): 8,
    (SCREENED, NOTEBOOK): 30,
}
#: Sets that the batched loop runs on every block; sets and examples of the notebook's.
LOOP_SETS, NOTEBOOK_SETS, NOTEBOOK_EXAMPLES = 4, 1, 6
#: Rows and columns of the products that the machine's peak is measured with, inner size between:
#: large ones, and those of a layer of BERT-base, whose factors may stay in the cache.
PEAK_SHAPES = ((2048, 2048, 2048), (1024, 768, 3072))
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class Peak:
    """The machine's best rate of matrix products seen so far, in operations per second.

    Seconds are the processor's, as where work is divided by the rate: a processor that other
    programs hold, or an hour they take, does not count. On a GPU they are the clock's.
    """

    def __init__(self, device: torch.device) -> None:
        self.device, self.rates = device, dict.fromkeys(DTYPES, 0.0)

    def look(self, times: int = 1) -> None:
        """Multiply, and keep the best rate."""
        for name, dtype in DTYPES.items():
            for rows, inner, columns in PEAK_SHAPES:
                one = torch.randn(rows, inner, dtype=dtype, device=self.device)
                two = torch.randn(columns, inner, dtype=dtype, device=self.device)
                ways = [functools.partial(torch.nn.functional.linear, one, two)]
                if self.device.type == "cpu":
                    product = torch.ops.mkldnn._linear_pointwise
                    ways.append(functools.partial(product, one, two, None, "none", [], ""))
                for way in ways * times:
                    seconds = self._seconds(way)
                    self.rates[name] = max(self.rates[name], 2 * rows * inner * columns / seconds)

    def _seconds(self, way: Callable[[], torch.Tensor]) -> float:
        clock = time.process_time if self.device.type == "cpu" else time.perf_counter
        with torch.inference_mode():
            _synchronise()
            start = clock()
            way()
            _synchronise()
            return clock() - start


class Race:
    """The four ways on one model and split, block after block.

    Attributes:
        seconds: By way, over all blocks, projected where the way ran on a part; with the decision
            of ties, where the way decides them.
        processor: Likewise the processor's time, which other programs disturb less.
        tie_seconds: What of ``seconds`` the decision of ties took.
        logits: [sets, examples, outputs], by way; NaN where a loop did not run.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        split: EncodedSplit,
        ways: tuple[str, ...] = WAYS,
        peak: Peak | None = None,
    ) -> None:
        self.model, self.split, self.ways, self.peak = model, split, ways, peak
        self.sets = sweep_sets(shape_of(model))
        self.loop = OneByOne(model, split, self.sets, Settings())
        self.bounds = self._new_bounds()
        self.seconds, self.processor = dict.fromkeys(ways, 0.0), dict.fromkeys(ways, 0.0)
        self.tie_seconds = dict.fromkeys(ways, 0.0)
        self.logits = {way: self.loop.empty(len(split)) for way in ways}
        self.exact = self.loop.empty(len(split))

    @functools.cached_property
    def shared(self) -> Sharing:
        """The shared path, with its copies of weights: only for ways that take it."""
        return Sharing(self.model, self.split, self.sets, Settings())

    def _new_bounds(self) -> Bounds:
        first = first_layers(self.loop.selected).numpy()
        return Bounds(first, self.model.config.num_hidden_layers, len(self.split))

    def run(self, *, decide: bool = True) -> None:
        """Let the ways take turns; then decide ties, if so wanted."""
        blocks = list(by_length(self.split.lengths, BLOCK[self.model.device.type]))
        steps = {
            NOTEBOOK: self._notebook,
            BATCHED: self._batched,
            SHARED: self._shared,
            SCREENED: self._screened,
        }
        with torch.inference_mode():
            for way in self.ways:  # warm up, without leaving a trace
                self._timed(steps[way], 0, blocks[-1][:2])
            self.bounds = self._new_bounds()
            for number, rows in enumerate(blocks):
                shift = number % len(self.ways)
                for way in self.ways[shift:] + self.ways[:shift]:
                    seconds, processor = self._timed(steps[way], number, rows)
                    self._add(way, seconds, processor)
                if self.peak:
                    self.peak.look()
                print(f"block {number + 1} of {len(blocks)}", file=sys.stderr, flush=True)
            if SCREENED in self.ways:
                self._finish(blocks)
            for way in (SHARED, SCREENED) if decide else ():
                if way in self.ways:
                    self._decide(way)

    def _timed(
        self, step: Callable[..., float], number: int, rows: list[int]
    ) -> tuple[float, float]:
        """Seconds of a step, times the factor that it returns."""
        _synchronise()
        start, processor = time.perf_counter(), time.process_time()
        factor = step(number, rows)
        _synchronise()
        return factor * (time.perf_counter() - start), factor * (time.process_time() - processor)

    def _chosen(self, number: int, count: int) -> list[int]:
        """Other sets in every block, never the intact model."""
        return [1 + (number * count + i * 7) % (len(self.sets) - 1) for i in range(count)]

    def _notebook(self, number: int, rows: list[int]) -> float:
        chosen, some = (
            self._chosen(number, NOTEBOOK_SETS),
            rows[:: -(-len(rows) // NOTEBOOK_EXAMPLES)],
        )
        for set_number in chosen:
            heads = self.sets[set_number].heads
            for row in some:
                batch = {
                    name: torch.nn.functional.pad(t, (0, NOTEBOOK_LENGTH - t.shape[1])).to(
                        self.model.device
                    )
                    for name, t in self.split.batch([row]).items()
                    if name != "labels"
                }
                with disable(self.model, heads):
                    self.model(**batch)
        return len(self.sets) / len(chosen) * len(rows) / len(some)

    def _batched(self, number: int, rows: list[int]) -> float:
        chosen = self._chosen(number, LOOP_SETS)
        for set_number in chosen:
            self.logits[BATCHED][set_number, rows] = self.loop.plain(set_number, rows)
        return len(self.sets) / len(chosen)

    def _shared(self, _: int, rows: list[int]) -> float:
        self.logits[SHARED][:, rows] = block_logits(self.shared, rows, None)["exact"]
        return 1.0

    def _screened(self, _: int, rows: list[int]) -> float:
        found = block_logits(self.shared, rows, self.bounds)
        self.logits[SCREENED][:, rows], self.exact[:, rows] = found["screened"], found["exact"]
        return 1.0

    def _finish(self, blocks: list[list[int]]) -> None:
        """Recompute what the bounds of all blocks unsettle."""
        screened = self.logits[SCREENED]

        def step(*_: Any) -> float:  # noqa: ANN401
            recompute_unsure(self.shared, blocks, self.bounds, screened, self.exact)
            return 1.0

        self._add(SCREENED, *self._timed(step, 0, []))
        self.recomputed = int((~np.isnan(self.exact[..., 0])).sum())
        self.logits[SCREENED] = np.where(np.isnan(self.exact), screened, self.exact)

    def _decide(self, way: str) -> None:
        """Decide ties, as the sweep does."""
        exact = self.exact if way == SCREENED else self.logits[way].copy()

        def step(*_: Any) -> float:  # noqa: ANN401
            decide_ties(self.shared, exact, self.logits[way])
            return 1.0

        seconds, processor = self._timed(step, 0, [])
        self._add(way, seconds, processor)
        self.tie_seconds[way] = seconds

    def _add(self, way: str, seconds: float, processor: float) -> None:
        self.seconds[way] += seconds
        self.processor[way] += processor

    def changed(self, way: str, reference: str) -> str:
        """How many predictions differ, of how many compared.

        A loop decides ties in the last digit by how it makes batches; beside it they are left out.
        """
        one, two = self.logits[way], self.logits[reference]
        compared = ~np.isnan(two[..., 0])
        if reference == BATCHED:
            compared &= ~ties(two)
        different = (one.argmax(-1) != two.argmax(-1)) & compared
        return f"{int(different.sum())} of {int(compared.sum())}"


def _synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def products(race: Race) -> tuple[float, float]:
    """Operations of the matrix products: of the batched loop, and of the shared path.

    The shared path's last layer at [CLS], a few per cent, is left out.
    """
    config, lengths = race.model.config, race.split.lengths
    size, wide, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    feed_forward = 2 * 2 * size * wide
    first = first_layers(race.loop.selected).numpy()

    def layer(length: int) -> float:
        return feed_forward + 2 * 4 * size**2 + 2 * 2 * length * size

    loop, shared = 0.0, 0.0
    for rows in by_length(lengths, BLOCK[race.model.device.type]):
        longest = int(lengths[rows].max())
        loop += len(race.sets) * layers * len(rows) * longest * layer(longest)
        for length in lengths[rows].tolist():
            above = np.maximum(layers - 2 - first, 0)
            begun = first < layers - 1
            shared += length * (layers * layer(length) + (above * begun).sum() * layer(length))
            shared += length * begun.sum() * feed_forward
    return loop, shared


def compare(name: str, race: Race) -> list[dict[str, Any]]:
    """A row per way; the shares of the peak are added when all has been measured."""
    loop, shared = products(race)
    work = {BATCHED: loop, SHARED: shared, SCREENED: shared}
    on_cpu = race.model.device.type == "cpu"
    rows = []
    for way in race.ways:
        seconds, screens = race.seconds[way], way == SCREENED
        busy = race.processor[way] if on_cpu else seconds
        rows.append(
            {
                "model": name,
                "way": way,
                "seconds": seconds,
                "processor seconds": race.processor[way],
                "of these ties, s": race.tie_seconds[way],
                "times as fast as the batched loop": race.seconds[BATCHED] / seconds,
                "as the notebook's": race.seconds[NOTEBOOK] / seconds,
                "operations a second": work[way] / busy if way in work else np.nan,
                "changed from the batched loop": race.changed(way, BATCHED)
                if way in (SHARED, SCREENED)
                else "",
                "changed from the shared path": race.changed(way, SHARED) if screens else "",
                "sampled": int(race.bounds.sample.sum()) if screens else "",
                "recomputed": race.recomputed if screens else "",
            }
        )
    return rows


def with_shares(rows: list[dict[str, Any]], peak: Peak) -> pd.DataFrame:
    """Rates of operations as shares of the peak of their arithmetic."""
    table = pd.DataFrame(rows)
    rates = [peak.rates["bfloat16" if way == SCREENED else "float32"] for way in table["way"]]
    place = list(table.columns).index("operations a second")
    table.insert(place, "share of peak", table.pop("operations a second") / rates)
    return table


def reached(name: str, race: Race) -> str:
    """Ratios beside their goals, of one model."""
    ratios = (
        f"{way} {race.seconds[loop] / race.seconds[way]:.1f} times the {loop} (goal {goal})"
        for (way, loop), goal in GOALS.items()
    )
    return f"{name}: {'; '.join(ratios)}."


def random_bert(layers: int, heads: int, size: int) -> PreTrainedModel:
    """A BERT with random weights and a small vocabulary."""
    torch.manual_seed(0)
    config = BertConfig(
        vocab_size=1000,
        hidden_size=size,
        num_hidden_layers=layers,
        num_attention_heads=heads,
        intermediate_size=4 * size,
    )
    device: Any = devices.best()
    model: PreTrainedModel = BertForSequenceClassification(config).eval().to(device)
    return model


def random_split(lengths: list[int]) -> EncodedSplit:
    """Random tokens."""
    rng = np.random.default_rng(0)
    starts = np.cumsum([0, *lengths])
    ids = rng.integers(5, 1000, starts[-1]).astype(np.int32)
    return EncodedSplit(
        idx=np.arange(len(lengths)),
        labels=rng.integers(0, 2, len(lengths)),
        starts=starts,
        inputs={"input_ids": ids, "token_type_ids": np.zeros_like(ids)},
        padding={"input_ids": 0, "token_type_ids": 0},
    )


def growth(examples: int) -> pd.DataFrame:
    """Time as one thing grows: layers, heads, tokens, examples. Without the decision of ties."""
    usual = {"layers": 6, "heads": 12, "tokens": 48, "examples": examples}
    rows = []
    for what, values in (
        ("layers", (3, 6, 12)),
        ("heads", (6, 12, 24)),
        ("tokens", (24, 48, 96)),
        ("examples", (examples // 2, examples, 2 * examples)),
    ):
        for value in values:
            case = {**usual, what: value}
            model = random_bert(case["layers"], case["heads"], 384)
            race = Race(model, random_split([case["tokens"]] * case["examples"]), WAYS[1:])
            race.run(decide=False)
            seconds = race.seconds
            rows.append(
                {
                    "grows": what,
                    **case,
                    "sets": len(race.sets),
                    **{f"{way}, s": seconds[way] for way in race.ways},
                    "loop / shared": seconds[BATCHED] / seconds[SHARED],
                    "loop / screening": seconds[BATCHED] / seconds[SCREENED],
                }
            )
    return pd.DataFrame(rows)


def load(options: argparse.Namespace) -> tuple[PreTrainedModel, EncodedSplit]:
    """The real model and its validation examples, evenly drawn if fewer are wanted."""
    task = TASKS[options.task]
    split = load_split(options.data, "validation", load_tokenizer(options.model), task, 128)
    if options.examples and options.examples < len(split):
        split = part(split, np.linspace(0, len(split) - 1, options.examples).astype(int).tolist())
    model, _ = load_classifier(options.model, task, seed=1)
    device: Any = devices.best()
    return model.to(device), split


def part(split: EncodedSplit, rows: list[int]) -> EncodedSplit:
    """Some examples of a split."""
    pieces = [slice(split.starts[row], split.starts[row + 1]) for row in rows]
    return EncodedSplit(
        idx=split.idx[rows],
        labels=split.labels[rows],
        starts=np.cumsum([0, *split.lengths[rows]]),
        inputs={n: np.concatenate([flat[p] for p in pieces]) for n, flat in split.inputs.items()},
        padding=split.padding,
    )


def memory() -> dict[str, float]:
    """Most memory of a process that goes one way over the longest examples, in MiB.

    On a GPU that of the device, else the process's.
    """
    peaks = {}
    for way in ("nothing", BATCHED, SHARED, SCREENED):
        command = [sys.executable, __file__, *sys.argv[1:], "--child", way]
        run = subprocess.run(
            command,
            env=os.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        peaks[way] = float(run.stdout.split()[-1])
    return peaks


def child(options: argparse.Namespace) -> None:
    """Go one way over the block of the longest examples and print the most memory used."""
    model, split = load(options)
    rows = next(by_length(split.lengths, BLOCK[model.device.type]))
    if options.child != "nothing":
        Race(model, part(split, rows), (options.child,)).run()
    if torch.cuda.is_available():
        print(torch.cuda.max_memory_allocated() / 2**20)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def measure(options: argparse.Namespace) -> None:
    """Run everything and write the results."""
    sizes = memory()  # before this process grows: a new process begins with its parent's peak
    model, split = load(options)
    peak = Peak(model.device)
    peak.look(8)
    race = Race(model, split, peak=peak)
    race.run()
    real = f"{options.task}, {model.config.num_hidden_layers} layers, {len(split)} examples"
    rows = compare(real, race)
    for row in rows:
        row["peak memory, MiB"] = sizes.get(row["way"])
    bert = random_bert(12, 12, 768)
    base = Race(bert, random_split(glue_lengths(options.base_examples)), peak=peak)
    base.run()
    random = f"BERT-base, random, {options.base_examples} examples"
    rows += compare(random, base)
    peak.look(8)
    table = with_shares(rows, peak)
    machine = describe("torch", "transformers", "numpy")
    text = f"{notes(options, race, base, peak, table)}\n\n{reached(real, race)}\n\n"
    text += f"{reached(random, base)}\n\nMade with `{command()}`."
    write_results(options.pages, "A sweep over heads and layers", table.round(3), machine, text)
    if not options.no_growth:
        del model, bert, race, base
        grown = growth(options.growth_examples).round(2)
        text = (
            f"BERT with random weights, 384 hidden, {options.growth_examples} examples of one "
            f"length where these do not grow. {options.threads} thread(s); the loop is projected "
            "from some sets; ties are not decided. Screening samples as many pairs however few "
            "examples there are, so that it gains more the more there are.\n\n"
            f"Made with `{command()}`."
        )
        write_results(
            f"{options.pages}_growth", "How the cost of a sweep grows", grown, machine, text
        )


def notes(
    options: argparse.Namespace, race: Race, base: Race, peak: Peak, table: pd.DataFrame
) -> str:
    """What was measured, and how to read it."""
    text = (
        f"A sweep over all heads and layers ({len(race.sets)} and {len(base.sets)} sets), "
        f"{options.threads} thread(s), {base.model.device}. The four ways take "
        f"turns on blocks of examples. The batched loop ran {LOOP_SETS} sets on every block, the "
        f"notebook's {NOTEBOOK_SETS} set on up to {NOTEBOOK_EXAMPLES} examples of each; their "
        "times are projected to all sets and examples. Both ways on the shared path decide ties as "
        "the sweep does, by running the example alone, and that time is in theirs. Changed "
        "predictions are counted against the batched loop where it ran, ties (margins below 1e-5) "
        "left out, because a loop decides them by how it makes batches; and against the shared "
        "path, ties included. Matrix products, looked at before, between and after the blocks, "
        f"ran at most at {peak.rates['float32'] / 1e9:.0f} (float32) and "
        f"{peak.rates['bfloat16'] / 1e9:.0f} (bfloat16) billion operations a second of processor "
        "time; the share of that is taken in processor time, too, and with screening of the rate "
        "in bfloat16, although the sample and what is recomputed are not. BERT-base has random "
        "weights, whose margins are small beside the errors of bfloat16, and few examples; "
        "screening gains little, because the sample (50 pairs of every layer) and the unsure pairs "
        "are a large part of all, and ties cost the same 64 trials for few examples as for many."
    )
    if (table["share of peak"] > 1).any():
        text += (
            "\n\n**A share above 1 is impossible: the peak was never reached when it was measured. "
            "Do not use the shares; run again on a machine with less else to do.**"
        )
    return text


def command() -> str:
    """The command line, without the names of folders."""
    words = [part for word in sys.argv[1:] for part in word.split("=", 1)]
    for name in ("model", "data"):
        words[words.index(f"--{name}") + 1] = f"<{name}>"
    return " ".join(["python benchmarks/ablation.py", *words])


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--model", type=Path, required=True)
    parser.add_argument("--data", type=Path, required=True)
    parser.add_argument("--task", default="RTE", choices=TASKS)
    parser.add_argument("--examples", type=int, help="of the real data; all if not given")
    parser.add_argument("--base-examples", type=int, default=16, help="for BERT-base's shape")
    parser.add_argument("--growth-examples", type=int, default=16)
    parser.add_argument("--no-growth", action="store_true")
    parser.add_argument("--threads", type=int, default=1)
    parser.add_argument("--pages", default="ablation", help="name of the results")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    torch.set_num_threads(options.threads)
    if options.child:
        child(options)
    else:
        measure(options)


if __name__ == "__main__":
    main()
