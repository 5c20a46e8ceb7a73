"""Checks before the first job: a run that cannot succeed stops here, with a message.

Each section of the paper has its own checks, in the module ``preflight`` of its package.
"""

from __future__ import annotations

import json
import math
import os
import shlex
import shutil
import sys
import tempfile
import time
from collections.abc import Callable, Iterable, Mapping, Set
from pathlib import Path
from typing import Any

import yaml

from darksecrets.beyond import analyses
from darksecrets.beyond.landscape import preflight as landscape
from darksecrets.beyond.norms import preflight as norms
from darksecrets.core.data import preflight as data
from darksecrets.core.models import preflight as models
from darksecrets.core.run import gpus
from darksecrets.core.run.analysis import Capability
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import write_json, write_text
from darksecrets.pages.inspect import preflight as text
from darksecrets.paper.ablation import preflight as ablation
from darksecrets.paper.features import annotation
from darksecrets.paper.finetuning import preflight as finetuning
from darksecrets.paper.framenet import preflight as framenet
from darksecrets.paper.patterns import preflight as patterns
from workflow.lib import configuration, origins, resources

#: What an encoder or the texts may lack, and how to find why; the record of a run is `LEFT_OUT`.
CAPABILITIES: dict[Capability, Callable[[Mapping[str, Any], Path], str]] = {
    "interventions": ablation.left_out,
    "values": norms.left_out,
    "layers": landscape.left_out,
    "words": annotation.left_out,
}
LEFT_OUT = "left_out"
FILES = 2000
"""Files that a small run makes, about; more tasks and seeds make more."""
SKEW = 60.0
"""Seconds by which clocks of two machines may differ."""
TEMPORARY = 10**6
"""Bytes of temporary files that a run needs at least."""
FEWEST_UPDATES = 60
"""Updates below which fine-tuned models seldom learn a task."""
DERIVED = (LEFT_OUT, "most_seeds")
"""Keys that the workflow adds to a resolved configuration."""


def check_data_and_model(config: Mapping[str, Any]) -> None:
    """Check local data, a local model, and what its tokenizer leaves of the texts."""
    texts = data.check(config)
    models.check(config)
    models.check_texts(config, texts)


#: Checks of plans and runs: local files and models.
OF_A_PLAN = (
    *(check_data_and_model, annotation.check_files, framenet.check, patterns.check),
    *(finetuning.check, ablation.check),
)
#: The same for the target `inspect`, which needs neither data nor a model that can be changed.
OF_A_LOOK = (text.check, patterns.check, models.check)
#: Checks of runs only, which query the Hub or its cache.
OF_A_RUN = (data.check_hub, models.check_hub)


def check(config: Mapping[str, Any], *, looking: bool = False) -> None:
    """Check the configuration, the data files and the model, for plans and runs.

    Args:
        config: A resolved configuration.
        looking: Whether only what the target `inspect` needs is checked.

    Raises:
        InputError: At the first problem that would make a job fail.
    """
    if not os.access(Path.cwd(), os.W_OK):
        raise InputError(
            f"{Path.cwd()}: cannot write here, where Snakemake keeps its records (.snakemake). "
            "Start in a folder that you may write to, or name one with --directory."
        )
    check_temporary_folder()
    results = configuration.results_folder(config)
    origins.check_results_folder(config, results, needs_data=not looking)
    if not looking:
        configuration.check_places(config)
    further = analyses.checks(config["analyses"])
    _apply(config, OF_A_LOOK if looking else (*OF_A_PLAN, *further))


def check_packages(config: Mapping[str, Any], packages: Set[str]) -> None:
    """Check analyses that the configuration does not name, and of which targets need a part.

    Args:
        config: A resolved configuration.
        packages: The packages, which are rule files, that the run has jobs of.

    Raises:
        InputError: As `check` does.
    """
    unnamed = analyses.find().keys() - set(config["analyses"])
    _apply(config, analyses.checks(n for n in unnamed if analyses.package_of(n) in packages))


