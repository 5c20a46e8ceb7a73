"""A finished run, made once, and copies of it for faults."""

import contextlib
import os
import random
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest
from failures.trial import CONFIG, FAILED, OUTCOMES, SEED, Outcomes, Trial, keep_outcomes

from workflow.lib import plan


@pytest.fixture
def outcomes(request) -> Iterator[Outcomes]:
    """Gathers what came of the faults of a test; kept in `results/faults/outcomes.csv`."""
    tried = Outcomes()
    yield tried
    if tried.nothing:
        return
    rows = tried.rows or [(request.node.originalname, request.node.name, FAILED)]
    keep_outcomes(OUTCOMES, request.node.nodeid, rows)


@pytest.fixture(scope="session")
def finished(call_snakemake, tmp_path_factory) -> Path:
    """The directory of an undisturbed run: the one that DARKSECRETS_FAULTS_RUN names, or made."""
    if given := os.environ.get("DARKSECRETS_FAULTS_RUN"):
        return Path(given)
    folder = tmp_path_factory.mktemp("finished")
    done = Trial(folder, folder, call_snakemake).call("all", "report")
    assert done.returncode == 0, done.stdout + done.stderr
    return folder


@pytest.fixture
def empty(finished, call_snakemake, tmp_path) -> Iterator[Trial]:
    """A directory in which nothing is made yet; it is removed in the end."""
    # Beside the finished run: jobs know files that ship with the project by relative paths.
    folder = finished.with_name(f"{tmp_path.name}-{os.getpid()}")
    folder.mkdir()
    made = Trial(folder, finished, call_snakemake)
    yield made
    shutil.rmtree(made.folder, ignore_errors=True)  # it may have another name


@pytest.fixture
def trial(empty) -> Trial:
    """A copy of the finished run, times kept; it is removed in the end."""
    empty.fill()
    return empty


@pytest.fixture(scope="session")
def dag(tmp_path_factory):
    """All jobs of a run."""
    with contextlib.chdir(tmp_path_factory.mktemp("plan")):
        return plan.dry_run(CONFIG, ["all", "report"]).dag


@pytest.fixture(scope="session")
def jobs(dag) -> dict[str, list[list[str]]]:
    """By rule: of each of its jobs, files that it makes, or that are made from its passing ones."""
    found: dict[str, list[list[str]]] = {}
    for job in dag.jobs:
        kept = job
        while any("temp" in getattr(path, "flags", {}) for path in kept.output):
            kept = min(dag.depending[kept], key=str)
        if kept.output:
            found.setdefault(job.rule.name, []).append([str(path) for path in kept.output])
    return found


@pytest.fixture(scope="session")
def consumers(dag) -> dict[str, list[list[str]]]:
    """By result: of each of the jobs that read it, files that it makes."""
    found: dict[str, list[list[str]]] = {}
    for job in dag.jobs:
        made = [str(path) for path in job.output]
        if made and not any("temp" in getattr(path, "flags", {}) for path in job.output):
            for path in job.input:
                found.setdefault(str(path), []).append(made)
    return found


@pytest.fixture
def chance(request) -> random.Random:
    """Random numbers that are the same whenever a test is repeated."""
    return random.Random(f"{SEED} {request.node.name}")
