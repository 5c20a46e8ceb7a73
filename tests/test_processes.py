"""Programs that tests start are stopped, even if they ignore signals; workers share cores."""

import os
import signal
import subprocess

import processes
import pytest
import threadpoolctl


@pytest.mark.parametrize(
    ("ignored", "ended_by"),
    [("", signal.SIGINT), ("INT", signal.SIGTERM), ("INT TERM", signal.SIGKILL)],
)
def test_a_program_is_stopped_though_it_ignores_signals(ignored, ended_by, tmp_path):
    trap = f"trap '' {ignored}; " if ignored else ""
    command = ["bash", "-c", f"{trap}echo ready; while :; do read -t 60; done"]
    process = processes.start(command, tmp_path, stdout=subprocess.PIPE, stdin=subprocess.PIPE)
    with process.stdout, process.stdin:
        assert process.stdout.readline() == "ready\n"
        assert processes.stop(process, grace=1) == -ended_by
    assert processes.stop(process) == -ended_by, "stopped already"


def test_a_program_is_interrupted_though_its_parent_ignores_sigint(tmp_path):
    before = signal.signal(signal.SIGINT, signal.SIG_IGN)
    try:
        process = processes.start(["sleep", "600"], tmp_path)
    finally:
        signal.signal(signal.SIGINT, before)
    assert processes.stop(process) == -signal.SIGINT


@pytest.mark.skipif("PYTEST_XDIST_WORKER" not in os.environ, reason="tests run one after the other")
def test_a_worker_has_as_many_threads_as_it_was_given():
    """NumPy reads the number when it is loaded; two workers with two threads each wait a lot."""
    threads = {each["num_threads"] for each in threadpoolctl.threadpool_info()}
    assert threads <= {int(os.environ["OMP_NUM_THREADS"])}
