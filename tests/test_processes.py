"""Programs that tests start are stopped, even if they ignore signals."""

import signal
import subprocess

import processes
import pytest


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
