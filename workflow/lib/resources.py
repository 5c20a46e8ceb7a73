"""Memory, time and disk that jobs need, from measured constants; rules request it by `Asked`.

A job's need is a formula of the number of examples of its task and the size of the model. The
constants come from the benchmark files of finished runs and from ``benchmarks/results/stages.md``;
``docs/resources.md`` compares requested with used. A job requests its need with a margin; a job
that exceeds this is resubmitted with twice as much. Nothing here needs torch.

Operations are counted as is usual for transformers: 2 operations per weight of the encoder and
token forward, 6 for a training step.
"""

from __future__ import annotations

import dataclasses
import functools
import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darksecrets.data import files
from darksecrets.importance.steps import pruning_counts
from darksecrets.models.size import BERT_BASE, Size, config_file, read_size
from darksecrets.redundancy.head_distances import WORK
from darksecrets.subnetworks.steps import most_steps
from darksecrets.text import texts
from workflow.lib.configuration import results_folder

MARGIN_OF_MEMORY = 1.3
MARGIN_OF_TIME = 6.0
"""CPUs without fast bfloat16 train three times as slowly as the measured one, and other work on
the same machine doubles that."""

MB, MINUTE = 10**6, 60

# Word pieces per example, means over the tasks (generous for GLUE): pairs, single sentences.
_TOKENS, _TOKENS_OF_BUILTIN = (60, 26), (30, 15)
_ON_HUB = (50_000, 5_000)  # examples of a task on the Hub whose entry has no `size`; assumed
_IMPORTS_MB = 520  # torch and transformers in one process
_CUDA_MB = 3500  # CUDA's libraries and pinned memory; assumed, not measured
_OF_THREAD_MB = 240  # of every further thread that works on examples of its own
_ENCODED = 250  # bytes per token while texts are encoded
_TABLE_MB = 180  # pandas
_SNAKEMAKE_MB = 250  # in a scheduler's job, besides the script

# Expected seconds of one core.
_START = 4.5  # until torch and transformers are imported
_START_OF_TABLES = 1.0  # until NumPy and pandas are imported
_START_OF_CLASSIFIER = 3.0  # until torch is imported
_LOADING = 1.0  # a model and its tokenizer
_LOADING_CLASSIFIER = 0.5  # the classifier of patterns, and opening a store
_UPDATE = 0.01  # of an update of the weights, besides its operations
_MAP_BYTES_PER_SECOND = 1.0e8  # statistics of stored maps
_ALL_MEASURES = 0.8  # all measures of one store, besides what its size takes
_PER_MODEL = 0.2  # of tables that compare models
_PER_EXAMPLE = 110  # numbers kept of an example and layer: measures and controls of all features
_EXAMPLES_PER_SECOND = 1.0e6  # of these numbers, through all comparisons
_COMPARED_PER_SECOND = 5e8  # cells of maps, of all pairs of heads
_MAPS_PER_SECOND = 3300.0  # through the classifier of patterns
_PASS_BYTES = 2**28  # maps of a pass of all models, by all measures
_OPINION_BYTES_PER_SECOND = 2.0e7  # maps by other measures, made and measured
_TABLE_OR_FIGURE = 2.5  # mean of the rules that declare no resources
_FEATURES, _EPOCH_OF_FOLD = 10.0, 0.7  # of labelled maps; of the network compared with them
_WORDS_OF_SENTENCE = 22
_LABELLED_ENCODERS = 8  # of the shipped set; each is left out in turn
_HEADS_ALONG_LINKS = 3.0
_ERASED = 70  # sequences of an example with erased tokens: 11 orders in at most 10 steps
_RANKINGS = 0.02  # correlations of an example's rankings
_TIMED = 16  # examples of a batch that compressed models are timed on
_FACTORISED = 20  # operations of a singular value decomposition, per row and pair of columns
_PASSES_OF_PRODUCT = 7  # a product with the Hessian: forward, and backward twice
_STARTS_OF_SHARPNESS = 3
_PASSES_OF_JOINT = 1.3  # work of a set of several heads, in sets of the sweep over single heads
_UNSURE = 0.1, 0.4  # of a sweep, computed again: of disabled heads, and of many removed ones
_SUMMED = 6e-9  # of a weight at a point of a loss surface: read of three vectors, and added
_BATCH = 0.02  # of the batches of a point, besides their operations
SNAKEMAKE = 0.6  # of Snakemake itself and of starting a fork, per step

_WIDE = 384
"""Hidden size from which on products in bfloat16 reach the rates below; narrower models are slower
in proportion (the tiny BERT has 192, and half of these rates)."""

#: Operations per second of one core (AVX-512 BF16; benchmarks/results/stages.md), and of a GPU.
#: Those of the GPU are conservative assumptions, not measured. The sweep counts the passes of a
#: plain loop over all sets, of which it computes only a part.
CORE = {"training": 2.0e11, "inference": 8.2e10, "sweep": 3.9e11}
GPU = {"training": 2.0e13, "inference": 8.0e12, "sweep": 2.0e13}


