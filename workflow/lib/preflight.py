"""Checks before the first job: a run that cannot succeed stops here, with a message.

Each section of the paper has its own checks, in the module ``preflight`` of its package.
"""

from __future__ import annotations

import math
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from darksecrets.ablation import preflight as ablation
from darksecrets.data import preflight as data
from darksecrets.finetuning import preflight as finetuning
from darksecrets.framenet import preflight as framenet
from darksecrets.importance import preflight as importance
from darksecrets.landscape import preflight as landscape
from darksecrets.models import preflight as models
from darksecrets.norms import preflight as norms
from darksecrets.patterns import preflight as patterns
from darksecrets.run.errors import InputError
from darksecrets.run.files import write_text
from darksecrets.subnetworks import preflight as subnetworks
from darksecrets.syntax import sources as treebanks
from darksecrets.text import preflight as text
from workflow.lib import configuration, resources

#: What a run may have to leave out, and how to find why; the record is a file of the key's name,
#: which is there only if it does.
LEFT_OUT = {
    "left_out": ablation.left_out,
    "norms_left_out": norms.left_out,
    "landscape_left_out": landscape.left_out,
}
DERIVED = (*LEFT_OUT, "most_seeds", "only_outputs_kept")
"""Keys that the workflow adds to a resolved configuration."""

#: Checks of plans and runs: local files and models.
OF_A_PLAN = (
    *(data.check, framenet.check, treebanks.check, patterns.check, models.check),
    finetuning.check,
    *(ablation.check, importance.check, subnetworks.check, landscape.check),
)
#: The same for the target `look`, which needs neither data nor a model that can be changed.
OF_A_LOOK = (text.check, patterns.check, models.check)
#: Checks of runs only, which query the Hub or its cache.
OF_A_RUN = (data.check_hub, models.check_hub)


def check(config: Mapping[str, Any], *, looking: bool = False) -> None:
    """Check the configuration, the data files and the model, for plans and runs.

    Args:
        config: A resolved configuration.
        looking: Whether only what the target `look` needs is checked.

    Raises:
        InputError: At the first problem that would make a job fail.
    """
    if not os.access(Path.cwd(), os.W_OK):
        raise InputError(
            f"{Path.cwd()}: cannot write here, where Snakemake keeps its records (.snakemake). "
            "Start in a folder that you may write to, or name one with --directory."
        )
    results = configuration.results_folder(config)
    configuration.check_results_folder(config, results, needs_data=not looking)
    if not looking:
        configuration.check_places(config)
    for check_section in OF_A_LOOK if looking else OF_A_PLAN:
        try:
            check_section(config)
        except OSError as error:  # no permission, a name that is too long, a broken disk
            raise InputError(
                f"{error.filename}: cannot be read ({error.strerror}), expected a file or folder "
                "that you may read. Correct the path, or its permissions."
            ) from None
    if not looking:
        check_chunks(config)
        check_warmup(config)


def check_warmup(config: Mapping[str, Any]) -> None:
    """Check that every training is longer than the warm-up, and so reaches its learning rate.

    Raises:
        InputError: Names the task with the shortest training.
    """
    settings, warmup = config["fine_tuning"], config["fine_tuning"]["warmup_steps"]
    gates = config["importance"]["learned_gates"]
    updates = {
        task: math.ceil(resources.examples(config, task)[0] / settings["batch_size"])
        * min(entry["epochs"], gates["epochs"] if task in gates["tasks"] else entry["epochs"])
        for task, entry in config["tasks"].items()
    }
    task = min(updates, key=lambda name: updates[name])
    if warmup is not None and warmup >= updates[task]:
        raise InputError(
            f"fine_tuning.warmup_steps: found {warmup}, expected less than {updates[task]}, the "
            f"updates of the shortest training, on {task}: its learning rate would never reach "
            "fine_tuning.learning_rate. Lower it, or set fine_tuning.warmup, a share, instead."
        )


def check_chunks(config: Mapping[str, Any]) -> None:
    """Check that work is not split into more chunks than there are examples.

    Raises:
        InputError: Every task has fewer examples than chunks, so that some would always be empty.
    """
    validation = {task: resources.examples(config, task)[1] for task in config["tasks"]}
    swept = config["ablation"]["tasks"] if config["ablation"]["states"] else []
    least = {
        "attention.chunks": [
            min(config["samples"]["size"], count) for count in validation.values()
        ],
        "ablation.chunks": [validation[task] for task in swept],
    }
    for key, counts in least.items():
        section, name = key.split(".")
        if counts and config[section][name] > max(counts):
            raise InputError(
                f"{key}: found {config[section][name]}, expected at most {max(counts)}, the "
                "validation examples of the largest task: a chunk has at least one. Lower it."
            )


def check_surroundings(config: Mapping[str, Any], *, looking: bool = False) -> None:
    """Check what only a run needs, not a plan: disk space, and the Hub or its cache.

    Raises:
        InputError: If something is missing.
    """
    needed = resources.disk_needed(config, looking=looking)
    check_disk(configuration.results_folder(config), needed)
    for check_section in (models.check_hub,) if looking else OF_A_RUN:
        check_section(config)


def left_out(config: Mapping[str, Any]) -> dict[str, str]:
    """Why a run has to leave out the sweep, norms, and restored layers; empty if it does not."""
    fetched = configuration.results_folder(config) / "models" / "pretrained"
    return {key: find(config, fetched) for key, find in LEFT_OUT.items()}


def recorded_left_out(config: Mapping[str, Any]) -> dict[str, str]:
    """The same, as the run that started this job has found it."""
    records = {key: _record(config, key) for key in LEFT_OUT}
    return {
        key: record.read_text(encoding="utf-8") if record.is_file() else ""
        for key, record in records.items()
    }


def _record(config: Mapping[str, Any], key: str) -> Path:
    return configuration.results_folder(config) / f"{key}.txt"


def record_run(config: Mapping[str, Any], *, looking: bool = False) -> None:
    """Record the resolved configuration, the origin of data and model, and what is left out.

    A look at text records only the model, and changes nothing that a run has recorded.

    Args:
        config: A resolved configuration, and what `left_out` has found.
        looking: Whether all jobs are those of a look at text.
    """
    results, origin = configuration.results_folder(config), configuration.origin(config)
    record = results / "origin.json"
    if looking:
        if not record.is_file():
            configuration.record_origin({"model": origin["model"]}, record)
        return
    given = {key: value for key, value in config.items() if key not in DERIVED}
    write_text(yaml.safe_dump(given, sort_keys=False), results / "config.yaml")
    configuration.record_origin(origin, record)
    for key in LEFT_OUT:
        if config[key]:
            write_text(config[key], _record(config, key))
        else:
            _record(config, key).unlink(missing_ok=True)


def check_disk(results: Path, needed: int) -> None:
    """Check that ``results`` is writable and has enough free space.

    Raises:
        InputError: Names the folder, the space found and the space expected.
    """
    folder = next(path for path in (results, *results.absolute().parents) if path.exists())
    if not os.access(folder, os.W_OK):
        raise InputError(f"{results}: cannot write to {folder}. Use a folder you may write to.")
    made = sum(path.stat().st_size for path in results.rglob("*") if path.is_file())
    free = shutil.disk_usage(folder).free
    if free < needed - made:
        raise InputError(
            f"{results}: found {free / 1e9:.1f} GB of free disk space, expected about "
            f"{(needed - made) / 1e9:.1f} GB. Free some, or run fewer tasks or seeds, or lower "
            "samples.size."
        )
