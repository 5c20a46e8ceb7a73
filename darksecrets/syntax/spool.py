"""Arrays of sentences that wait on disk, because memory is not to grow with their number."""

from __future__ import annotations

import tempfile
from collections.abc import Sequence

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.int16]


class Spool(Sequence[Array]):
    """Arrays in a file without a name, which goes away with the process, however that ends.

    In memory are two numbers for each. The file is in the folder of the system's temporary files
    (``TMPDIR``).
    """

    def __init__(self) -> None:
        self._file = tempfile.TemporaryFile()  # noqa: SIM115 - open as long as this object
        self._places: dict[int, tuple[int, int]] = {}  # first byte, and length of the first axis
        self._shape: tuple[int, ...] = ()
        self._order: list[int] = []

    def put(self, number: int, array: Array) -> None:
        """Write an array; all have the same axes but the first.

        Args:
            number: What orders the arrays: that of the sentence in the treebank.
            array: The array.
        """
        self._shape = array.shape[1:]
        self._places[number] = self._file.seek(0, 2), len(array)
        self._file.write(np.ascontiguousarray(array).tobytes())
        self._order = []

    def __len__(self) -> int:
        """Number of arrays."""
        return len(self._places)

    def __getitem__(self, place: int) -> Array:  # type: ignore[override]
        """Read an array, by its place in the order of their numbers."""
        if not self._order:
            self._order = sorted(self._places)
        first, length = self._places[self._order[place]]
        shape = (length, *self._shape)
        self._file.seek(first)
        read = self._file.read(int(np.prod(shape)) * np.dtype(np.int16).itemsize)
        return np.frombuffer(read, dtype=np.int16).reshape(shape)
