"""Jobs end with the process that started them, however it ends and whatever stands between."""

import os
import signal
import subprocess
import sys
import time

import psutil
import pytest

# A job, which starts a process as a data loader does; it prints both numbers.
JOB = """
import os, subprocess, time
from darksecrets.run import parent
parent.end_with_parent()
child = subprocess.Popen(["sleep", "60"])
print(os.getpid(), child.pid, flush=True)
time.sleep(60)
"""
# Snakemake starts a script through a shell, which outlives a Snakemake that is killed.
STARTS = """
import subprocess, sys
from darksecrets.run import parent
parent.announce()
subprocess.run(["bash", "-c", '"$0" -c "$1"; true', sys.executable, sys.argv[1]])
"""


def alive(process):
    try:
        return psutil.Process(process).status() != psutil.STATUS_ZOMBIE
    except psutil.NoSuchProcess:
        return False


@pytest.mark.slow
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGTERM])
def test_a_job_and_what_it_started_end_with_their_parent(root, number):
    command = [sys.executable, "-c", STARTS, JOB]
    with subprocess.Popen(command, cwd=root, stdout=subprocess.PIPE, text=True) as process:
        started = [int(word) for word in process.stdout.readline().split()]
        assert len(started) == 2
        assert all(map(alive, started))
        process.send_signal(number)
        process.wait()
        end = time.monotonic() + 60
        while any(map(alive, started)) and time.monotonic() < end:
            time.sleep(0.05)
        assert not any(map(alive, started))


@pytest.mark.slow
def test_a_job_ends_at_once_if_its_parent_has_ended_before(root):
    gone = subprocess.Popen(["true"])
    gone.wait()
    code = (
        "import os, time; from darksecrets.run import parent; parent.announce(); "
        "_, _, system = os.environ[parent.PARENT].partition(' '); "
        f"os.environ[parent.PARENT] = f'{gone.pid} {{system}}'; "
        "parent.end_with_parent(); time.sleep(60)"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=root, timeout=120)
    assert done.returncode == -signal.SIGKILL


@pytest.mark.slow
@pytest.mark.parametrize("named", [None, "1 another-machine pid:[1]"])
def test_a_job_runs_on_if_it_cannot_see_its_parent(root, named):
    """A scheduler passes the environment on to the node, where numbers mean other processes."""
    code = (
        "import time; from darksecrets.run import parent; parent.end_with_parent(); time.sleep(0.5)"
    )
    environment = {k: v for k, v in os.environ.items() if k != "DARKSECRETS_PARENT"}
    if named:
        environment["DARKSECRETS_PARENT"] = named
    done = subprocess.run([sys.executable, "-c", code], cwd=root, env=environment, timeout=120)
    assert done.returncode == 0
