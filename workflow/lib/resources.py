"""Memory, time and disk of jobs, in five classes; both double with every attempt.

Times assume a slow core, and include a margin. `set-resources` in a profile overrides them for a
rule; docs/resources.md has what rules were measured to take. Nothing here needs torch.
"""

from __future__ import annotations

import functools
import math
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any, Literal

from darksecrets.core.data import files
from darksecrets.core.models.size import BERT_BASE, Size, config_file, read_size
from workflow.lib.configuration import results_folder

Kind = Literal["train", "forward", "load", "sweep", "tables"]
"""Jobs that train a model, that run one over examples, that only load one, that disable its heads
one after the other, and that only read and write tables."""

MB = 10**6
ON_HUB = (50_000, 5_000)
"""Training and validation examples of a task on the Hub whose entry has no `size`."""
TOKENS = 60
"""Word pieces of an example."""
CUDA = 10**9
"""Bytes of GPU memory that CUDA and its libraries take in every process, about."""
LIBRARIES = 2000
"""Megabytes of Python with torch, transformers and pandas, and of Snakemake beside it."""
CORE, GPU = 3e10, 3e12
"""Operations in a second: of a core, and of a GPU."""
PASSES = 30
"""Passes over the sampled examples that a job takes at most, per model."""


def ask(kind: Kind, config: Mapping[str, Any], *, gpus: int = 0) -> dict[str, Any]:
    """Resources of a rule, as functions that Snakemake calls for each of its jobs.

    Args:
        kind: Class of the rule.
        config: A resolved configuration.
        gpus: GPUs per job. Without any, there is no resource ``gpu``: Kubernetes would take 0 for
            a request.
    """
    memory, operations = KINDS[kind]

    def mem_mb(wildcards: Any, attempt: int) -> int:  # noqa: ANN401 - Snakemake's
        needed = LIBRARIES + memory(config, _tasks_of(config, wildcards))
        return 100 * math.ceil(needed / 100) << attempt - 1

    def runtime(wildcards: Any, attempt: int, threads: int) -> int:  # noqa: ANN401
        rate = GPU * gpus or CORE * threads
        minutes = operations(config, _tasks_of(config, wildcards)) / rate / 60
        return 10 * math.ceil(1 + minutes / 10) << attempt - 1

    asked = {"mem_mb": mem_mb, "runtime": runtime}
    return {**asked, "gpu": gpus} if gpus else asked


def _tasks_of(config: Mapping[str, Any], wildcards: Any) -> list[str]:  # noqa: ANN401
    """The task of a job; all tasks for one that belongs to none."""
    task = wildcards.get("task")
    return [task] if task else list(config["tasks"])


def _training_memory(config: Mapping[str, Any], tasks: list[str]) -> float:
    """Megabytes: those of a model and a batch, and the encoded texts."""
    texts = 250 * TOKENS * max(examples(config, task)[0] for task in tasks)
    return (_trained_bytes(config) + texts) / MB


def _trained_bytes(config: Mapping[str, Any]) -> int:
    """Bytes of weights, their gradients and averages, and of a batch."""
    settings, size = config["fine_tuning"], size_of(config)
    activations = size.activations(settings["batch_size"], settings["max_length"])
    return 20 * size.weights + round(activations)


def _trained(config: Mapping[str, Any], tasks: list[str]) -> float:
    """Operations: six per weight, token and training example, and two per validation example."""
    weighted = 0
    for task in tasks:
        train, validation = examples(config, task)
        weighted += config["tasks"][task]["epochs"] * (6 * train + 2 * validation)
    return weighted * TOKENS * size_of(config).encoder


def _maps_memory(config: Mapping[str, Any], _: list[str]) -> float:
    """Megabytes: some models, and the maps of a batch of the longest examples."""
    size, length = size_of(config), config["fine_tuning"]["max_length"]
    maps = size.layers * size.heads * length**2 * config["attention"]["batch_size"]
    return (24 * size.weights + 16 * maps) / MB


