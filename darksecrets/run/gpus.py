"""Which GPUs this machine has, and which one a job works on. Nothing here needs torch.

Each job sees one, or none if it did not ask: what it does cannot depend on how many there are, and
it takes none from another. Where there are several, it takes the first that no other job holds. A
scheduler such as Slurm shows a job only the one it was given.
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

from darksecrets.run.errors import InputError

VISIBLE = "CUDA_VISIBLE_DEVICES"

_held: list[TextIO] = []  # locks are held until the process ends


def visible(environment: MutableMapping[str, str] = os.environ) -> list[str]:
    """Names of the GPUs that a process may use, as ``CUDA_VISIBLE_DEVICES`` has them."""
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
) -> str | None:
    """Let this process see the GPU that it works on, and no other.

    Args:
        asked: GPUs that the job asked for, 0 or 1.
        environment: Where ``CUDA_VISIBLE_DEVICES`` is read and set; before CUDA starts.
        locks: Folder of the locks by which processes on this machine keep apart.

    Returns:
        The GPU, or None: none was asked for, or there is none.

    Raises:
        InputError: Other jobs hold all of them.
    """
    found = visible(environment) if asked else []
    folder = locks or Path(tempfile.gettempdir())
    one = len(found) == 1  # nothing to choose; schedulers number every job's GPU 0
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