@dataclass(frozen=True)
class Work:
    """What one job has to do.

    Attributes:
        model: The encoder.
        train: Training examples of the task.
        validation: Validation examples.
        sample: Examples whose attention is studied.
        tokens: Mean length of an example.
        config: The run's resolved configuration.
        regression: Whether the task's scores are correlations.
        parsed: Whether its sentences are parsed, unlike the built-in corpus's.
        epochs: Passes over its training examples in fine-tuning.
    """

    model: Size
    train: int
    validation: int
    sample: int
    tokens: int
    config: Mapping[str, Any]
    regression: bool = False
    parsed: bool = True
    epochs: int = 3

    @property
    def maps(self) -> int:
        """Bytes of the stored maps of one model."""
        return 2 * self.all_heads * self.tokens**2 * self.sample

    @property
    def pace(self) -> float:
        """Speed of the model in bfloat16, as a share of that of wide models."""
        return min(1.0, self.model.hidden / _WIDE)

    def encoding(self, examples: int) -> float:
        """Megabytes that encoding the texts of examples takes."""
        return _ENCODED * self.tokens * examples / MB

    def forward(self, examples: float) -> float:
        """Operations of a pass over examples."""
        return 2.0 * self.model.encoder * self.tokens * examples

    @property
    def all_heads(self) -> int:
        """Heads of all layers."""
        return self.model.layers * self.model.heads

    def megabytes(self, copies: int) -> float:
        """Memory or disk of weights, at that many bytes a weight."""
        return copies * self.model.weights / MB

    def kept(self, batch: int) -> float:
        """Megabytes kept for a backward pass through a batch of the longest sequences."""
        return self.model.activations(batch, self.config["fine_tuning"]["max_length"]) / MB


@dataclass(frozen=True)
class Need:
    """What a job takes, without margins.

    Attributes:
        memory: Megabytes.
        host: Megabytes of host memory if a GPU holds the rest; None if that makes no difference.
        operations: Operations of the model; they use all threads.
        kind: Kind of these operations, a key of ``CORE`` and ``GPU``.
        start: Seconds until the libraries are imported, which a fork saves (see
            `workflow.lib.forks`).
        seconds: Time of everything else, on one core.
        disk: Megabytes that it leaves.
        passing: Additional megabytes on disk while it runs.
    """

    memory: float
    host: float | None = None
    operations: float = 0.0
    kind: str = "inference"
    start: float = 0.0
    seconds: float = 0.0
    disk: float = 0.0
    passing: float = 0.0

    def time(self, threads: int, *, gpu: bool = False, forked: bool = False) -> float:
        """Seconds from start to end."""
        rate = GPU[self.kind] if gpu else CORE[self.kind] * threads
        return self.start * (not forked) + self.seconds + self.operations / rate


def _with_model(work: Work, copies: int, memory: float = 0.0, **about: Any) -> Need:  # noqa: ANN401
    """What a job with torch takes: so many bytes of each weight, and further megabytes."""
    return Need(_IMPORTS_MB + memory + work.megabytes(copies), start=_START, **about)


def _scaled(need: Need, by: float, *fields: str) -> Need:
    """A need with some of its numbers multiplied."""
    return dataclasses.replace(need, **{name: by * getattr(need, name) for name in fields})


def finetuning(work: Work) -> Need:
    """A fine-tuning, and scoring after every epoch."""
    settings, model = work.config["fine_tuning"], work.model
    epochs, batch = work.epochs, settings["batch_size"]
    steps = epochs * math.ceil(work.train / batch)
    passes = epochs * (3 * work.forward(work.train) + work.forward(work.validation))
    kept = (20 * model.weights + model.activations(batch, settings["max_length"])) / MB
    return Need(
        memory=_IMPORTS_MB + max(kept, work.encoding(work.train)),
        host=_IMPORTS_MB + work.encoding(work.train),
        operations=passes / work.pace,
        kind="training",
        start=_START,
        seconds=_LOADING + _UPDATE * steps,
        disk=work.megabytes(4),
        passing=work.megabytes(24),  # a checkpoint, and the one that replaces it
    )


def keeping_snapshots(work: Work) -> Need:
    """A fine-tuning, repeated, that keeps weights on the way until they are measured."""
    need, weights = finetuning(work), work.model.weights
    number = int(work.config["landscape"]["surface"]["snapshots"])
    return dataclasses.replace(
        need,
        memory=need.memory + work.megabytes(12),
        host=(need.host or 0) + work.megabytes(12),
        seconds=need.seconds + 2e-8 * number * weights,
        passing=need.passing + number * work.megabytes(4),  # twice: of the training, and kept
    )


