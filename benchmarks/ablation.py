"""Cost of a sweep over heads and layers: four programs with equal predictions, and scaling.

    python benchmarks/ablation.py --run <results of a run> [--tasks RTE STS-B] [--seed 1]
        [--examples 160] [--threads 1 2] [--base-examples 16] [--pruning-examples 64]
        [--pages ablation]

The four programs are:

- the paper's notebook, which runs the model once per set of disabled heads on one example at a
  time, padded to 200 tokens (or as many as the model takes);
- a loop as a competent user writes it today (`HookedLoop`): transformers' eager attention, hooks
  that disable heads, batches of 32 sorted by length;
- the sweep's shared backend in float32;
- the shared backend with screening in bfloat16.

They run in one process with the same number of threads and take turns block by block. The loops are
timed on some sets of every block (the notebook's also on some examples), as stated in the result,
and projected to all. The program stops if a prediction of the loop that is not a tie differs from
the sweep's. The rate of large matrix products is measured before, between and after the blocks; the
best one is used, because other programs slow down some of the measurements. All this also works on
a GPU.
"""

from __future__ import annotations

import argparse
import copy
import functools
import os
import resource
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
import pandas as pd
from _examples import glue_lengths
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

import torch
from transformers import BertConfig, BertForSequenceClassification, PreTrainedModel

from darksecrets.ablation.backends import Block
from darksecrets.ablation.disable import UNIFORM, ZERO
from darksecrets.ablation.joint import Order
from darksecrets.ablation.screening import SAMPLED, Screening
from darksecrets.ablation.sets import HeadSet, sweep_sets
from darksecrets.ablation.shared import Shared, select
from darksecrets.ablation.sharing import Sharing
from darksecrets.ablation.sweep import BLOCK
from darksecrets.ablation.ties import decide_ties, ties
from darksecrets.data.batches import EncodedSplit, by_length, load_split
from darksecrets.data.tasks import Task
from darksecrets.importance.steps import pruning_counts
from darksecrets.models import devices
from darksecrets.models.hooks import shape_of
from darksecrets.models.loading import load_classifier, load_tokenizer
from darksecrets.models.selectors import Heads
from workflow.lib.tasks import shipped_tasks

NOTEBOOK_LENGTH, LOOP_BATCH = 200, 32
BASE = "BERT-base"
PROGRAMS = NOTEBOOK, LOOP, SHARED, SCREENED = (
    "notebook: one example, padded",
    "loop with hooks, batches of 32",
    "shared backend, float32",
    "shared backend, screened",
)
#: Sets that the loop runs on every block; sets, and examples, of the notebook's loop.
LOOP_SETS, NOTEBOOK_SETS, NOTEBOOK_EXAMPLES = 8, 1, 6
#: Random orders in which heads are removed.
CURVES = 28
#: How far the loop's logits may be from the sweep's, relative to logits above 1.
AGREEMENT = 1e-3
#: Rows, inner size and columns of the products that measure the machine's peak: large ones, and
#: those of a layer of BERT-base, whose factors may stay in the cache.
PEAK_SHAPES = ((2048, 2048, 2048), (1024, 768, 3072))
DTYPES = {"float32": torch.float32, "bfloat16": torch.bfloat16}


