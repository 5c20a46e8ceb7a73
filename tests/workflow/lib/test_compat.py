"""What is changed in Snakemake does what it is for; in an untested version, nothing is changed."""

import re
import signal
import subprocess
import sys
import tomllib

import pytest
import snakemake as installed

from workflow.lib import compat, forks

# A run that gets SIGTERM while its main thread holds the scheduler's lock.
RUN = """
import os, signal, sys, threading, time
from snakemake.scheduling.job_scheduler import JobScheduler
from workflow.lib import compat

scheduler = JobScheduler.__new__(JobScheduler)
scheduler._lock, scheduler._open_jobs = threading.Lock(), threading.Semaphore(0)
scheduler._user_kill = None
signal.signal(signal.SIGTERM, scheduler.exit_gracefully)
if sys.argv[1:]:
    compat.let_signals_wait()
with scheduler._lock:
    print("ready", flush=True)
    os.kill(os.getpid(), signal.SIGTERM)
    time.sleep(0.5)
    assert scheduler._user_kill is None
scheduler._open_jobs.acquire()
print(scheduler._user_kill)
"""


def _start(root, *arguments):
    command = [sys.executable, "-c", RUN, *arguments]
    return subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True)


def test_a_signal_that_meets_the_scheduler_at_work_ends_the_run(root):
    run = _start(root, "changed")
    assert run.communicate(timeout=60)[0].split() == ["ready", "graceful"]
    assert run.returncode == 0


@pytest.mark.thorough
def test_snakemake_itself_waits_for_ever(root):
    """If this fails, Snakemake has mended it: `compat.let_signals_wait` can go."""
    run = _start(root)
    try:
        assert run.stdout.readline().strip() == "ready"
        with pytest.raises(subprocess.TimeoutExpired):
            run.wait(timeout=5)
    finally:
        run.send_signal(signal.SIGKILL)
        run.communicate()


# Snakemake, as if it had another version; fails if anything of it is replaced.
OTHER = """
import sys
import snakemake
from snakemake.logging import logger
from snakemake.persistence import PersistenceBase
from snakemake.scheduling.job_scheduler import JobScheduler
from snakemake.script import PythonScript

def known():
    handlers = [type(each).__name__ for each in logger.handlers]
    methods = PersistenceBase.lock, PythonScript.execute_script, JobScheduler.exit_gracefully
    return *methods, "Screen" in handlers

snakemake.__version__ = sys.argv.pop(1)
sys.argv[0] = "snakemake"
before = known()
from snakemake.cli import main
try:
    main(sys.argv[1:])
finally:
    assert known() == before
"""


@pytest.mark.parametrize("version", ["9.18.2", "9.28.0", "10.0.0"])
def test_a_version_that_was_not_tested_is_left_as_it_is(version, monkeypatch):
    monkeypatch.setattr(installed, "__version__", version)
    monkeypatch.setattr(sys, "argv", ["snakemake"])
    assert not compat.is_tested()
    assert f"Found Snakemake {version}; this workflow was tested with" in compat.untested()
    assert compat.own_handler() is None
    assert not forks.save_time(1000)


@pytest.mark.parametrize("version", [compat.TESTED[0], "9.20.1", f"{compat.TESTED[1]}.9"])
def test_versions_that_were_tested_and_those_between_are_not_warned_of(version, monkeypatch):
    monkeypatch.setattr(installed, "__version__", version)
    monkeypatch.setattr(sys, "argv", ["snakemake"])
    assert compat.is_tested()
    assert compat.untested() == ""
    assert forks.save_time(1000) == (sys.platform == "linux")


@pytest.mark.thorough
@pytest.mark.parametrize("version", ["10.0.0", installed.__version__])
def test_the_workflow_runs_as_snakemake_is_with_a_version_that_was_not_tested(
    version, root, smoke_config, tmp_path
):
    target = "results/smoke/data/RTE"
    places = ("--snakefile", root / "Snakefile", "--directory", tmp_path, "--cores", "1")
    run = subprocess.run(
        [sys.executable, "-c", OTHER, version, target, "--configfile", smoke_config, *places],
        cwd=root,
        capture_output=True,
        text=True,
    )
    assert list((tmp_path / target).iterdir())
    assert not list((tmp_path / ".snakemake").glob("locks/*"))
    if version == installed.__version__:  # the program sees what is replaced
        assert run.stderr.endswith("AssertionError\n")
        assert "Found Snakemake" not in run.stderr
    else:
        assert run.returncode == 0, run.stderr
        assert run.stderr.count(f"Found Snakemake {version}; this workflow was tested with") == 1
        assert "Finished jobid: 0" in run.stderr  # Snakemake's own output


def test_what_is_tested_is_what_is_allowed_and_pinned(root):
    first, last = compat.TESTED
    assert f'min_version("{first}")' in (root / "Snakefile").read_text()
    needs = tomllib.loads((root / "pyproject.toml").read_text())["project"]["dependencies"]
    assert f"snakemake[reports]>={first}" in needs
    pinned = re.search(r"^snakemake==(\d+\.\d+)\.", (root / "requirements.lock").read_text(), re.M)
    assert pinned[1] == last
    assert f"Snakemake {first} and {last}" in (root / "docs" / "architecture.md").read_text()
