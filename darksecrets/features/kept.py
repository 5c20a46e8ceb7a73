"""Arrays that are kept of the examples of a model's maps, in a file in the folder of its task."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from pathlib import Path
from typing import Any, ClassVar, Self
from zipfile import BadZipFile

import numpy as np

from darksecrets.run.arrays import Arrays
from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic


def write(path: Path, arrays: Arrays) -> None:
    """Write arrays atomically, numbers that are not whole in single precision."""
    with atomic(path) as temporary, temporary.open("wb") as stream:
        single: Any = {name: _as(np.float32, values) for name, values in arrays.items()}
        np.savez_compressed(stream, **single)


def read(path: Path, what: str, *needed: str) -> Arrays:
    """Read what `write` wrote, in double precision.

    Args:
        path: The file.
        what: What it has, for the message.
        *needed: Arrays that it must have.

    Raises:
        InputError: The file is missing or damaged, or lacks an array.
    """
    try:
        with np.load(path, allow_pickle=False) as arrays:
            return {name: _as(np.float64, arrays[name]) for name in [*needed, *arrays.files]}
    except (OSError, ValueError, KeyError, BadZipFile) as error:
        raise InputError(
            f"{path}: found no {what} ({error}), expected what the rule measure_attention writes. "
            "Remove the file and run again."
        ) from None


def _as(kind: type[np.floating], values: Any) -> Any:  # noqa: ANN401 - an array of any kind
    return values.astype(kind) if np.issubdtype(values.dtype, np.floating) else values


@dataclass(frozen=True)
class Kept:
    """Arrays of a model, the fields of a subclass; the first axis of each is the examples."""

    what: ClassVar[str]
    """What the arrays are, in words."""

    def save(self, path: Path) -> None:
        """See `write`."""
        write(path, vars(self))

    @classmethod
    def load(cls, path: Path) -> Self:
        """See `read`."""
        names = [field.name for field in fields(cls)]
        found = read(path, cls.what, *names)
        return cls(*(found[name] for name in names))

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """The examples of all parts, in their order."""
        every = zip(*(vars(part).values() for part in parts), strict=True)
        return cls(*(np.concatenate(arrays) for arrays in every))
