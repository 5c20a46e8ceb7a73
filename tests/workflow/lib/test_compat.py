"""What is changed in Snakemake does what it is for, in the installed version."""

import signal
import subprocess
import sys

import pytest

# A run that gets SIGTERM while its main thread holds the scheduler's lock.
RUN = """
import os, signal, sys, threading, time
from snakemake.scheduling.job_scheduler import JobScheduler
from workflow.lib import compat

if sys.argv[1:]:
    compat.let_signals_wait()
scheduler = JobScheduler.__new__(JobScheduler)
scheduler._lock, scheduler._open_jobs = threading.Lock(), threading.Semaphore(0)
scheduler._user_kill = None
signal.signal(signal.SIGTERM, scheduler.exit_gracefully)
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
