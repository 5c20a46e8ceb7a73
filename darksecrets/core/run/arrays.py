"""Read files of named arrays."""

from __future__ import annotations

import zipfile
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from darksecrets.core.run.errors import InputError

Arrays = dict[str, npt.NDArray[Any]]


def read_arrays(file: Path, *names: str) -> Arrays:
    """Read an ``.npz`` file.

    Args:
        file: The file.
        names: Arrays that it must have.

    Raises:
        InputError: It is missing, damaged, or lacks an array.
    """
    try:
        with np.load(file, allow_pickle=False) as arrays:
            found = dict(arrays)
    except (OSError, ValueError, EOFError, TypeError, zipfile.BadZipFile, zlib.error) as error:
        raise InputError(
            f"{file} has no arrays that can be read ({error}), and is not a whole .npz file. "
            "Remove it, or the folder that a job made with it, and run again."
        ) from None
    if missing := [name for name in names if name not in found]:
        raise InputError(
            f"{file} has the arrays {', '.join(found) or '(none)'}; missing "
            f"{', '.join(missing)}. Remove the file and run again."
        )
    return found