def frozen(work: Work) -> Need:
    """One pass of all examples through the encoder, and training classifiers on its outputs."""
    settings, examples = work.config["fine_tuning"], _rows(work)
    seeds = _models(work) - 2
    steps = seeds * work.epochs * math.ceil(work.train / settings["batch_size"])
    features = 8 * work.model.hidden * examples / MB
    return _with_model(
        work,
        8,
        features + work.encoding(work.train),
        operations=work.forward(examples) + work.forward(steps),
        seconds=_LOADING + _UPDATE * steps,
    )


def all_maps(work: Work) -> Need:
    """One pass of the sample through an encoder, storing all maps."""
    longest = work.config["fine_tuning"]["max_length"]
    of_batch = work.all_heads * longest**2
    of_batch *= work.config["attention"]["batch_size"]
    return _with_model(
        work,
        8,
        6 * of_batch / MB,
        operations=work.forward(work.sample),
        seconds=_LOADING + work.maps / _MAP_BYTES_PER_SECOND,
        disk=work.maps / MB,
    )


def extraction(work: Work) -> Need:
    """The maps of a task's trained models, one after the other."""
    return _scaled(all_maps(work), _models(work) - 1, "operations", "seconds", "disk")


def _sets(work: Work) -> int:
    return 1 + work.model.layers * (work.model.heads + 1) + len(work.config["ablation"]["sets"])


def _all_sets(work: Work, sets: int, passes: float) -> Need:
    """Predictions under some sets, which take as much as that many passes of all examples."""
    predictions = 8 * sets * work.validation / MB
    texts = work.encoding(work.validation)
    own = _OF_THREAD_MB * (work.config["threads"] - 1)
    return Need(
        memory=1350 + work.megabytes(15) + own + predictions + texts,
        host=_IMPORTS_MB + work.megabytes(8) + predictions + texts,
        operations=passes * work.forward(work.validation) / work.pace,
        kind="sweep",
        start=_START,
        seconds=_LOADING,
        disk=predictions,
    )


def sweep(work: Work) -> Need:
    """Predictions under every set of heads."""
    sets = _sets(work)
    return _with_ties(_all_sets(work, sets, sets))


def importance(work: Work) -> Need:
    """Gradients of the gates of heads, and each head disabled in both modes."""
    examples = _of_importance(work)
    backward = 3 * work.forward(examples)
    swept = work.all_heads * 2 * work.forward(examples)
    operations = (backward + swept * CORE["inference"] / CORE["sweep"]) / work.pace
    return _with_model(work, 12, work.kept(32), operations=operations, seconds=_LOADING + 1)


def ordering(work: Work) -> Need:
    """The greedy order: every step disables each head that is left."""
    counts = (0, *pruning_counts(work.all_heads)[:-1])
    sets = sum(work.all_heads - count for count in counts)
    need = _all_sets(work, sets, _PASSES_OF_JOINT * sets * _of_importance(work) / work.validation)
    return dataclasses.replace(need, disk=0.0)


def pruned(work: Work) -> Need:
    """Predictions with heads removed."""
    return _with_ties(_pruned(work), _UNSURE[1])


def pruned_scoring(work: Work) -> Need:
    """Intervals of removed heads, of all models."""
    return _scored(work.config, work.config["importance"]["pruning"]["tasks"], _pruned_sets)


def learned_gates(work: Work) -> Need:
    """Trainings with gates and for comparison, one after the other, and sets of heads removed."""
    settings = work.config["importance"]["learned_gates"]
    compared = 1 + settings["trained"] if settings["trained"] else 0
    trainings = 1 + len(settings["penalties"]) * (1 + compared)
    share = trainings * settings["epochs"] / work.epochs
    need = _scaled(finetuning(work), share, "operations", "seconds")
    return dataclasses.replace(need, seconds=_LOADING + need.seconds, disk=0.0)


def subnetworks(work: Work) -> Need:
    """The search for a subnetwork, and predictions with it, with others, and with fewer weights."""
    examples = min(work.train, int(work.config["subnetworks"]["examples"]))
    steps = most_steps(work.model.layers)
    searched = steps * 2 * work.forward(examples)  # half of them also backward
    predicted = _subnetworks(work) * work.forward(work.validation)
    texts = work.encoding(_rows(work))
    return _with_model(
        work,
        16,
        texts + work.kept(32),
        host=_IMPORTS_MB + texts + work.megabytes(8),
        operations=(searched + predicted) / work.pace,
        seconds=_LOADING + 1,
    )


def subnetwork_scoring(work: Work) -> Need:
    """Intervals of subnetworks."""
    tasks = work.config["subnetworks"]["tasks"]
    one = _scored(work.config, tasks, lambda each: 2 * _subnetworks(each))
    pairs = math.comb(len(tasks) + 1, 2) * (0.2 + 0.002 * work.all_heads)
    return dataclasses.replace(one, seconds=one.seconds + pairs)


