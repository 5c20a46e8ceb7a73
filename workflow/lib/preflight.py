"""What must hold before the first job: a run that cannot succeed stops here, with a message."""

from __future__ import annotations

import importlib.util
import logging
import os
import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import yaml

from darksecrets.data.tasks import TASKS
from darksecrets.run.errors import InputError
from darksecrets.run.files import write_json, write_text
from workflow.lib import configuration, resources

_log = logging.getLogger(__name__)


def check(config: Mapping[str, Any]) -> None:
    """Check the configuration, the data files and the model; a plan is checked, too.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: At the first thing that would make a job fail.
    """
    from darksecrets.data import sources
    from darksecrets.framenet import sources as framenet
    from darksecrets.models import checkpoints
    from darksecrets.patterns import annotations

    configuration.check_results_folder(config, configuration.results_folder(config))
    if config["data"]["source"] == "tsv":
        for task in config["tasks"]:
            sources.check_tsv(TASKS[task], Path(config["data"]["folder"]))
    framenet.check(config["framenet"])
    annotations.check(config["patterns"]["annotations"], config["patterns"]["folds"])
    importable = _can_import("safetensors", "torch", "transformers")
    if importable:
        checkpoints.check(config["model"])
    check_ablation(config["ablation"], config["model"], importable=importable)


def check_ablation(
    ablation: Mapping[str, Any], model: Mapping[str, Any], *, importable: bool = True
) -> None:
    """Check that the model has the heads to disable, and that they can be.

    A model on the Hub is checked when it has been fetched, before anything is trained.

    Args:
        ablation: Section ``ablation`` of a configuration.
        model: Section ``model``.
        importable: Whether torch is here.

    Raises:
        InputError: A selector names what the model lacks, or its attention cannot be reached.
    """
    from darksecrets.ablation import sets
    from darksecrets.models import checkpoints
    from darksecrets.models.selectors import Shape

    if not ablation["states"] or model["source"] == "hub":
        return
    size = resources.size_of(model)
    sets.check(ablation["sets"], Shape(size.layers, size.heads))
    if importable and model["source"] == "folder":  # the shipped one passes, or its tests fail
        from darksecrets.ablation import disable

        disable.check(checkpoints.folder_of(model))


def check_states(ablation: Mapping[str, Any]) -> None:
    """Check that a run disables heads at all, where results of that are asked for by name.

    Raises:
        InputError: It does not.
    """
    if not ablation["states"]:
        raise InputError(
            "This run disables no heads: found ablation.states: [], expected [finetuned] or more "
            "states. Change the configuration, or leave out Figures 8 and 9 and the other results "
            "of section 4.6."
        )


def check_surroundings(config: Mapping[str, Any]) -> None:
    """Check what a plan does not need but a run does: disk space, and the Hub or its cache.

    Raises:
        InputError: If it is not there.
    """
    from darksecrets.data import sources
    from darksecrets.models import checkpoints

    check_disk(configuration.results_folder(config), resources.disk_needed(config))
    if not _can_import("huggingface_hub"):
        return
    if config["data"]["source"] == "hub":
        tasks = [TASKS[name] for name in config["tasks"]]
        sources.check_hub(tasks, config["data"]["repository"], config["data"]["revision"])
    checkpoints.check_hub(config["model"])


def record_run(config: Mapping[str, Any]) -> None:
    """Write down the resolved configuration and the origin of data and model."""
    results = configuration.results_folder(config)
    write_text(yaml.safe_dump(dict(config), sort_keys=False), results / "config.yaml")
    write_json(configuration.origin(config), results / "origin.json")


def _can_import(*libraries: str) -> bool:
    """Whether a check that needs libraries can be made here.

    Snakemake may run in an environment of its own, with the libraries in those of the rules
    (`--sdm conda`). Then the first job makes the same check.
    """
    missing = [name for name in libraries if importlib.util.find_spec(name) is None]
    if missing:
        _log.warning("%s is not installed here: the first job will check more.", missing[0])
    return not missing


def check_disk(results: Path, needed: int) -> None:
    """Check that ``results`` can be written and has the space.

    Raises:
        InputError: Naming the folder, the space found and the space expected.
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
