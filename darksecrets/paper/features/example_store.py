"""Arrays that are kept of the examples of a model's maps, in a file in the folder of its task."""

from __future__ import annotations

from pathlib import Path
from typing import Any
from zipfile import BadZipFile

import numpy as np

from darksecrets.core.run.arrays import Arrays
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic


def write(path: Path, arrays: Arrays) -> None:
    """Write arrays atomically, numbers that are not whole in single precision."""
    with atomic(path) as temporary, temporary.open("wb") as stream:
        single: Any = {name: _as(np.float32, values) for name, values in arrays.items()}
        np.savez_compressed(stream, **single)


def read(path: Path, what: str, rule: str, *needed: str) -> Arrays:
    """Read what `write` wrote, in double precision.

    Args:
        path: The file.
        what: What it has, for the message.
        rule: The rule that writes it.
        *needed: Arrays that it must have.

    Raises:
        InputError: The file is missing or damaged, or lacks an array.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: _as(np.float64, arrays[name]) for name in [*needed, *arrays.files]}
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise InputError(
            f"{path} has no {what} ({error}), which the rule {rule} writes. "
            "Remove the file and run again."
        ) from None


def _as(kind: type[np.floating], values: Any) -> Any:  # noqa: ANN401 - an array of any kind
    return values.astype(kind) if np.issubdtype(values.dtype, np.floating) else values