def _subnetworks(work: Work) -> int:
    """The whole model, subnetworks, and models with fewer weights."""
    return 3 + int(work.config["subnetworks"]["draws"])


def important_heads(work: Work) -> Need:
    """Rank correlations of importance with all measures of heads, of all tasks."""
    seconds = 1 + len(work.config["tasks"]) * (0.5 + 0.01 * work.all_heads)
    return Need(memory=600, start=_START_OF_TABLES, seconds=seconds)


def compression(work: Work) -> Need:
    """Compressed models, all in memory: each is scored, and timed several times."""
    models, repetitions = _compressed(work), work.config["compression"]["repetitions"]
    examples = models * (work.validation + repetitions * (_TIMED + 1))
    factors = (
        len(work.config["compression"]["amounts"].get("rank", ()))
        * _FACTORISED
        * work.model.vocabulary
    )
    return _with_model(
        work,
        28,
        work.encoding(work.validation),
        operations=work.forward(examples) + factors * work.model.hidden**2,
        seconds=_LOADING + 1e-5 * models * work.validation,
    )


def compressed_models(work: Work) -> Need:
    """Exporting every compressed model."""
    models = _compressed(work)
    return _with_model(
        work, 24, 400, seconds=_LOADING + 10 * models, disk=models * work.megabytes(4)
    )


def _compressed(work: Work) -> int:
    """The whole model, that of 8 bits, the control, and those of every configured amount."""
    return 3 + sum(map(len, work.config["compression"]["amounts"].values()))


def resetting(work: Work) -> Need:
    """A model with sets of layers reset, one after the other."""
    settings = work.config["landscape"]
    scored = min(work.validation, int(settings["examples"] or work.validation))
    outputs = 8 * _reset_sets(work) * scored / MB
    return _with_model(
        work,
        24,
        500 + outputs + work.encoding(scored),
        host=_IMPORTS_MB + 400 + work.megabytes(12) + outputs,
        operations=_reset_sets(work) * work.forward(scored) / work.pace,
        seconds=2 * _LOADING,
        disk=outputs,
    )


def flatness(work: Work) -> Need:
    """Hessian products, searches for the greatest loss nearby, and losses in random directions.

    They are of all models of a task, one after the other.
    """
    settings = work.config["landscape"]["flatness"]
    products = 2 * (settings["probes"] + settings["iterations"] + 1)
    climbed = 2 * _STARTS_OF_SHARPNESS * settings["ascent"] * (3 + 2)  # a gradient, some losses
    passes = _PASSES_OF_PRODUCT * products + climbed + 2 * settings["directions"]
    models = 2 * (_models(work) - 2)  # of both states
    scored = min(max(work.train, work.validation), int(settings["examples"]))
    vectors = (settings["iterations"] + 10) * work.megabytes(4)
    return _with_model(
        work,
        12,
        400 + vectors + 2 * work.kept(16),
        host=_IMPORTS_MB + 400 + vectors,
        operations=models * passes * work.forward(scored) / work.pace,
        seconds=2 * models * _LOADING,
    )


def reset_scoring(work: Work) -> Need:
    """Intervals and tests of everything reset, of all models."""
    settings = work.config["landscape"]
    one = _scored(work.config, settings["tasks"], lambda each: _reset_sets(each))
    return _scaled(one, len(settings["states"]), "seconds")


def surface(work: Work) -> Need:
    """Losses on a plane and a line, with the models that span them in memory."""
    settings = work.config["landscape"]["surface"]
    points = int(settings["grid"]) * (int(settings["grid"]) + 2)
    examples = min(work.validation, int(settings["examples"]))
    examples += min(work.train, int(settings["examples"]))
    texts = work.encoding(_rows(work))
    return _with_model(
        work,
        12,
        300 + texts,
        host=_IMPORTS_MB + texts + work.megabytes(24),
        operations=points * work.forward(examples) / work.pace,
        kind="training",  # as fast, in mixed precision
        seconds=5 * _LOADING + points * (_SUMMED * work.model.weights + _BATCH),
        disk=150e-6 * points,
    )


def _reset_sets(work: Work) -> int:
    """Layers up to each, from each and each alone, and thirds of them."""
    return 3 * work.model.layers + 3


def _pruned(work: Work) -> Need:
    sets = _pruned_sets(work)
    return _all_sets(work, sets, _PASSES_OF_JOINT * sets)


def _pruned_sets(work: Work) -> int:
    """Prefixes of all orders, and the least important heads of each layer."""
    layers, heads = work.model.layers, work.model.heads
    draws = int(work.config["importance"]["pruning"]["draws"])
    return 1 + len(pruning_counts(layers * heads)) * (draws + 8) + layers * (heads - 1)


