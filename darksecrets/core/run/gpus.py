"""Find the GPUs of this machine and assign one to a job. This module does not need torch.

Each job sees one GPU, or none if it requested none. Its results thus cannot depend on the number of
GPUs. Jobs do not share one, unless the key `jobs_per_gpu` says so; each then has an equal part of
its memory. If there are several, a job takes one that the fewest others hold. A scheduler such as
Slurm shows a job only the GPU that it was given.
"""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import stat
import subprocess
import tempfile
from collections.abc import MutableMapping
from pathlib import Path
from typing import TextIO

from darksecrets.core.run.errors import InputError

VISIBLE = "CUDA_VISIBLE_DEVICES"

_held: list[TextIO] = []  # locks are held until the process ends
_sharing = 1  # of this process, from `take`


def sharing() -> int:
    """How many jobs may use the GPU of this process at a time, itself included."""
    return _sharing


def visible(environment: MutableMapping[str, str] = os.environ) -> list[str]:
    """Names of the GPUs that a process may use, in the form of ``CUDA_VISIBLE_DEVICES``."""
    if VISIBLE in environment:
        return [name for name in environment[VISIBLE].split(",") if name not in ("", "-1")]
    if not shutil.which("nvidia-smi", path=environment.get("PATH")):
        return []
    listed = subprocess.run(
        ["nvidia-smi", "--query-gpu=uuid", "--format=csv,noheader"],
        capture_output=True,
        text=True,
        env=dict(environment),
        check=False,
    )
    return listed.stdout.split() if listed.returncode == 0 else []


def take(
    asked: int,
    environment: MutableMapping[str, str] = os.environ,
    locks: Path | None = None,
    *,
    jobs: int = 1,
) -> str | None:
    """Choose a GPU that has room and make it the only one visible to this process.

    Args:
        asked: Number of GPUs that the job requested, 0 or 1.
        environment: Where ``CUDA_VISIBLE_DEVICES`` is read and set; call before CUDA starts.
        locks: Folder of the locks that keep processes on this machine off each other's GPU;
            one of the user's own in the folder of temporary files, if it is not given.
        jobs: Jobs that may use a GPU at a time.

    Returns:
        The GPU; None if none was requested or there is none.

    Raises:
        InputError: Other jobs hold all GPUs, or the folder of locks is somebody else's.
    """
    global _sharing
    found = visible(environment) if asked else []
    one = len(found) == 1  # no choice; besides, schedulers number every job's GPU 0
    places = [f"{name}-{job}" if job else name for job in range(jobs) for name in found]
    free = next((place for place in places if one or _lock(place, locks or _own_folder())), None)
    if found and free is None:
        raise InputError(
            f"All {len(found)} GPUs of this machine are in use by other jobs of this project. "
            f"Limit the jobs with `--resources gpu={len(places)}`, or wait."
        )
    taken = found[places.index(free) % len(found)] if free else None
    environment[VISIBLE] = taken or ""
    _sharing = jobs
    return taken


def memory(environment: MutableMapping[str, str] = os.environ) -> int:
    """Bytes of the smallest GPU that a process may use; 0 if there is none, or it is not known."""
    names = visible(environment)
    if not names:
        return 0
    listed = subprocess.run(
        [
            *("nvidia-smi", f"--id={','.join(names)}"),
            *("--query-gpu=memory.total", "--format=csv,noheader,nounits"),
        ],
        capture_output=True,
        text=True,
        env=dict(environment),
        check=False,
    )
    found = [int(line) for line in listed.stdout.split() if line.isdigit()]
    return min(found) * 2**20 if found and listed.returncode == 0 else 0


def _own_folder() -> Path:
    """A folder that only this user can write to: in a shared one, others could place links."""
    folder = Path(tempfile.gettempdir()) / f"darksecrets-{os.getuid()}"
    with contextlib.suppress(FileExistsError):
        folder.mkdir(mode=0o700)
    found = folder.lstat()
    if not stat.S_ISDIR(found.st_mode) or found.st_uid != os.getuid() or found.st_mode & 0o022:
        raise InputError(
            f"{folder} is not a folder that only you can write to, so locks of GPUs are not safe "
            "there. Remove it, or set TMPDIR to another folder."
        )
    return folder


def _lock(name: str, folder: Path) -> bool:
    flags = os.O_RDWR | os.O_CREAT | os.O_NOFOLLOW | os.O_CLOEXEC
    stream = os.fdopen(os.open(folder / f"gpu-{name}.lock", flags, 0o600), "w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        return False
    _held.append(stream)
    return True