def _observed(config: Mapping[str, Any], tasks: list[str]) -> float:
    """Operations of passes over the sampled examples, by all models of a task."""
    rows = [min(examples(config, task)[1], config["samples"]["size"]) for task in tasks]
    models = 2 + max(len(config["tasks"][task]["seeds"]) for task in tasks)
    return 2 * PASSES * models * max(rows) * TOKENS * size_of(config).encoder


def _sets_memory(config: Mapping[str, Any], tasks: list[str]) -> float:
    """Megabytes: a model, what threads compute of it, and the predictions of all sets."""
    predictions = 16 * _sets(config) * max(examples(config, task)[1] for task in tasks)
    return (24 * size_of(config).weights + predictions) / MB + 250 * config["threads"]


def _swept(config: Mapping[str, Any], tasks: list[str]) -> float:
    """Operations of two sweeps over every head and layer; most of a pass is shared by all sets."""
    passes = _sets(config) * max(examples(config, task)[1] for task in tasks)
    return 2 * passes * TOKENS * size_of(config).encoder


def _sets(config: Mapping[str, Any]) -> int:
    size = size_of(config)
    return 1 + size.layers * (size.heads + 1) + len(config["ablation"]["sets"])


def _tables_memory(config: Mapping[str, Any], _: list[str]) -> float:
    """Megabytes: numbers of every sampled example, layer and model, of all tasks together."""
    models = sum(2 + len(entry["seeds"]) for entry in config["tasks"].values())
    return 2000 * config["samples"]["size"] * size_of(config).layers * models / MB


def _hour(_config: Mapping[str, Any], _tasks: list[str]) -> float:
    """Operations of an hour, whatever the run."""
    return 3600 * CORE


Formula = Callable[[Mapping[str, Any], list[str]], float]
KINDS: Mapping[Kind, tuple[Formula, Formula]] = {
    "train": (_training_memory, _trained),
    "forward": (_maps_memory, _observed),
    "load": (_maps_memory, _hour),
    "sweep": (_sets_memory, _swept),
    "tables": (_tables_memory, _hour),
}
"""Megabytes of memory, besides the libraries, and operations of each class."""


def examples(config: Mapping[str, Any], task: str) -> tuple[int, int]:
    """Numbers of training and validation examples: as configured, counted, or as published.

    Files that are not there count as a task on the Hub: a look at text needs no data.
    """
    entry = config["tasks"][task]
    if "files" in entry:
        counts = [_lines(Path(entry["files"][split])) for split in ("train", "validation")]
    else:
        counts = entry.get("size", ON_HUB)
    train, validation = counts
    return train, validation


@functools.cache
def _lines(file: Path) -> int:
    return files.lines(file) if file.is_file() else max(ON_HUB)


def size_of(config: Mapping[str, Any]) -> Size:
    """Size of the run's encoder; of one on the Hub that is not fetched yet, that of BERT-base."""
    fetched = results_folder(config) / "models" / "pretrained"
    file = config_file(config["model"], fetched)
    return read_size(file) if file else BERT_BASE


def gpu_memory_needed(config: Mapping[str, Any]) -> int:
    """Bytes of GPU memory that a training takes."""
    return _trained_bytes(config) + CUDA


def disk_needed(config: Mapping[str, Any], *, looking: bool = False) -> int:
    """Bytes of the models and attention maps that a whole run leaves.

    Args:
        config: A resolved configuration.
        looking: Whether the run only looks at text.
    """
    size = size_of(config)
    model = 4 * size.weights
    if looking:
        return model
    total = model
    for task, entry in config["tasks"].items():
        sample = min(examples(config, task)[1], config["samples"]["size"])
        maps = 2 * size.layers * size.heads * TOKENS**2 * sample
        total += 2 * len(entry["seeds"]) * model + (2 + len(entry["seeds"])) * maps
    return total