def _of_importance(work: Work) -> int:
    return min(work.train, int(work.config["importance"]["examples"]))


def _with_ties(need: Need, share: float = _UNSURE[0]) -> Need:
    """Need of a sweep with what is computed again where rounding could change a prediction."""
    return _scaled(need, 1 + share, "operations")


def scoring(work: Work) -> Need:
    """Intervals and tests of every disabled set, of all sweeps; and effects over seeds."""
    config = work.config
    tasks, states = config["ablation"]["tasks"], len(config["ablation"]["states"])
    one, over_seeds = _scored(config, tasks, _tested_sets), comparing(work)
    seconds = states * one.seconds + over_seeds.seconds
    return dataclasses.replace(one, memory=max(one.memory, over_seeds.memory), seconds=seconds)


def _tested_sets(work: Work) -> int:
    return _sets(work)


def _scored(config: Mapping[str, Any], tasks: Iterable[str], sets: Callable[[Work], int]) -> Need:
    """Intervals of the fine-tuned models of tasks, one after the other, under some sets each."""
    memory = seconds = 0.0
    for work, seeds in ((work_of(config, task), seeds_of(config, task)) for task in tasks):
        pairs = sets(work) * work.validation
        correlations = (0.1 * sets(work) + 1.8e-4 * pairs) * work.regression
        memory = max(memory, 450 + 3e-5 * pairs)
        seconds += (1e-5 * pairs + correlations) * seeds
    return Need(memory, start=_START_OF_TABLES, seconds=seconds)


def comparing(work: Work) -> Need:
    """Comparing the sweeps of all seeds of the largest task."""
    config = work.config
    seeds = {task: seeds_of(config, task) for task in config["ablation"]["tasks"]}
    most = max(examples(config, task)[1] * seeds[task] for task in seeds)
    pairs, models = _sets(work) * most, sum(seeds.values())
    seconds = 1 + 2e-5 * pairs + _PER_MODEL * models
    return Need(memory=450 + 3e-5 * pairs, start=_START_OF_TABLES, seconds=seconds)


def classification(work: Work) -> Need:
    """Classifying the pattern of every map of a store."""
    maps = work.all_heads * work.sample
    return Need(
        400 + 120 * maps / MB,
        start=_START_OF_CLASSIFIER,
        seconds=_LOADING_CLASSIFIER + maps / _MAPS_PER_SECOND,
        disk=6 * maps / MB,
    )


def cross_validation(work: Work) -> Need:
    """Cross-validating the classifier of patterns, and the network that it is compared with."""
    settings = work.config["patterns"]
    epochs = settings["epochs"] * (settings["folds"] + _LABELLED_ENCODERS)
    seconds = _EPOCH_OF_FOLD * epochs + _FEATURES
    return Need(700, start=_START_OF_CLASSIFIER, seconds=seconds)


def classifier_training(_: Work) -> Need:
    """Training the classifier of patterns on all labelled maps."""
    return Need(600, start=_START_OF_CLASSIFIER, seconds=_FEATURES)


def links(work: Work) -> Need:
    """Reading the frame-semantic links."""
    if work.config["framenet"]["source"] == "nltk":  # 13,000 files; not measured
        return Need(2500, seconds=1200)
    return Need(_TABLE_MB, seconds=8)


def _rows(work: Work) -> int:
    return work.train + work.validation


def table(memory: float = 0.0, *, seconds: float = 0.0, disk: float = 0.0) -> Need:
    """Reading and writing tables; `memory` and `seconds` are in addition to pandas."""
    return Need(_TABLE_MB + memory, start=_START_OF_TABLES, seconds=seconds, disk=disk)


def dataset(work: Work) -> Need:
    """Reading and checking a task's examples from any source."""
    rows = _rows(work)
    return table(1.5e-3 * rows, seconds=0.5 + 4e-5 * rows, disk=3e-4 * rows)


def baselines(work: Work) -> Need:
    """The bag-of-words baseline on every task, compared with models; scikit-learn is imported."""
    rows = [_rows(work_of(work.config, task)) for task in work.config["tasks"]]
    memory = _TABLE_MB + 5e-3 * max(rows)
    compared = comparing_scores(work).seconds / 5  # of one state of the model instead of four
    return Need(memory, start=2 * _START_OF_TABLES, seconds=2.5e-4 * sum(rows) + compared)


def pretrained_model(work: Work) -> Need:
    """Fetching, reading and writing a model."""
    seconds = 25 if work.config["model"]["source"] == "hub" else 0
    return _with_model(work, 12, seconds=seconds, disk=work.megabytes(4))


def look(work: Work) -> Need:
    """One pass of text through an encoder, and classifying the patterns of its maps."""
    maps, patterns = all_maps(work), classification(work)
    return dataclasses.replace(
        maps,
        memory=max(maps.memory, patterns.memory),
        start=max(maps.start, patterns.start),
        seconds=maps.seconds + patterns.seconds,
        disk=maps.disk + patterns.disk,
    )


