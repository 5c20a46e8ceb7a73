"""Disks that fill up and memory that runs out, in the jobs that need most of them."""

import contextlib
import os
import re
import resource
import shutil
import sys
from pathlib import Path

import psutil
import pytest
from failures.trial import (
    EQUAL,
    MESSAGE,
    RESULTS,
    check_message,
    jobs_of,
    small_disk,
    wait_for,
    wait_for_end,
)

from darksecrets.run.files import remove

pytestmark = pytest.mark.failures

needs_mounts = pytest.mark.skipif(
    sys.platform != "linux" or os.geteuid() != 0,
    reason="a small disk is mounted: needs root on Linux",
)
# Of each long kind of job: what it makes.
LARGE = {
    "training": "models/RTE/finetuned/seed-1",
    "extraction": "attention/RTE/finetuned/seed-1",
    "sweep": "ablation/RTE/finetuned/seed-1",
    "figures": "figures/figure5.png",
}


@needs_mounts
@pytest.mark.parametrize("share", [0.0, 0.3, 0.8])
@pytest.mark.parametrize("what", LARGE)
def test_a_full_disk_is_named_and_the_next_call_goes_on(trial, what, share, outcomes):
    target = RESULTS / LARGE[what]
    made = trial.folder / target
    outputs = [made] if made.is_dir() else list(made.parent.glob(f"{made.stem}.*"))
    files = [path for each in outputs for path in [each, *each.rglob("*")] if path.is_file()]
    size = sum(path.stat().st_size for path in files)
    for output in outputs:
        remove(output)
    with small_disk(made.parent, free=8192 + int(share * size)) as enlarge:
        called = trial.call(str(target))
        output = called.stdout + called.stderr
        assert called.returncode != 0, output
        check_message(output)
        assert re.search("free disk space|disk is full", output), output
        assert not [p for p in made.parent.rglob(".*.tmp*") if "partial" not in str(p)]
        enlarge()
        assert trial.end_after(str(target)) == EQUAL
    outcomes.add("full disk", f"{what}, {share:.0%} of what it writes fits", MESSAGE)


@needs_mounts
def test_a_run_that_cannot_fit_on_the_disk_does_not_start(trial, outcomes):
    shutil.rmtree(trial.folder / RESULTS)
    (trial.folder / RESULTS).mkdir()
    with small_disk(trial.folder / RESULTS, free=2**20):
        called = trial.call("all")
        output = called.stdout + called.stderr
        assert called.returncode != 0
        check_message(output)
        assert re.search(r"found 0\.0 GB of free disk space, expected about 0\.\d", output)
        assert [path.name for path in (trial.folder / RESULTS).iterdir()] == ["not-empty"]
    outcomes.add("full disk", "before the run", MESSAGE)


@pytest.mark.skipif(sys.platform != "linux", reason="limits the memory of a running process")
@pytest.mark.parametrize("delay", [0.0, 1.0, 3.0])
@pytest.mark.parametrize("what", ["extraction", "sweep"])
def test_a_job_without_memory_fails_and_the_next_call_goes_on(trial, what, delay, outcomes):
    target = RESULTS / LARGE[what]
    logs = trial.folder / RESULTS / "logs"
    for folder in (trial.folder / target, logs):
        shutil.rmtree(folder)
    started = trial.start(str(target))
    assert wait_for(lambda: list(logs.rglob("*.log")) or started.poll() is not None)
    running = jobs_of(started)
    wait_for(lambda: False, delay)
    for job in running:
        with contextlib.suppress(psutil.NoSuchProcess, ProcessLookupError):  # it has ended
            limit = job.memory_info().vms + 2**20
            resource.prlimit(job.pid, resource.RLIMIT_AS, (limit, limit))
    wait_for_end(started, running)
    said = Path(trial.folder / "started.txt").read_text()
    if started.returncode:
        check_message(said)
        assert "memory" in said.lower() or "MemoryError" in said, said
    assert trial.end_after(str(target)) == EQUAL
    end = MESSAGE if started.returncode else EQUAL
    outcomes.add("memory limit", f"{what}, {delay:g} s after its start", end)
