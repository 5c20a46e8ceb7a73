"""What the jobs of a run cost: memory, time and disk, from measured constants.

A job's need is a formula in the examples of its task and the size of the model. Its constants
were read off the benchmark files of finished runs and off ``benchmarks/stages.py``;
``docs/resources.md`` shows asked against used. What a job asks for is its need with a margin; one
that takes more all the same is sent again with twice as much. Nothing here needs torch.

Arithmetic is counted as is usual for transformers: 2 operations per weight of the encoder and token
forward, 6 for a training step.
"""

from __future__ import annotations

import dataclasses
import functools
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from darksecrets.data import sources
from darksecrets.data.tasks import TASKS
from darksecrets.models import checkpoints

MARGIN_OF_MEMORY = 1.3
MARGIN_OF_TIME = 6.0
"""Processors without fast bfloat16 train three times as slowly as those that were measured, and
other work on the same machine doubles that."""

MB, MINUTE = 10**6, 60

# Word pieces of an example, careful means over the tasks: sentence pairs, single sentences.
_TOKENS_OF_PAIR, _TOKENS_OF_ONE = 60, 26
_IMPORTS_MB = 520  # torch and transformers in one process
_CUDA_MB = 3500  # CUDA's libraries and pinned memory; assumed, not measured
_ENCODED = 250  # bytes of a token while texts are encoded
_TABLE_MB = 180  # pandas
_SNAKEMAKE_MB = 250  # of a scheduler's job, beside the script
_START = 6.0  # seconds until a model is loaded
_MAP_BYTES_PER_SECOND = 1.0e8  # statistics of stored maps, one core
_MAPS_PER_SECOND = 3000.0  # through the classifier of patterns, one core

#: Operations per second of one core (AVX-512 BF16; benchmarks/results/stages.md), and of a GPU.
#: Those of the GPU are careful assumptions: nothing has been measured on one. The sweep counts the
#: passes of a plain loop over all sets, of which it computes a part.
CORE = {"training": 2.0e11, "inference": 8.2e10, "sweep": 3.9e11}
GPU = {"training": 2.0e13, "inference": 8.0e12, "sweep": 2.0e13}


@dataclass(frozen=True)
class Model:
    """Size of an encoder of the BERT family."""

    layers: int
    heads: int
    hidden: int
    intermediate: int
    vocabulary: int

    @property
    def encoder(self) -> int:
        """Weights that every token is multiplied with."""
        return self.layers * (4 * self.hidden**2 + 2 * self.hidden * self.intermediate)

    @property
    def weights(self) -> int:
        """All weights; positions, biases and norms are too few to count."""
        return self.encoder + self.vocabulary * self.hidden

    def activations(self, examples: int, tokens: int) -> int:
        """Bytes that training keeps of a batch: per token 34 hidden units, and 8 maps' rows."""
        per_token = 34 * self.hidden + 8 * self.heads * tokens
        return 4 * examples * tokens * self.layers * per_token


BERT_BASE = Model(layers=12, heads=12, hidden=768, intermediate=3072, vocabulary=30522)


@dataclass(frozen=True)
class Work:
    """What one job has to do.

    Attributes:
        model: The encoder.
        train: Training examples of the task.
        validation: Validation examples.
        sample: Examples whose maps are studied.
        tokens: Mean length of an example.
        config: The run's resolved configuration.
    """

    model: Model
    train: int
    validation: int
    sample: int
    tokens: int
    config: Mapping[str, Any]

    @property
    def maps(self) -> int:
        """Bytes of the stored maps of one model."""
        return 2 * self.model.layers * self.model.heads * self.tokens**2 * self.sample

    def encoding(self, examples: int) -> float:
        """Megabytes that encoding the texts of examples takes."""
        return _ENCODED * self.tokens * examples / MB

    def forward(self, examples: int) -> float:
        """Operations of a pass over examples."""
        return 2.0 * self.model.encoder * self.tokens * examples


@dataclass(frozen=True)
class Need:
    """What a job takes, without margins.

    Attributes:
        memory: Megabytes.
        host: Megabytes where a GPU holds the rest; None, if it would not hold any.
        operations: Of the model, by the kind of ``CORE`` and ``GPU``; they use all threads.
        seconds: Else, on one core.
        disk: Megabytes that it leaves.
        passing: Megabytes on disk beside them while it runs.
    """

    memory: float
    host: float | None = None
    operations: float = 0.0
    kind: str = "inference"
    seconds: float = 0.0
    disk: float = 0.0
    passing: float = 0.0

    def time(self, threads: int, *, gpu: bool = False) -> float:
        """Seconds from start to end."""
        rate = GPU[self.kind] if gpu else CORE[self.kind] * threads
        return self.seconds + self.operations / rate