class HookedLoop:
    """A sweep as a user writes it: a forward pass per set of heads, with hooks that disable them.

    The output of a head whose map is 1/L everywhere is, for every token, the mean of its L value
    vectors. The hook on a layer's value projection replaces the values of disabled heads by that
    mean; then the map does not matter, because its rows sum to 1. Removed heads have values of 0.

    Args:
        model: A classifier of BERT, RoBERTa or ELECTRA with eager attention.
        sets: What to disable.
        mode: ``uniform`` or ``zero``.
    """

    def __init__(self, model: PreTrainedModel, sets: list[HeadSet], mode: str = UNIFORM) -> None:
        self.model, self.sets, self.mode = model, sets, mode
        self.size = model.config.hidden_size // model.config.num_attention_heads

    def logits(self, number: int, batch: dict[str, torch.Tensor]) -> torch.Tensor:
        """Logits, [examples, outputs], of a padded batch under one set."""
        encoder: Any = self.model.base_model
        handles = []
        for layer, heads in self.sets[number].heads.items():
            value = encoder.encoder.layer[layer - 1].attention.self.value
            disabled = [head - 1 for head in sorted(heads)]
            hook = self._disable(disabled, batch["attention_mask"])
            handles.append(value.register_forward_hook(hook))
        try:
            logits: torch.Tensor = self.model(**batch).logits
        finally:
            for handle in handles:
                handle.remove()
        return logits

    def _disable(self, disabled: list[int], mask: torch.Tensor) -> Callable[..., torch.Tensor]:
        share = (mask / mask.sum(dim=1, keepdim=True))[:, :, None, None]  # 1/L, 0 for padding

        def hook(_module: object, _inputs: object, values: torch.Tensor) -> torch.Tensor:
            of_heads = values.unflatten(-1, (-1, self.size))  # [example, token, head, size], a view
            if self.mode == ZERO:
                of_heads[:, :, disabled] = 0.0
            else:
                of_heads[:, :, disabled] = (of_heads[:, :, disabled] * share).sum(1, keepdim=True)
            return values

        return hook


class Peak:
    """The machine's best rate of matrix products seen so far, in operations per second.

    Seconds are CPU time, as in the rates that are compared with it, so that other programs matter
    less. On a GPU they are wall-clock time.
    """

    def __init__(self, device: torch.device) -> None:
        self.device, self.rates = device, dict.fromkeys(DTYPES, 0.0)

    def update(self, times: int = 1) -> None:
        """Measure the rate, and keep the best."""
        for name, dtype in DTYPES.items():
            for rows, inner, columns in PEAK_SHAPES:
                one = torch.randn(rows, inner, dtype=dtype, device=self.device)
                two = torch.randn(columns, inner, dtype=dtype, device=self.device)
                kernels = [functools.partial(torch.nn.functional.linear, one, two)]
                if self.device.type == "cpu":
                    product = torch.ops.mkldnn._linear_pointwise
                    kernels.append(functools.partial(product, one, two, None, "none", [], ""))
                for kernel in kernels * times:
                    seconds = self._seconds(kernel)
                    self.rates[name] = max(self.rates[name], 2 * rows * inner * columns / seconds)

    def _seconds(self, kernel: Callable[[], torch.Tensor]) -> float:
        clock = time.process_time if self.device.type == "cpu" else time.perf_counter
        with torch.inference_mode():
            _synchronise()
            start = clock()
            kernel()
            _synchronise()
            return clock() - start


