"""Progress of long loops: a bar on a terminal, occasional lines in a log."""

from __future__ import annotations

import contextlib
import sys
import time
from collections.abc import Callable, Iterator

from tqdm import tqdm

SECONDS_BETWEEN_LINES = 10.0


@contextlib.contextmanager
def progress(description: str, total: int, unit: str) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of items just done.

    Args:
        description: What is being done.
        total: Total number of items.
        unit: Name of the items, in the plural.
    """
    if sys.stderr.isatty():
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
