"""Programs that a test starts and stops."""

import os
import signal
import subprocess
from pathlib import Path
from typing import IO

GRACE = 30.0


def start(command: list[str], folder: Path, **streams: int | IO[str]) -> subprocess.Popen[str]:
    """Start a program as a terminal does: in its own process group, which SIGINT interrupts.

    By default a program ignores SIGINT if its parent does, as the jobs that a shell script starts
    in the background do.
    """
    return subprocess.Popen(
        command,
        cwd=folder,
        text=True,
        process_group=0,
        preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL),
        **streams,
    )


def interrupt(process: subprocess.Popen[str]) -> None:
    """Do what Ctrl-C does in a terminal."""
    os.killpg(process.pid, signal.SIGINT)


def stop(process: subprocess.Popen[str], grace: float = GRACE) -> int:
    """End a program and what it started: interrupt, then terminate, then kill; give its exit code.

    Args:
        process: A program from `start`.
        grace: Seconds to wait after each signal but the last.
    """
    for number in (signal.SIGINT, signal.SIGTERM):
        if process.poll() is not None:
            return process.returncode
        os.killpg(process.pid, number)
        try:
            return process.wait(grace)
        except subprocess.TimeoutExpired:
            continue
    os.killpg(process.pid, signal.SIGKILL)
    return process.wait()
