"""Progress of long loops: a bar on a terminal or in the log of a job."""

from __future__ import annotations

import contextlib
import sys
from collections.abc import Callable, Iterator

SECONDS_IN_LOG = 10.0
"""How often a log says how far a loop is."""


@contextlib.contextmanager
def progress(
    description: str, total: int, unit: str, done: int = 0
) -> Iterator[Callable[[int], object]]:
    """Yield a function to call with the number of items just done.

    Args:
        description: What is being done.
        total: Total number of items.
        unit: Name of the items, in the plural.
        done: How many were done before, by a job that was killed: the time left follows from the
            others.
    """
    from tqdm import tqdm

    often = 0.1 if sys.stderr.isatty() else SECONDS_IN_LOG
    with tqdm(
        total=total, initial=done, desc=description, unit=f" {unit}", mininterval=often
    ) as bar:
        yield bar.update
