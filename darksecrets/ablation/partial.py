"""What a long computation has done so far, kept so that it can go on after it was killed."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from darksecrets.files import atomic, remove, write_json

_log = logging.getLogger(__name__)

Arrays = dict[str, npt.NDArray[Any]]


class Partial:
    """A folder of named arrays.

    Args:
        folder: Where it is; what it holds of a computation with another identity is removed.
        identity: All that the arrays depend on.
    """

    def __init__(self, folder: Path, identity: Mapping[str, Any]) -> None:
        self.folder = folder
        record, identity = folder / "identity.json", json.loads(json.dumps(identity))
        if not record.is_file() or json.loads(record.read_text(encoding="utf-8")) != identity:
            remove(folder)
            write_json(identity, record)
        elif found := len(list(folder.glob("*.npz"))):
            _log.info("Going on from %d parts in %s", found, folder)

    def load(self, name: str) -> Arrays | None:
        """The arrays kept under a name, if they are there."""
        file = self.folder / f"{name}.npz"
        if not file.is_file():
            return None
        with np.load(file, allow_pickle=False) as arrays:
            return dict(arrays)

    def keep(self, name: str, arrays: Arrays) -> Arrays:
        """Keep arrays under a name."""
        with atomic(self.folder / f"{name}.npz") as temporary:
            np.savez(temporary, allow_pickle=False, **arrays)
        return arrays

    def remove(self) -> None:
        """Remove everything."""
        remove(self.folder)