def _apply(
    config: Mapping[str, Any], checks: Iterable[Callable[[Mapping[str, Any]], None]]
) -> None:
    for check_section in checks:
        try:
            check_section(config)
        except OSError as error:  # no permission, a name that is too long, a broken disk
            raise InputError(
                f"{error.filename}: cannot be read ({error.strerror}), expected a file or folder "
                "that you may read. Correct the path, or its permissions."
            ) from None


def check_surroundings(config: Mapping[str, Any], *, looking: bool = False) -> None:
    """Check what only a run needs, not a plan: disk space, and the Hub or its cache.

    Raises:
        InputError: If something is missing.
    """
    check_interpreter()
    needed = resources.disk_needed(config, looking=looking)
    check_disk(configuration.results_folder(config), needed)
    for check_section in (models.check_hub,) if looking else OF_A_RUN:
        check_section(config)


def check_shared_gpus(config: Mapping[str, Any], found: int, at_a_time: int) -> None:
    """Check that jobs of this machine share a GPU only as the configuration says, and fit on it.

    Args:
        config: A resolved configuration.
        found: GPUs of this machine.
        at_a_time: Jobs with a GPU that Snakemake may run at a time.

    Raises:
        InputError: More jobs would share a GPU than `jobs_per_gpu` says, or it is too small.
    """
    jobs = config["jobs_per_gpu"]
    if at_a_time > found * jobs:
        raise InputError(
            f"--resources gpu={at_a_time} would run {at_a_time} jobs on {found} GPU"
            f"{'s' if found > 1 else ''}, {jobs} on each. Set jobs_per_gpu to "
            f"{math.ceil(at_a_time / found)}, or give --resources gpu={found * jobs}."
        )
    if jobs == 1:
        return
    memory, needed = gpus.memory(), resources.gpu_memory_needed(config)
    if 0 < memory < jobs * needed:
        raise InputError(
            f"jobs_per_gpu is {jobs}, and a training needs about {needed / 1e9:.1f} GB of a GPU "
            f"with {memory / 1e9:.1f} GB. Set it to {max(1, memory // needed)}."
        )


def check_interpreter() -> None:
    """Check that Snakemake can start scripts: it does not quote the path of Python.

    Raises:
        InputError: The path has a space or another character that a shell reads.
    """
    if shlex.quote(sys.executable) != sys.executable:
        raise InputError(
            f"{sys.executable}: the path of Python has a space, a quote or another character that "
            "a shell reads, so that Snakemake cannot start scripts with it. Move the project, or "
            "its environment, to a folder without."
        )


def left_out(config: Mapping[str, Any]) -> dict[str, str]:
    """By capability, why the encoder lacks it; empty if it does not, or is not asked for it."""
    fetched = configuration.results_folder(config) / "models" / "pretrained"
    known = analyses.find()
    needed = {"interventions", "words"}.union(
        *(known[name].requires for name in config["analyses"] if name in known)
    )
    return {
        key: find(config, fetched) if key in needed else "" for key, find in CAPABILITIES.items()
    }


def lacking(config: Mapping[str, Any]) -> dict[str, list[str]]:
    """What the run leaves out, in words, by the reason.

    Args:
        config: A resolved configuration, and what `left_out` has found.
    """
    reasons: dict[str, list[str]] = {}
    if reason := config[LEFT_OUT]["interventions"]:
        reasons[reason] = ["the sweep over heads (section 4.6, Figures 8 and 9)"]
    if reason := config[LEFT_OUT]["words"]:
        reasons[reason] = ["features of words and pairs of words (sections 4.4, 4.5, Figure 7)"]
    for name in config["analyses"]:
        needed = analyses.find()[name].requires if name != analyses.PAPER else ()
        for reason in dict.fromkeys(filter(None, (config[LEFT_OUT][key] for key in needed))):
            reasons.setdefault(reason, []).append(name)
    return reasons


def short_trainings(config: Mapping[str, Any]) -> list[str]:
    """Tasks whose training is so short that models seldom learn them, in words.

    Args:
        config: A resolved configuration.
    """
    said = []
    batch = config["fine_tuning"]["batch_size"]
    for name, entry in config["tasks"].items():
        rows, epochs = resources.examples(config, name)[0], entry["epochs"]
        steps = math.ceil(rows / batch)  # of an epoch
        if steps * epochs < FEWEST_UPDATES:
            enough = math.ceil(FEWEST_UPDATES / steps)
            said.append(
                f"{name}: {rows} training examples in batches of {batch}, {epochs} times, are "
                f"{steps * epochs} updates; with fewer than {FEWEST_UPDATES}, models seldom learn "
                f"a task. Set tasks.{name}.epochs to {enough} or more."
            )
    return said