def look_measures(work: Work) -> Need:
    """Parsing text, and measuring its maps."""
    need = annotation(work)
    return dataclasses.replace(need, seconds=need.seconds + measures(work).seconds)


def annotation(work: Work) -> Need:
    """Tagging and parsing the sampled sentences; those of the built-in corpus are annotated."""
    seconds = work.parsed * (2 + 0.008 * work.sample)
    return Need(700, start=_START_OF_TABLES, seconds=seconds)


def atlas_maps(work: Work) -> Need:
    """Mean maps of every model, and two passes more over those of a task to choose examples."""
    passes = [
        (seeds_of(work.config, task) + 3) * work_of(work.config, task).maps
        for task in work.config["tasks"]
    ]
    return table(seconds=sum(passes) / _MAP_BYTES_PER_SECOND)


def measuring(work: Work) -> Need:
    """All measures of the maps of a task's models, their patterns and similarities.

    The maps of random weights are made for it.
    """
    models, one = _models(work), all_maps(work)
    patterns = classification(work)
    seconds = measures(work).seconds + patterns.seconds + 3 * work.maps / _MAP_BYTES_PER_SECOND
    return dataclasses.replace(
        one,
        memory=max(one.memory, _IMPORTS_MB + patterns.memory),
        seconds=one.seconds + models * seconds,
        disk=models * patterns.disk,
        passing=one.disk,
    )


def measures(work: Work) -> Need:
    """All measures of the maps of a store."""
    return table(seconds=_ALL_MEASURES + work.maps / _MAP_BYTES_PER_SECOND)


def profiles_of_run(work: Work) -> Need:
    """Comparing models by the attention of every example, which is kept for all tasks at once."""
    models = sum(2 + seeds_of(work.config, task) for task in work.config["tasks"])
    numbers = _PER_EXAMPLE * work.model.layers * work.sample * models
    return table(2 * 8 * numbers / MB, seconds=2.5 + numbers / _EXAMPLES_PER_SECOND)


def comparing_scores(work: Work) -> Need:
    """Resampling the scores of all tasks, seeds and states of the model together."""
    models = sum(seeds_of(work.config, task) for task in work.config["tasks"])
    predictions = models * work.validation
    return table(300, seconds=3.5 + 4e-5 * predictions)


def _pairs(work: Work) -> int:
    """Pairs of heads of a model."""
    return math.comb(work.all_heads, 2)


def _models(work: Work) -> int:
    """Models of a task whose maps are compared: pre-trained, fine-tuned, with random weights."""
    return 2 + max(seeds_of(work.config, task) for task in work.config["tasks"])


def redundancy(work: Work) -> Need:
    """Distances between the heads of one task's models, on a sample of the examples; their types.

    The maps of random weights are made for it.
    """
    models, one = _models(work), all_maps(work)
    cells = work.maps / (2 * work.all_heads)  # of a head; 2 bytes each
    compared = models * min(_pairs(work) * cells, WORK)
    kept = 2 * 8 * _pairs(work) * work.sample / MB
    read = models * measures(work).seconds
    return dataclasses.replace(
        one,
        memory=max(one.memory, _IMPORTS_MB + kept),
        seconds=one.seconds + read + compared / _COMPARED_PER_SECOND,
        disk=0.0,
        passing=one.disk,
    )


def redundancy_tables(work: Work) -> Need:
    """Comparing models by types of heads, and by distances between heads."""
    models = len(work.config["tasks"]) * _models(work)
    pairs, heads = _pairs(work), work.all_heads
    types = 7 * heads * (3 * 8 * 1000 + 12 * work.sample + 1000 * models) / MB
    return table(
        types + 400 + 2e-4 * models * pairs,
        seconds=2.5 + models * (0.15 + 1e-7 * 7 * heads * work.sample + 3e-5 * pairs),
    )


def norms(work: Work) -> Need:
    """One pass of the sample through every model of a task, of which sums are kept."""
    one, longest = all_maps(work), work.config["fine_tuning"]["max_length"]
    tokens = longest * work.config["attention"]["batch_size"]
    vectors = 8 * tokens * work.model.heads * work.model.hidden / MB
    need = dataclasses.replace(one, memory=one.memory + vectors, disk=0.0)
    return _scaled(need, _models(work), "operations", "seconds")


def alternatives(work: Work) -> Need:
    """One pass of the sample through all models of a task together, measured in several ways."""
    models, others = _models(work), _others(work)
    one, of_norms = all_maps(work), norms(work)
    longest = work.config["fine_tuning"]["max_length"]
    of_example = 2 * work.all_heads * longest**2 * models * others
    of_pass = min(_PASS_BYTES, of_example * work.config["attention"]["batch_size"])
    measured = models * others * work.maps / _OPINION_BYTES_PER_SECOND
    return Need(
        memory=of_norms.memory + (4 * (models - 1) * work.model.weights + 2 * of_pass) / MB,
        operations=models * one.operations,
        start=_START,
        seconds=_LOADING + _PER_MODEL * models + measured,
    )


