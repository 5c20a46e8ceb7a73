"""Resume a killed computation.

Finished steps are kept in a hidden folder beside the output, with the computation's identity:
everything that its result depends on. A computation with another identity never uses them.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from darksecrets.run.errors import InputError
from darksecrets.run.files import atomic, remove, write_json

IDENTITY = "identity.json"

Arrays = dict[str, npt.NDArray[Any]]

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def resuming(output: Path, identity: Mapping[str, Any], done: str) -> Iterator[Path]:
    """Keep the finished steps of a computation in a hidden folder until its output is written.

    Steps of a computation with another identity are removed first; the folder is removed when the
    context ends. After an error or an interruption, it stays if any step is finished, unless the
    error is an `InputError`, which would occur again.

    Args:
        output: Output of the computation; the folder is beside it.
        identity: Everything that the result depends on, serialisable as JSON.
        done: Glob pattern of the files that finished steps leave in the folder.

    Yields:
        The folder.
    """
    folder = output.with_name(f".{output.name}.partial")
    steps = len(list(folder.glob(done)))
    if steps and read_identity(folder) == _as_json(identity):
        _log.info("Resuming from %d finished steps in %s", steps, folder)
    else:
        remove(folder)
        write_json(identity, folder / IDENTITY)
    try:
        yield folder
    except BaseException as error:
        if isinstance(error, InputError) or not any(folder.glob(done)):
            remove(folder)
        raise
    remove(folder)


def read_identity(folder: Path) -> dict[str, Any] | None:
    """Identity of the computation that wrote a folder; None if there is none."""
    record = folder / IDENTITY
    if not record.is_file():
        return None
    identity: dict[str, Any] = json.loads(record.read_text(encoding="utf-8"))
    return identity


def different(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Names of the entries that differ between two identities."""
    found, expected = _as_json(found), _as_json(expected)
    return sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))


def write_arrays(arrays: Arrays, file: Path) -> None:
    """Write named arrays to an ``.npz`` file, atomically."""
    with atomic(file) as temporary:
        np.savez(temporary, allow_pickle=False, **arrays)


def read_arrays(file: Path) -> Arrays:
    """Read what `write_arrays` wrote."""
    with np.load(file, allow_pickle=False) as arrays:
        return dict(arrays)


def _as_json(identity: Mapping[str, Any]) -> dict[str, Any]:
    """An identity as it is read back from JSON: tuples become lists, keys strings."""
    plain: dict[str, Any] = json.loads(json.dumps(identity))
    return plain