def _finetune(work: Work) -> Need:
    settings, model = work.config["fine_tuning"], work.model
    epochs, batch = settings["epochs"], settings["batch_size"]
    steps = epochs * math.ceil(work.train / batch)
    kept = (20 * model.weights + model.activations(batch, settings["max_length"])) / MB
    return Need(
        memory=_IMPORTS_MB + max(kept, work.encoding(work.train)),
        host=_IMPORTS_MB + work.encoding(work.train),
        operations=epochs * (3 * work.forward(work.train) + work.forward(work.validation)),
        kind="training",
        seconds=_START + 0.02 * steps,
        disk=4 * model.weights / MB,
        passing=24 * model.weights / MB,  # a checkpoint, and the one that takes its place
    )


def _predict(work: Work) -> Need:
    return Need(
        memory=_IMPORTS_MB + 8 * work.model.weights / MB + work.encoding(work.validation),
        operations=work.forward(work.validation),
        seconds=_START,
    )


def _all_maps(work: Work) -> Need:
    longest = work.config["fine_tuning"]["max_length"]
    of_batch = work.model.layers * work.model.heads * longest**2
    of_batch *= work.config["attention"]["batch_size"]
    return Need(
        memory=_IMPORTS_MB + (8 * work.model.weights + 6 * of_batch) / MB,
        operations=work.forward(work.sample),
        seconds=_START + work.maps / _MAP_BYTES_PER_SECOND,
        disk=work.maps / MB,
    )


def _extract(work: Work) -> Need:
    if work.config["attention"]["shards"] == 1:
        return _all_maps(work)
    return Need(  # it only puts the shards together
        memory=_IMPORTS_MB, seconds=_START + work.maps / _MAP_BYTES_PER_SECOND, disk=work.maps / MB
    )


def _sets(work: Work) -> int:
    return 1 + work.model.layers * (work.model.heads + 1) + len(work.config["ablation"]["sets"])


def _all_sets(work: Work) -> Need:
    predictions = 8 * _sets(work) * work.validation / MB
    texts = work.encoding(work.validation)
    return Need(
        memory=1350 + 15 * work.model.weights / MB + predictions + texts,
        host=_IMPORTS_MB + 8 * work.model.weights / MB + predictions + texts,
        operations=_sets(work) * work.forward(work.validation),
        kind="sweep",
        seconds=_START,
        disk=predictions,
    )


def _sweep(work: Work) -> Need:
    """Where parts have done it, what their bounds leave unsure is still computed here."""
    need = _all_sets(work)
    split = work.config["ablation"]["parts"] > 1
    return dataclasses.replace(need, operations=need.operations / 10) if split else need


def _piece(need: Need, pieces: int) -> Need:
    return dataclasses.replace(need, operations=need.operations / pieces, disk=need.disk / pieces)


def _score(work: Work) -> Need:
    pairs = _sets(work) * work.validation
    return Need(memory=450 + 3e-5 * pairs, seconds=5 + 0.4 * _sets(work) + 1e-5 * pairs)


def _classify(work: Work) -> Need:
    maps = work.model.layers * work.model.heads * work.sample
    return Need(400 + 120 * maps / MB, seconds=10 + maps / _MAPS_PER_SECOND, disk=6 * maps / MB)


def _collect_links(work: Work) -> Need:
    if work.config["framenet"]["source"] == "nltk":
        return Need(2500, seconds=1200)  # careful: FrameNet's 13,000 files; not measured
    return Need(_TABLE_MB, seconds=6)


def _rows(work: Work) -> int:
    return work.train + work.validation


#: Need of the rules that are more than reading and writing a table.
NEEDS: dict[str, Callable[[Work], Need]] = {
    "prepare_dataset": lambda work: Need(
        _TABLE_MB + 1.5e-3 * _rows(work), seconds=5 + 1e-4 * _rows(work), disk=3e-4 * _rows(work)
    ),
    "sample_examples": lambda _: Need(_TABLE_MB, seconds=3),
    "evaluate_baselines": lambda work: Need(
        _TABLE_MB + 5e-3 * _rows(work), seconds=5 + 6e-4 * _rows(work)
    ),
    "get_pretrained_model": lambda work: Need(
        _IMPORTS_MB + 12 * work.model.weights / MB, seconds=30, disk=4 * work.model.weights / MB
    ),
    "finetune": _finetune,
    "evaluate_pretrained": _predict,
    "extract_attention": _extract,
    "extract_attention_shard": lambda work: _piece(
        _all_maps(work), work.config["attention"]["shards"]
    ),
    "extract_framenet_attention": _all_maps,
    "compute_similarity": lambda work: Need(
        _TABLE_MB, seconds=3 + 2 * work.maps / _MAP_BYTES_PER_SECOND
    ),
    "annotate_examples": lambda work: Need(700, seconds=10 + 0.02 * work.sample),
    "measure_attention": lambda work: Need(
        _TABLE_MB, seconds=3 + work.maps / _MAP_BYTES_PER_SECOND
    ),
    "sample_maps": lambda _: Need(_TABLE_MB, seconds=10),
    "cross_validate_patterns": lambda _: Need(600, seconds=50),
    "train_pattern_classifier": lambda _: Need(450, seconds=15),
    "classify_maps": _classify,
    "estimate_pattern_shares": lambda _: Need(_TABLE_MB, seconds=30),
    "get_framenet": lambda _: Need(_TABLE_MB, seconds=600, disk=900),
    "collect_framenet_links": _collect_links,
    "compute_framenet_heads": lambda _: Need(_TABLE_MB, seconds=10),
    "pretrain_tiny_bert": lambda _: Need(3000, seconds=4000),
    "sweep_heads": _sweep,
    "sweep_heads_part": lambda work: _piece(_all_sets(work), work.config["ablation"]["parts"]),
    "score_ablation": _score,
}

