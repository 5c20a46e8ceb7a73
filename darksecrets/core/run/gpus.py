"""Find the GPUs of this machine and assign one to a job. This module does not need torch.

Each job sees one GPU, or none if it requested none. Its results thus cannot depend on the number of
GPUs, and jobs do not share one. If there are several, a job takes the first that no other job
holds. A scheduler such as Slurm shows a job only the GPU that it was given.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import subprocess
import tempfile
from collections.abc import MutableMapping
from pathlib import Path
from typing import TextIO

from darksecrets.core.run.errors import InputError

VISIBLE = "CUDA_VISIBLE_DEVICES"

_held: list[TextIO] = []  # locks are held until the process ends


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
    asked: int, environment: MutableMapping[str, str] = os.environ, locks: Path | None = None
) -> str | None:
    """Choose a free GPU and make it the only one visible to this process.

    Args:
        asked: Number of GPUs that the job requested, 0 or 1.
        environment: Where ``CUDA_VISIBLE_DEVICES`` is read and set; call before CUDA starts.
        locks: Folder of the locks that keep processes on this machine off each other's GPU.

    Returns:
        The GPU; None if none was requested or there is none.

    Raises:
        InputError: Other jobs hold all GPUs.
    """
    found = visible(environment) if asked else []
    folder = locks or Path(tempfile.gettempdir())
    one = len(found) == 1  # no choice; besides, schedulers number every job's GPU 0
    free = next((name for name in found if one or _lock(name, folder)), None)
    if found and free is None:
        raise InputError(
            f"Found all {len(found)} GPUs of this machine in use by other jobs of this project. "
            f"Expected a free one: limit the jobs with `--resources gpu={len(found)}`, or wait."
        )
    environment[VISIBLE] = free or ""
    return free


def _lock(name: str, folder: Path) -> bool:
    stream = (folder / f"darksecrets-gpu-{os.getuid()}-{name}.lock").open("w")
    try:
        fcntl.flock(stream, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        stream.close()
        return False
    _held.append(stream)
    return True
