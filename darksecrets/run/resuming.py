"""What a long computation has done so far, kept so that it can go on after it was killed."""

from __future__ import annotations

import json
import logging
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic, remove, write_json

_log = logging.getLogger(__name__)

Arrays = dict[str, npt.NDArray[Any]]

IDENTITY = "identity.json"


class Partial:
    """A folder of named arrays.

    Args:
        folder: Where it is; what it holds of a computation with another identity is removed.
        identity: All that the arrays depend on.
        parts: Folders with more of the arrays, which other jobs left; they are only read.

    Raises:
        InputError: A part has another identity.
    """

    def __init__(
        self, folder: Path, identity: Mapping[str, Any], parts: Sequence[Path] = ()
    ) -> None:
        self.folder, self._parts = folder, parts
        identity = json.loads(json.dumps(identity))
        for part in parts:
            _require_identity(part, identity)
        if _identity_of(folder) != identity:
            remove(folder)
            write_json(identity, folder / IDENTITY)
        elif found := len(list(folder.glob("*.npz"))):
            _log.info("Going on from %d parts in %s", found, folder)

    def load(self, name: str) -> Arrays | None:
        """The arrays kept under a name, if they are there."""
        for folder in (self.folder, *self._parts):
            file = folder / f"{name}.npz"
            if file.is_file():
                with np.load(file, allow_pickle=False) as arrays:
                    return dict(arrays)
        return None

    def keep(self, name: str, arrays: Arrays) -> Arrays:
        """Keep arrays under a name."""
        with atomic(self.folder / f"{name}.npz") as temporary:
            np.savez(temporary, allow_pickle=False, **arrays)
        return arrays

    def move(self, folder: Path) -> None:
        """Make the folder, complete now, a part that another `Partial` reads."""
        remove(folder)
        self.folder.replace(folder)

    def remove(self) -> None:
        """Remove everything, other than parts."""
        remove(self.folder)


def _identity_of(folder: Path) -> dict[str, Any] | None:
    record = folder / IDENTITY
    if not record.is_file():
        return None
    found: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return found


def _require_identity(part: Path, identity: Mapping[str, Any]) -> None:
    found = _identity_of(part)
    if found is None:
        raise InputError(
            f"{part} is no part of a computation: {IDENTITY} is missing. Remove it and run again."
        )
    other = sorted(name for name in {*found, *identity} if found.get(name) != identity.get(name))
    if other:
        raise InputError(
            f"{part} is a part of another computation: {', '.join(other)} differ. Expected the "
            "same model, data, settings, versions and kind of device in all jobs. Remove "
            f"{part.parent} and run again; where machines differ, set `ablation.screening` to `on` "
            "or `off`, and give a GPU to all of these jobs or to none."
        )
