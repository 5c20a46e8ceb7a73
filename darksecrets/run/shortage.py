"""Recognise that a job failed for want of disk or memory, and say so with numbers."""

from __future__ import annotations

import errno
import re
import resource
import shutil
import sys
from pathlib import Path

_FULL = re.compile("No space left on device|Disk quota exceeded|os error 28|code: 28")
_READ_ONLY = re.compile("Read-only file system|os error 30|code: 30")
_NO_MEMORY = re.compile(
    "can't allocate memory|cannot allocate memory|not enough memory|unable to allocate|bad_alloc"
    "|out of memory|malloc of size|realloc of size|failed to map segment|can't start new thread",
    re.IGNORECASE,
)


def shortage(error: Exception, described: str, folder: Path) -> str | None:
    """What a job lacked, and what to do; None if it failed for another reason.

    Args:
        error: What ended the job.
        described: Its traceback, since libraries wrap errors of the operating system.
        folder: Folder that the job writes to.
    """
    number = error.errno if isinstance(error, OSError) else None
    if number in (errno.ENOSPC, errno.EDQUOT) or _FULL.search(described):
        free = shutil.disk_usage(folder).free
        return (
            f"{folder}: the disk is full; found {free / 1e6:,.1f} MB free after removing what was "
            "unfinished. Free some space or raise the quota; the same command goes on from here."
        )
    if number == errno.EROFS or _READ_ONLY.search(described):
        return f"{folder}: cannot write, the file system is read-only. Use a folder that is not."
    if isinstance(error, MemoryError) or _NO_MEMORY.search(described):
        return (
            f"Memory ran out; this job had used {_most_memory() / 1e9:.1f} GB. Give it more, or "
            "run fewer jobs at a time (fewer --cores); the same command goes on from here."
        )
    return None


def _most_memory() -> int:
    """Bytes that this process has used at most."""
    unit = 1 if sys.platform == "darwin" else 1024
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * unit