def framenet_heads(work: Work) -> Need:
    """The maps of two models on the sentences with frame-semantic links, and their heads."""
    one = all_maps(work)
    return dataclasses.replace(one, seconds=one.seconds + _HEADS_ALONG_LINKS)


def linked_alternatives(work: Work) -> Need:
    """The same on the sentences with frame-semantic links, of two models."""
    need = alternatives(work)
    return dataclasses.replace(need, seconds=2 * _HEADS_ALONG_LINKS + need.seconds)


def alternatives_of_run(work: Work) -> Need:
    """Comparing models by every other measure."""
    one = _scaled(profiles_of_run(work), _others(work), "seconds")
    return dataclasses.replace(one, memory=one.memory + 300)


def _others(work: Work) -> int:
    """Measures of attention besides its weights."""
    return len(work.config["attention_measures"]["measures"])


def treebank(work: Work) -> Need:
    """Reading a treebank."""
    return table(seconds=1 + 0.002 * work.config["syntax"]["sentences"])


def syntax(work: Work) -> Need:
    """Two passes over a treebank; then fits of probes to some word maps, which are in memory."""
    both, one, treebank = _read_treebank(work), all_maps(work), work.config["syntax"]
    count = min(treebank["probed"], treebank["sentences"])
    cells = _WORDS_OF_SENTENCE**2 * count * work.all_heads
    return dataclasses.replace(
        both,
        memory=max(both.memory, one.memory + 4 * 2 * 2 * cells / MB),
        operations=both.operations + 2 * work.forward(count),
        seconds=both.seconds + 2 * one.seconds + 5 + 3e-6 * cells,
    )


def _read_treebank(work: Work) -> Need:
    """Two passes over a treebank, and statistics of its pairs of words and of what heads find."""
    one, count = all_maps(work), work.config["syntax"]["sentences"]
    heads = work.all_heads
    words = _WORDS_OF_SENTENCE * count
    pairs = _WORDS_OF_SENTENCE**2 * count
    return Need(
        memory=one.memory + (60 * words * heads + 150 * pairs + 2e4 * count) / MB,
        operations=2 * work.forward(count),
        start=_START,
        seconds=2 * (one.seconds + 4e-6 * words * heads),
    )


def coreference(work: Work) -> Need:
    """Two passes over texts, and the choices of all heads among expressions."""
    one, count = all_maps(work), work.config["syntax"]["coreference"]["texts"]
    heads = work.all_heads
    return Need(
        memory=one.memory + 200 * count * heads / MB,
        operations=2 * work.forward(count),
        start=_START,
        seconds=2 * (one.seconds + count * (4e-3 + 3e-5 * heads)),
    )


def faithfulness(work: Work) -> Need:
    """A forward and two backward passes through every model of a task; then erased tokens."""
    settings, one = work.config["faithfulness"], all_maps(work)
    examples, erased = (min(work.sample, int(settings[name])) for name in ("examples", "erased"))
    passes = 5 * examples + _ERASED * erased
    return Need(
        memory=one.memory + work.kept(work.config["attention"]["batch_size"]),
        operations=_models(work) * work.forward(passes) / work.pace,
        start=_START,
        seconds=_models(work) * (_LOADING + _RANKINGS * examples),
    )


def shares(work: Work) -> Need:
    """Shares of the patterns of all models, with intervals and tests, and their stripes."""
    return table(300, seconds=2 * _PER_MODEL * len(work.config["tasks"]) * _models(work))


READS_TABLES = Need(300, start=_START_OF_TABLES, seconds=_TABLE_OR_FIGURE)
"""Need of every rule that declares no resources."""
LABELLING = table(seconds=10)
"""Drawing maps to label."""
FRAMENET = table(seconds=600, disk=900)
"""Downloading FrameNet; assumed, not measured."""
PRETRAINING = Need(3000, seconds=4000)


