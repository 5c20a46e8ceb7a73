"""Jobs end with the Snakemake that started them, and show that they run until they have ended.

A Snakemake that is killed cannot stop its jobs, and jobs that go on would write the same files as
those of the next call. Every Snakemake process names itself in the environment of its jobs
(`announce`), and every job watches it (`end_with_parent`). On a cluster this is the process that
the scheduler started on the node.

A job also holds a shared lock on the record of its run (`run_of`). The operating system releases
the lock when the job has ended, however that was.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import platform
import select
import signal
import threading
import time
from collections.abc import Iterator
from pathlib import Path

PARENT = "DARKSECRETS_PARENT"
"""Environment variable: the Snakemake process that started a job, and the system it runs in."""
RUN = "DARKSECRETS_RUN"
"""Environment variable: the file that records the run which a job belongs to."""

SECONDS_BETWEEN_LOOKS = 0.5


def announce() -> None:
    """Name this process as the parent of the jobs that it starts from now on."""
    os.environ[PARENT] = f"{os.getpid()} {_system()}"


def end_with_parent() -> None:
    """Kill this process, and all that it started, when the process that started it has ended.

    Does nothing if no process is named, or if it runs where this process cannot see it: on another
    machine or in another container.
    """
    process, _, system = os.environ.get(PARENT, "").partition(" ")
    if process and system == _system():
        watch = threading.Thread(target=_end_with, args=(int(process),), daemon=True)
        watch.start()


@contextlib.contextmanager
def run_of() -> Iterator[None]:
    """Hold a shared lock on the record of the run, if there is one and its disk can be locked."""
    with contextlib.ExitStack() as held:
        with contextlib.suppress(OSError, KeyError):
            stream = held.enter_context(Path(os.environ[RUN]).open("rb"))
            fcntl.flock(stream, fcntl.LOCK_SH | fcntl.LOCK_NB)
        yield


def boot() -> str:
    """Identity of the running operating system; containers of one machine share it."""
    with contextlib.suppress(OSError):
        return Path("/proc/sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
    return platform.node()


def _system() -> str:
    """Identity of what process numbers belong to."""
    try:
        return f"{boot()} {Path('/proc/self/ns/pid').readlink()}"
    except OSError:
        return boot()


def _end_with(process: int) -> None:
    _wait_for_end(process)
    for started in _descendants(os.getpid()):
        with contextlib.suppress(ProcessLookupError):
            os.kill(started, signal.SIGKILL)
    os.kill(os.getpid(), signal.SIGKILL)


def _wait_for_end(process: int) -> None:
    """Return when a process has ended, which need not be a child of this one."""
    try:
        if hasattr(os, "pidfd_open"):
            watched = select.poll()
            watched.register(os.pidfd_open(process), select.POLLIN)
            watched.poll()
            return
    except ProcessLookupError:
        return
    except OSError:  # an old kernel
        pass
    with contextlib.suppress(ProcessLookupError):
        while True:
            os.kill(process, 0)
            time.sleep(SECONDS_BETWEEN_LOOKS)


def _descendants(process: int) -> Iterator[int]:
    """Processes that a process has started, and those that these have started (on Linux)."""
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        with contextlib.suppress(OSError):
            for child in map(int, children.read_text(encoding="ascii").split()):
                yield from _descendants(child)
                yield child