READS_TABLES = Need(300, seconds=6)
"""Need of every other rule."""

_ON_GPU = frozenset(
    (
        "finetune",
        "evaluate_pretrained",
        "extract_attention",
        "extract_attention_shard",
        "extract_framenet_attention",
        "classify_maps",
        "sweep_heads",
        "sweep_heads_part",
    )
)


def need(rule: str, config: Mapping[str, Any], task: str | None) -> Need:
    """Need of one job of a rule.

    Args:
        rule: Its name.
        config: A resolved configuration.
        task: The job's task, if it has one.
    """
    return NEEDS[rule](work_of(config, task)) if rule in NEEDS else READS_TABLES


def work_of(config: Mapping[str, Any], task: str | None) -> Work:
    """How much a task is; the largest of the run for a job that belongs to none."""
    if task is None:
        return max((work_of(config, name) for name in config["tasks"]), key=lambda work: work.maps)
    train, validation = examples(config, task)
    return Work(
        model=size_of(config["model"]),
        train=train,
        validation=validation,
        sample=min(validation, config["samples"]["size"]),
        tokens=_TOKENS_OF_PAIR if TASKS[task].is_pair else _TOKENS_OF_ONE,
        config=config,
    )


def examples(config: Mapping[str, Any], task: str) -> tuple[int, int]:
    """Training and validation examples of a task: as configured, as published, or lines counted."""
    data = config["data"]
    if data["source"] == "builtin":
        return data["train"], data["validation"]
    if data["source"] == "hub":
        return TASKS[task].glue_sizes
    files = sources.tsv_files(TASKS[task], Path(data["folder"]))
    return _lines(files["train"]), _lines(files["validation"])


@functools.cache
def _lines(file: Path) -> int:
    with file.open("rb") as stream:
        return sum(1 for _ in stream) - 1  # the header


@functools.cache
def _size_of_folder(folder: Path) -> Model:
    settings = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    names = {  # and DistilBERT's words
        "layers": ("num_hidden_layers", "n_layers"),
        "heads": ("num_attention_heads", "n_heads"),
        "hidden": ("hidden_size", "dim"),
        "intermediate": ("intermediate_size", "hidden_dim"),
        "vocabulary": ("vocab_size", "vocab_size"),
    }
    found = {
        name: settings.get(usual, settings.get(other, getattr(BERT_BASE, name)))
        for name, (usual, other) in names.items()
    }
    return Model(**found)


def size_of(model: Mapping[str, Any]) -> Model:
    """Size of a model on this machine; BERT-base's for one to fetch."""
    return BERT_BASE if model["source"] == "hub" else _size_of_folder(checkpoints.folder_of(model))


def uses_gpu(rule: str, config: Mapping[str, Any]) -> bool:
    """Whether jobs of a rule can use a GPU; putting shards together cannot."""
    merges = rule == "extract_attention" and config["attention"]["shards"] > 1
    return rule in _ON_GPU and not merges


def memory_asked(needed: Need, *, gpu: bool) -> int:
    """Megabytes of the host to ask for, in steps of 100."""
    memory = needed.memory if needed.host is None or not gpu else needed.host
    return 100 * math.ceil((MARGIN_OF_MEMORY * (memory + gpu * _CUDA_MB) + _SNAKEMAKE_MB) / 100)


def minutes_asked(needed: Need, threads: int, *, gpu: bool) -> int:
    """Minutes to ask for, in steps of 5."""
    return 5 * math.ceil((MARGIN_OF_TIME * needed.time(threads, gpu=gpu) / MINUTE + 2) / 5)


def disk_asked(needed: Need) -> int:
    """Megabytes of disk to ask for: what is left, and what is there in between."""
    return math.ceil(needed.disk + needed.passing)


def disk_needed(config: Mapping[str, Any]) -> int:
    """Bytes that a whole run leaves: its data, models and attention maps.

    Checkpoints are beside them while trainings run, and shards until they are put together.
    """
    seeds = len(config["seeds"])
    jobs = {"prepare_dataset": 1, "finetune": 2 * seeds, "extract_attention": 1 + seeds}
    total = need("get_pretrained_model", config, None).disk
    for task in config["tasks"]:
        total += sum(count * need(rule, config, task).disk for rule, count in jobs.items())
    return int(total * MB)