@dataclass(frozen=True)
class Asked:
    """Resources that the jobs of a rule request; memory and time double with every attempt.

    Attributes:
        need: Need of a job, or a function that computes it from the job's work.
        config: A resolved configuration.
        gpus: GPUs per job.
        data: Whether the jobs depend on the data of tasks; if not, their work is that of `text`.
    """

    need: Need | Callable[[Work], Need]
    config: Mapping[str, Any]
    gpus: int
    data: bool = True

    def of(self, task: str | None) -> Need:
        """Need of one job; `task` is None if it belongs to no task."""
        if isinstance(self.need, Need):
            return self.need
        work = work_of(self.config, task) if self.data else work_of_text(self.config)
        return self.need(work)

    def resources(self) -> dict[str, Any]:
        """The resources of a rule; ``gpu`` is left out if there are none.

        Kubernetes would treat 0 GPUs as a request.
        """
        asked = {"mem_mb": self.mem_mb, "runtime": self.runtime, "disk_mb": self.disk_mb}
        return {**asked, "gpu": self.gpus} if self.gpus else asked

    def mem_mb(self, wildcards: Any, attempt: int) -> int:  # noqa: ANN401
        """Megabytes of memory."""
        return memory_asked(self.of(wildcards.get("task")), gpu=self.gpus > 0) << attempt - 1

    def runtime(self, wildcards: Any, attempt: int, threads: int) -> int:  # noqa: ANN401
        """Minutes."""
        return (
            minutes_asked(self.of(wildcards.get("task")), threads, gpu=self.gpus > 0) << attempt - 1
        )

    def disk_mb(self, wildcards: Any) -> int:  # noqa: ANN401
        """Megabytes of disk."""
        return disk_asked(self.of(wildcards.get("task")))


def work_of(config: Mapping[str, Any], task: str | None) -> Work:
    """The work of a task; for a job that belongs to none, that of the run's largest task."""
    if task is None:
        works = (work_of(config, name) for name in config["tasks"])
        return max(works, key=lambda work: work.maps)
    train, validation = examples(config, task)
    size, _ = size_of(config)
    entry = config["tasks"][task]
    own = "files" in entry or "hub" in entry
    pair, single = _TOKENS if own else _TOKENS_OF_BUILTIN
    return Work(
        model=size,
        train=train,
        validation=validation,
        sample=min(validation, config["samples"]["size"]),
        tokens=pair if len(entry["text"]) == 2 else single,
        regression="range" in entry,
        parsed=own,
        epochs=entry["epochs"],
        config=config,
    )


def work_of_text(config: Mapping[str, Any]) -> Work:
    """The work of a look at the configuration's text; every example may have the full length."""
    number = 0 if config["text"] is None else len(texts.read(config["text"]))
    size, _ = size_of(config)
    return Work(
        model=size,
        train=0,
        validation=number,
        sample=number,
        tokens=config["fine_tuning"]["max_length"],
        parsed=config["inspect"]["parse"] != "off",
        config=config,
    )


def seeds_of(config: Mapping[str, Any], task: str) -> int:
    """Number of a task's fine-tuning seeds."""
    return len(config["tasks"][task]["seeds"])


def examples(config: Mapping[str, Any], task: str) -> tuple[int, int]:
    """Numbers of training and validation examples: as configured, counted, or as published."""
    entry = config["tasks"][task]
    if "files" in entry:
        train, validation = (
            _lines(Path(entry["files"][split])) for split in ("train", "validation")
        )
        return train, validation
    train, validation = entry.get("size", _ON_HUB)
    return train, validation


_lines = functools.cache(files.lines)


def size_of(config: Mapping[str, Any]) -> tuple[Size, bool]:
    """Size of the run's encoder, and whether it is known.

    A model on the Hub that has not been fetched yet is assumed to have BERT-base's size.
    """
    fetched = results_folder(config) / "models" / "pretrained"
    file = config_file(config["model"], fetched)
    return (read_size(file), True) if file else (BERT_BASE, False)


def memory_asked(needed: Need, *, gpu: bool) -> int:
    """Megabytes of host memory to request, in steps of 100."""
    memory = needed.memory if needed.host is None or not gpu else needed.host
    return 100 * math.ceil((MARGIN_OF_MEMORY * (memory + gpu * _CUDA_MB) + _SNAKEMAKE_MB) / 100)


def minutes_asked(needed: Need, threads: int, *, gpu: bool) -> int:
    """Minutes to request, in steps of 5."""
    return 5 * math.ceil((MARGIN_OF_TIME * needed.time(threads, gpu=gpu) / MINUTE + 2) / 5)


def disk_asked(needed: Need) -> int:
    """Megabytes of disk to request: what the job leaves, plus what it needs while it runs."""
    return math.ceil(needed.disk + needed.passing)


def disk_needed(config: Mapping[str, Any], *, looking: bool = False) -> int:
    """Bytes that a whole run leaves: its data, models and attention maps.

    Not included: checkpoints while trainings run, and maps of
    random weights until they are measured.

    Args:
        config: A resolved configuration.
        looking: Whether the run only looks at text.
    """
    text = work_of_text(config)
    total = pretrained_model(text).disk
    if looking:
        return int((total + all_maps(text).disk) * MB)
    for task in config["tasks"]:
        work, seeds = work_of(config, task), seeds_of(config, task)
        total += dataset(work).disk + 2 * seeds * finetuning(work).disk
        total += (1 + seeds) * all_maps(work).disk
    return int(total * MB)