class Race:
    """The four programs on one model and split, block after block.

    Args:
        model: The classifier for the sweep, loaded as the sweep loads it.
        eager: The same, with eager attention, for the loops.
        split: The examples.
        threads: Number of CPU threads of all programs.
        programs: The programs to run.
        peak: Updated with the rate of matrix products between blocks.
        removed: Sets of heads to remove, in place of disabling each head and each layer.

    Attributes:
        seconds: By program, over all blocks; projected if it ran on a part of them. Those of the
            sweep include the decision of ties.
        cpu_seconds: The same in CPU time, which other programs disturb less.
        tie_seconds: The part of ``seconds`` that the decision of ties took.
        logits: [sets, examples, outputs], by program; NaN where it did not run.
    """

    def __init__(
        self,
        model: PreTrainedModel,
        eager: PreTrainedModel,
        split: EncodedSplit,
        threads: int,
        programs: tuple[str, ...] = PROGRAMS,
        peak: Peak | None = None,
        removed: Sequence[Heads] = (),
    ) -> None:
        self.model, self.split, self.peak = model, split, peak
        self.threads, self.programs = threads, programs
        self.mode = ZERO if removed else UNIFORM
        self.sets = [HeadSet("set", heads, "") for heads in removed] or sweep_sets(shape_of(model))
        self.loop = HookedLoop(eager, self.sets, self.mode)
        self.seconds, self.cpu_seconds, self.tie_seconds = (
            dict.fromkeys(programs, 0.0) for _ in range(3)
        )
        self.logits = {program: self._empty() for program in programs}
        self.screened = Block(self._empty(), self._empty())

    @functools.cached_property
    def shared(self) -> Shared:
        """The shared backend, made on first use because it copies weights."""
        interventions = [of_set.intervention(self.mode) for of_set in self.sets]
        return Shared(self.model, self.split, interventions)

    @functools.cached_property
    def screening(self) -> Screening:
        """The shared backend with screening."""
        return Screening(self.shared)

    def _empty(self) -> npt.NDArray[np.float32]:
        shape = (len(self.sets), len(self.split), self.model.config.num_labels)
        return np.full(shape, np.nan, dtype=np.float32)

    def run(self, *, decide: bool = True) -> None:
        """Run the programs in turn, decide ties if ``decide``, and check that all agree."""
        torch.set_num_threads(self.threads)
        blocks = list(by_length(self.split.lengths, BLOCK[self.model.device.type]))
        steps = {
            NOTEBOOK: self._notebook,
            LOOP: self._loop,
            SHARED: self._shared,
            SCREENED: self._screened,
        }
        with torch.inference_mode():
            for program in self.programs:  # warm up, without leaving a trace
                self._timed(steps[program], 0, blocks[-1][:2])
            vars(self).pop("screening", None)
            self.logits = {program: self._empty() for program in self.programs}
            for number, rows in enumerate(blocks):
                shift = number % len(self.programs)
                for program in self.programs[shift:] + self.programs[:shift]:
                    self._add(program, *self._timed(steps[program], number, rows))
                if self.peak:
                    self.peak.update()
                print(f"block {number + 1} of {len(blocks)}", file=sys.stderr, flush=True)
            if SCREENED in self.programs:
                self._settle(blocks)
            for program in (SHARED, SCREENED) if decide else ():
                if program in self.programs:
                    self._decide(program)
        if LOOP in self.programs and SHARED in self.programs:
            self.check()

    def check(self) -> None:
        """Stop if the loop and the sweep disagree."""
        loop, shared = self.logits[LOOP], self.logits[SHARED]
        found = np.nanmax(np.abs(shared - loop) / np.maximum(1.0, np.abs(loop)))
        if not found <= AGREEMENT:
            sys.exit(f"The loop's logits differ from the sweep's by {found:.2g}.")
        for program in (SHARED, SCREENED):
            if program in self.programs and (changed := self.changed(program, LOOP))[0]:
                sys.exit(
                    "{} predictions of {} differ from the loop's: {}".format(*changed, program)
                )

    def changed(self, program: str, reference: str) -> tuple[int, int]:
        """How many predictions differ, and how many were compared.

        In a loop, ties in the last digit depend on its batches; in comparisons with it, they are
        left out.
        """
        one, two = self.logits[program], self.logits[reference]
        compared = ~np.isnan(two[..., 0])
        if one.shape[-1] == 1:  # a regression has no classes
            return 0, int(compared.sum())
        if reference == LOOP:
            compared &= ~ties(two)
        different = (one.argmax(-1) != two.argmax(-1)) & compared
        return int(different.sum()), int(compared.sum())

    def _timed(
        self, step: Callable[..., float], number: int, rows: list[int]
    ) -> tuple[float, float]:
        """Wall-clock and CPU seconds of a step, times the factor that it returns."""
        _synchronise()
        start, cpu = time.perf_counter(), time.process_time()
        factor = step(number, rows)
        _synchronise()
        return factor * (time.perf_counter() - start), factor * (time.process_time() - cpu)

    def _chosen(self, number: int, count: int) -> list[int]:
        """Sets to run on a block: different ones for every block, never the intact model."""
        return [1 + (number * count + i * 7) % (len(self.sets) - 1) for i in range(count)]

    def _batch(self, rows: list[int]) -> dict[str, torch.Tensor]:
        batch = {name: t.to(self.model.device) for name, t in self.split.batch(rows).items()}
        del batch["labels"]
        return batch

    def _notebook(self, number: int, rows: list[int]) -> float:
        chosen = self._chosen(number, NOTEBOOK_SETS)
        length = min(NOTEBOOK_LENGTH, self.model.config.max_position_embeddings)
        some = rows[:: -(-len(rows) // NOTEBOOK_EXAMPLES)]
        for set_number in chosen:
            for row in some:
                batch = {
                    name: torch.nn.functional.pad(t, (0, length - t.shape[1]))
                    for name, t in self._batch([row]).items()
                }
                self.loop.logits(set_number, batch)
        return len(self.sets) / len(chosen) * len(rows) / len(some)

    def _loop(self, number: int, rows: list[int]) -> float:
        chosen = self._chosen(number, LOOP_SETS)
        for start in range(0, len(rows), LOOP_BATCH):  # rows are sorted by length
            few = rows[start : start + LOOP_BATCH]
            batch = self._batch(few)
            for set_number in chosen:
                found = self.loop.logits(set_number, batch).cpu().numpy()
                self.logits[LOOP][set_number, few] = found
        return len(self.sets) / len(chosen)

    def _shared(self, _: int, rows: list[int]) -> float:
        self.logits[SHARED][:, rows] = self.shared.block(rows).exact
        return 1.0

    def _screened(self, _: int, rows: list[int]) -> float:
        found = self.screening.block(rows)
        self.screened.screened[:, rows], self.screened.exact[:, rows] = found.screened, found.exact
        return 1.0

    def _settle(self, blocks: list[list[int]]) -> None:
        """Recompute what is unsure under the bounds of all blocks."""

        def step(*_: Any) -> float:  # noqa: ANN401
            self.screening.settle(blocks, self.screened)
            return 1.0

        self._add(SCREENED, *self._timed(step, 0, []))
        self.recomputed = int((~np.isnan(self.screened.exact[..., 0])).sum())
        self.logits[SCREENED] = self.screened.logits

    def _decide(self, program: str) -> None:
        """Decide ties, as the sweep does."""
        logits = self.logits[program]
        exact = self.screened.exact if program == SCREENED else logits.copy()

        def step(*_: Any) -> float:  # noqa: ANN401
            decide_ties(self.shared, exact, logits)
            return 1.0

        seconds, cpu = self._timed(step, 0, [])
        self._add(program, seconds, cpu)
        self.tie_seconds[program] = seconds

    def _add(self, program: str, seconds: float, cpu: float) -> None:
        self.seconds[program] += seconds
        self.cpu_seconds[program] += cpu


def _synchronise() -> None:
    if torch.cuda.is_available():
        torch.cuda.synchronize()


def products(race: Race) -> tuple[float, float]:
    """Operations of the matrix products: of the loop, and of the shared backend.

    The shared backend's last layer at [CLS], a few per cent, is left out.
    """
    config, lengths = race.model.config, race.split.lengths
    size, wide, layers = config.hidden_size, config.intermediate_size, config.num_hidden_layers
    feed_forward = 2 * 2 * size * wide
    sharing = Sharing(select(race.model, race.shared.interventions).numpy())
    every, alone = np.arange(len(race.sets)), np.zeros(len(race.sets), dtype=np.int64)
    above, columns = 0, []
    for number in range(layers - 1):
        pairs, _ = sharing.nodes(number, every, alone)
        here = pairs[sharing.first[pairs] == number]
        above += len(pairs) - len(here)
        columns += sharing.own[here, number].sum(axis=1).tolist()
    # what a few heads change goes through the first map as so many columns, and two
    columns = np.array(columns) * (size // config.num_attention_heads) + 2
    few = columns[2 * columns <= size]
    wholes = len(columns) - len(few)

    def layer(length: int) -> float:
        return feed_forward + 2 * 4 * size**2 + 2 * 2 * length * size

    loop, shared = 0.0, 0.0
    for rows in by_length(lengths, LOOP_BATCH):
        longest = int(lengths[rows].max())
        loop += len(race.sets) * layers * len(rows) * longest * layer(longest)
        for length in lengths[rows].tolist():
            shared += length * (layers + above) * layer(length)
            shared += length * 2 * (few * (wide + size) + size * wide).sum()
            shared += length * wholes * feed_forward
    return loop, shared


def compare(name: str, race: Race) -> list[dict[str, Any]]:
    """A row per program; `with_shares` adds the shares of the peak at the end."""
    loop, shared = products(race)
    work = {LOOP: loop, SHARED: shared, SCREENED: shared}
    on_cpu = race.model.device.type == "cpu"
    rows = []
    for program in race.programs:
        seconds, screens = race.seconds[program], program == SCREENED
        busy = race.cpu_seconds[program] if on_cpu else seconds
        rows.append(
            {
                "model": name,
                "threads": race.threads,
                "program": program,
                "seconds": seconds,
                "CPU seconds": race.cpu_seconds[program],
                "of these ties, s": race.tie_seconds[program],
                "times as fast as the loop": race.seconds[LOOP] / seconds,
                "in CPU time": race.cpu_seconds[LOOP] / race.cpu_seconds[program],
                "as the notebook": race.seconds.get(NOTEBOOK, np.nan) / seconds,
                "operations a second": work[program] / busy if program in work else np.nan,
                "changed from the loop": "{} of {}".format(*race.changed(program, LOOP))
                if program in (SHARED, SCREENED)
                else "",
                "changed from float32": "{} of {}".format(*race.changed(program, SHARED))
                if screens
                else "",
                "sampled": int(race.screening.bounds.sample.sum()) if screens else "",
                "recomputed": race.recomputed if screens else "",
            }
        )
    return rows


def with_shares(rows: list[dict[str, Any]], peak: Peak) -> pd.DataFrame:
    """Rates of operations as shares of the peak of their arithmetic."""
    table = pd.DataFrame(rows)
    rates = [
        peak.rates["bfloat16" if program == SCREENED else "float32"] for program in table["program"]
    ]
    place = list(table.columns).index("operations a second")
    table.insert(place, "share of peak", table.pop("operations a second") / rates)
    return table


def ratios(name: str, race: Race) -> str:
    """Speed of the programs relative to both loops, for one model."""
    found = (
        f"{program} {race.seconds[LOOP] / race.seconds[program]:.1f} times as fast as the loop"
        for program in race.programs
        if program in (SHARED, SCREENED)
    )
    loop, shared = products(race)
    return (
        f"{name}, {race.threads} thread(s): {'; '.join(found)}. The loop takes "
        f"{loop / shared:.2f} times as many operations in matrix products, so this is how many "
        "times as fast sharing alone could be; the rest is from faster products and from what is "
        "not one."
    )


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
    return devices.place(BertForSequenceClassification(config).eval())


def eager_copy(model: PreTrainedModel) -> PreTrainedModel:
    """The same model with transformers' eager attention."""
    copied = copy.deepcopy(model)
    copied.set_attn_implementation("eager")
    return copied


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


def growth(examples: int, threads: int) -> pd.DataFrame:
    """Time as one of layers, heads, tokens and examples grows, without the decision of ties."""
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
            split = random_split([case["tokens"]] * case["examples"])
            race = Race(model, eager_copy(model), split, threads, PROGRAMS[1:])
            race.run(decide=False)
            seconds = race.seconds
            rows.append(
                {
                    "grows": what,
                    **case,
                    "sets": len(race.sets),
                    **{f"{program}, s": seconds[program] for program in race.programs},
                    "loop / shared": seconds[LOOP] / seconds[SHARED],
                    "loop / screened": seconds[LOOP] / seconds[SCREENED],
                }
            )
    return pd.DataFrame(rows)


def load(
    options: argparse.Namespace, task: Task, attention: Literal["sdpa", "eager"]
) -> PreTrainedModel:
    """The classifier that a run fine-tuned on a task."""
    folder = options.run / "models" / task.name / "finetuned" / f"seed-{options.seed}"
    model, _ = load_classifier(folder, task, options.seed, attention=attention)
    return devices.place(model)


def examples(options: argparse.Namespace, task: Task) -> EncodedSplit:
    """Validation examples of a task, evenly drawn if fewer are wanted."""
    folder = options.run / "models" / task.name / "finetuned" / f"seed-{options.seed}"
    data = options.run / "data" / task.name
    split = load_split(data, "validation", load_tokenizer(folder), task, 128)
    return spread(split, options.examples or len(split))


def spread(split: EncodedSplit, number: int) -> EncodedSplit:
    """Some examples of a split, evenly drawn, if it has more."""
    if number >= len(split):
        return split
    return part(split, np.linspace(0, len(split) - 1, number).astype(int).tolist())


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


def programs_for(task: Task) -> tuple[str, ...]:
    """The programs that a task can be timed with: a regression is not screened."""
    return tuple(p for p in PROGRAMS if p != SCREENED or not task.is_regression)


def memory(task: Task) -> dict[str, float]:
    """Peak memory of a process that runs one program on the longest examples, in MiB.

    On a GPU it is the device's memory, else the process's.
    """
    peaks = {}
    for program in programs_for(task)[1:]:
        run = subprocess.run(
            [sys.executable, __file__, *sys.argv[1:], "--child", program],
            env=os.environ,
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            check=True,
        )
        peaks[program] = float(run.stdout.split()[-1])
    return peaks


def child(options: argparse.Namespace) -> None:
    """Run one program on the block of the longest examples and print its peak memory."""
    task = shipped_tasks()[options.tasks[0]]
    model = load(options, task, "eager" if options.child == LOOP else "sdpa")
    split = examples(options, task)
    rows = next(by_length(split.lengths, BLOCK[model.device.type]))
    race = Race(model, model, part(split, rows), options.threads[0], (options.child,))
    race.run(decide=not task.is_regression)
    if torch.cuda.is_available():
        print(torch.cuda.max_memory_allocated() / 2**20)
    else:
        print(resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024)


def removed_heads(model: PreTrainedModel) -> dict[str, list[Heads]]:
    """Sets of heads as pruning curves and greedy orders remove them, from random orders."""
    shape, rng = shape_of(model), np.random.default_rng(0)
    places = [(n, h) for n in range(1, shape.layers + 1) for h in range(1, shape.heads + 1)]
    orders = [
        Order("", None, tuple(places[number] for number in rng.permutation(len(places))))
        for _ in range(CURVES)
    ]
    half, (*_, last) = len(places) // 2, orders
    gone, left = last.heads[:half], last.heads[half:]
    return {
        f"pruning curves of {CURVES} random orders": [
            order.first(count) for order in orders for count in pruning_counts(len(places))
        ],
        f"greedy order, the step after {half} heads": [
            Order("", None, (*gone, one)).first(half + 1) for one in left
        ],
    }


def pruning(options: argparse.Namespace, peak: Peak) -> Iterator[tuple[str, Race]]:
    """Run the programs on sets of removed heads, on the first task."""
    task = shipped_tasks()[options.tasks[0]]
    model, eager = load(options, task, "sdpa"), load(options, task, "eager")
    split = spread(examples(options, task), options.pruning_examples)
    programs = programs_for(task)[1:]
    for what, removed in removed_heads(model).items():
        for threads in options.threads:
            race = Race(model, eager, split, threads, programs, peak, removed)
            # a greedy order compares losses, which have no ties
            race.run(decide=what.startswith("pruning") and not task.is_regression)
            yield f"{task.name}, {what}, {len(split)} examples", race


def races(options: argparse.Namespace, peak: Peak) -> Iterator[tuple[str, Race]]:
    """Run the programs on the run's models, and on one of BERT-base's size."""
    for name in options.tasks:
        task = shipped_tasks()[name]
        split = examples(options, task)
        programs = programs_for(task)
        for threads in options.threads:
            model, eager = load(options, task, "sdpa"), load(options, task, "eager")
            race = Race(model, eager, split, threads, programs, peak)
            race.run(decide=not task.is_regression)
            yield f"{name}, {model.config.num_hidden_layers} layers, {len(split)} examples", race
    if options.base_examples:
        bert = random_bert(12, 12, 768)
        split = random_split(glue_lengths(options.base_examples))
        race = Race(bert, eager_copy(bert), split, options.threads[0], peak=peak)
        race.run()
        yield f"{BASE}, random, {options.base_examples} examples", race


def measure(options: argparse.Namespace) -> None:
    """Run everything and write the results."""
    # Before this process grows: a child process starts with its parent's peak.
    sizes = memory(shipped_tasks()[options.tasks[0]])
    torch.set_num_threads(options.threads[0])
    peak = Peak(devices.best())
    peak.update(8)
    machine = describe("torch", "transformers", "numpy")
    title = "A sweep over heads and layers"
    write_page(options.pages, title, races(options, peak), peak, sizes)
    if options.pruning_examples:
        title = "Heads removed in some orders"
        write_page(f"{options.pages}_pruning", title, pruning(options, peak), peak, {})
    if options.growth_examples:
        grown = growth(options.growth_examples, options.threads[0]).round(2)
        text = (
            f"BERT with random weights, 384 hidden, {options.growth_examples} examples of one "
            f"length unless these grow. {options.threads[0]} thread(s); the loop is projected "
            "from some sets; ties are not decided. Screening samples a fixed number of pairs, "
            "so it gains more with more examples.\n\n"
            f"Made with `{command()}`."
        )
        write_results(
            f"{options.pages}_growth", "How the cost of a sweep grows", grown, machine, text
        )


def write_page(
    page: str,
    title: str,
    races: Iterator[tuple[str, Race]],
    peak: Peak,
    sizes: dict[str, float],
) -> None:
    """Run some races and write their page; `sizes` is the memory of the first one's programs."""
    rows, found = [], []
    for name, race in races:
        of_race = compare(name, race)
        if sizes and not found:
            of_race = [{**row, "peak memory, MiB": sizes.get(row["program"])} for row in of_race]
        rows += of_race
        found.append(ratios(name, race))
    table = with_shares(rows, peak)
    text = "\n\n".join([notes(peak, table), *found, f"Made with `{command()}`."])
    machine = describe("torch", "transformers", "numpy")
    write_results(page, title, table.round(3), machine, text)


def notes(peak: Peak, table: pd.DataFrame) -> str:
    """What was measured, and how to read it."""
    text = (
        f"Predictions with heads disabled, on {peak.device}. The programs take turns on blocks "
        "of examples. The loop is what a user writes with transformers: eager attention, forward "
        "hooks on the value projections that replace the values of a disabled head by their mean "
        f"over the real tokens (of a removed head by 0), batches of {LOOP_BATCH} sorted by length, "
        f"inference mode, the same threads. It ran {LOOP_SETS} sets on every block, the notebook's "
        f"{NOTEBOOK_SETS} set on up to {NOTEBOOK_EXAMPLES} examples of each, padded to "
        f"{NOTEBOOK_LENGTH} tokens or as many as the model takes; their times are projected to all "
        "sets and examples. The times of the shared backend include the decision of ties, except "
        "in a greedy order, by running examples alone. Changed "
        "predictions are counted against the loop where it ran, without ties (margins below "
        "1e-5), because they depend on a loop's batches; and against float32, with ties. "
        "The program stops if a prediction differs from the loop's. "
        "Matrix products, measured before, between and after the blocks, ran at most at "
        f"{peak.rates['float32'] / 1e9:.0f} (float32) and {peak.rates['bfloat16'] / 1e9:.0f} "
        "(bfloat16) billion operations per second of CPU time. The share of the peak is also in "
        "CPU time; with screening it is relative to the rate in bfloat16, although the sample and "
        "recomputed pairs are in float32."
    )
    if table["model"].str.contains(BASE).any():
        text += (
            f" {BASE} has few examples and random weights, whose margins are small compared with "
            f"the errors of bfloat16. So screening gains little: the sample ({SAMPLED} pairs of "
            "every layer) and the unsure pairs are a large part of all, and ties cost the same 64 "
            "trials for few examples as for many."
        )
    if (table["share of peak"] > 1).any():
        text += (
            "\n\n**A share above 1 is impossible: the peak was never reached when it was measured. "
            "Do not use the shares; run again on a less busy machine.**"
        )
    return text


def command() -> str:
    """The command line, without the name of the folder."""
    words = [part for word in sys.argv[1:] for part in word.split("=", 1)]
    words[words.index("--run") + 1] = "<run>"
    return " ".join(["python benchmarks/ablation.py", *words])


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--run", type=Path, required=True, help="with models/ and data/")
    parser.add_argument("--tasks", nargs="+", default=["RTE", "STS-B"], choices=shipped_tasks())
    parser.add_argument("--seed", type=int, default=1, help="seed of the run's models")
    parser.add_argument("--examples", type=int, help="examples per task; all by default")
    parser.add_argument("--threads", type=int, nargs="+", default=[1, 2])
    parser.add_argument(
        "--base-examples", type=int, default=16, help="examples for BERT-base; 0 to skip it"
    )
    parser.add_argument("--growth-examples", type=int, default=16, help="0: no growth")
    parser.add_argument(
        "--pruning-examples", type=int, default=64, help="for sets of removed heads; 0 to skip them"
    )
    parser.add_argument("--pages", default="ablation", help="name of the results")
    parser.add_argument("--child", help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.child:
        child(options)
    else:
        measure(options)


if __name__ == "__main__":
    main()