def recorded_left_out(config: Mapping[str, Any]) -> dict[str, str]:
    """The same, as the run that started this job has found it."""
    record = _record(config)
    known = json.loads(record.read_text(encoding="utf-8")) if record.is_file() else {}
    return {key: known.get(key, "") for key in CAPABILITIES}


def _record(config: Mapping[str, Any]) -> Path:
    return configuration.results_folder(config) / f"{LEFT_OUT}.json"


def record_run(config: Mapping[str, Any], *, looking: bool = False) -> None:
    """Record the resolved configuration, the origin of data and model, and what is left out.

    A look at text records only the model, and changes nothing that a run has recorded.

    Args:
        config: A resolved configuration, and what `left_out` has found.
        looking: Whether all jobs are those of a look at text.
    """
    results, origin = configuration.results_folder(config), origins.origin(config)
    record = results / "origin.json"
    if looking:
        if not record.is_file():
            origins.record_origin({"model": origin["model"]}, record)
        return
    given = {key: value for key, value in config.items() if key not in DERIVED}
    write_text(yaml.safe_dump(given, sort_keys=False), results / "config.yaml")
    origins.record_origin(origin, record)
    if any(config[LEFT_OUT].values()):
        write_json(config[LEFT_OUT], _record(config))
    else:
        _record(config).unlink(missing_ok=True)


def check_disk(results: Path, needed: int) -> None:
    """Check that ``results`` is writable and has enough free space, and no file of the future.

    Raises:
        InputError: Names the folder, the space that is there and the space that is needed; or the
            file.
    """
    folder = next(path for path in (results, *results.absolute().parents) if path.exists())
    if not os.access(folder, os.W_OK):
        raise InputError(f"{results}: cannot write to {folder}. Use a folder you may write to.")
    made = 0
    for path in results.rglob("*"):
        if path.is_file():
            state = path.stat()
            made += state.st_size
            _require_past(path, state.st_mtime)
    free = shutil.disk_usage(folder).free
    if free < needed - made:
        raise InputError(
            f"{results}: {free / 1e9:.1f} GB of disk space are free, and the run needs about "
            f"{(needed - made) / 1e9:.1f} GB. Free some, or run fewer tasks or seeds, or lower "
            "samples.size."
        )
    counted = os.statvfs(folder)
    if counted.f_files and counted.f_favail < FILES:  # some file systems do not count them
        raise InputError(
            f"{results}: the file system has room for {counted.f_favail} more files, and a run "
            f"makes some {FILES}. Remove files (df -i counts them), or use another disk."
        )


def _require_past(path: Path, changed: float) -> None:
    """Refuse a result that is dated in the future: Snakemake would end the job that reads it.

    Raises:
        InputError: Says how to date it now.
    """
    if changed > time.time() + SKEW:
        date = time.strftime("%Y-%m-%d %H:%M", time.localtime(changed))
        raise InputError(
            f"{path} was changed at {date}, which is in the future: a clock is, or was, wrong. If "
            f"that of this machine is right, date the results now: find '{path.parent}' -newermt "
            "now -exec touch {} +"
        )


def check_temporary_folder() -> None:
    """Check that programs can write temporary files, as Snakemake's scheduler does.

    Raises:
        InputError: Names the folder, and what is wrong with it.
    """
    # Python quietly takes another folder if this one is full; the scheduler's solver does not.
    folder = os.environ.get("TMPDIR") or tempfile.gettempdir()
    try:
        with tempfile.TemporaryFile(dir=folder) as file:
            file.write(bytes(TEMPORARY))
            file.flush()
    except OSError as error:
        raise InputError(
            f"{folder}: temporary files cannot be written ({error.strerror}). Free "
            "some space there, or set TMPDIR to another folder."
        ) from None
