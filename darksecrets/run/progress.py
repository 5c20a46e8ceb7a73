"""Progress of long loops: a bar on a terminal, occasional lines in a log."""

from __future__ import annotations

import contextlib
import os
import re
import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

SECONDS_BETWEEN_LINES = 10.0

_LINE = re.compile(rb"^[^\r\n]*: (\d+/\d+ [^\r\n]+ in \d+ s[^\r\n]*)$", re.MULTILINE)
_END = 4096
"""Bytes at the end of a log that are searched for its last line of progress."""


@contextlib.contextmanager
def progress(description: str, total: int, unit: str) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of items just done.

    Args:
        description: What is being done.
        total: Total number of items.
        unit: Name of the items, in the plural.
    """
    if sys.stderr.isatty():
        from tqdm import tqdm

        with tqdm(total=total, desc=description, unit=f" {unit}", dynamic_ncols=True) as bar:
            yield bar.update
    else:
        yield _log_lines(description, total, unit)


def _log_lines(description: str, total: int, unit: str) -> Callable[[int], None]:
    start = last = time.monotonic()
    done = 0

    def advance(items: int) -> None:
        nonlocal done, last
        done += items
        now = time.monotonic()
        if done < total and now - last < SECONDS_BETWEEN_LINES:
            return
        last = now
        spent = now - start
        rate = f", {done / spent:.3g} {unit} a second" if spent > 0 else ""
        left = f", about {spent / done * (total - done):.0f} s left" if 0 < done < total else ""
        sys.stderr.write(f"{description}: {done}/{total} {unit} in {spent:.0f} s{rate}{left}\n")
        sys.stderr.flush()

    return advance


def latest(log: Path) -> str:
    """What the last line of progress in a log says, such as ``15/30 steps in 12 s, …``; or ``""``.

    A log that cannot be read says nothing.
    """
    with contextlib.suppress(OSError), log.open("rb") as stream:
        stream.seek(max(0, os.fstat(stream.fileno()).st_size - _END))
        said = _LINE.findall(stream.read())
        return said[-1].decode(errors="replace") if said else ""
    return ""
