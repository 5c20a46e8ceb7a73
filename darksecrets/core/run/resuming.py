"""Resume a killed computation.

Finished steps are kept in a hidden folder beside the output, with the computation's identity:
everything that its result depends on. A computation with another identity never uses them, and a
step that is not as it was written is computed again.
"""

from __future__ import annotations

import contextlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np

from darksecrets.core.run.arrays import Arrays
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, remove, write_json
from darksecrets.core.run.records import find_difference, read_contents

IDENTITY = "identity.json"
FINISHED = ".finished"
"""Folder beside steps, with what each contained when it was finished."""

_log = logging.getLogger(__name__)


@contextlib.contextmanager
def resuming(output: Path, identity: Mapping[str, Any], done: str) -> Iterator[Path]:
    """Keep the finished steps of a computation in a hidden folder until its output is written.

    Steps of a computation with another identity, unfinished steps and damaged ones are removed
    first; the folder is removed when the context ends. After an error or an interruption, it stays
    if any step is finished, unless the error is an `InputError`, which would occur again.

    Args:
        output: Output of the computation; the folder is beside it.
        identity: Everything that the result depends on, serialisable as JSON.
        done: Glob pattern of steps, files or folders. A step is finished once `finish` was called.

    Yields:
        The folder.
    """
    folder = output.with_name(f".{output.name}.partial")
    if _is_of(folder, identity) and (steps := whole(folder.glob(done))):
        _log.info("Resuming from %d finished steps in %s", len(steps), folder)
    else:
        remove(folder)
        write_json(identity, folder / IDENTITY)
    try:
        yield folder
    except BaseException as error:
        if isinstance(error, InputError) or not any(
            _record_of(step).is_file() for step in folder.glob(done)
        ):
            remove(folder)
        raise
    remove(folder)


def finish(step: Path) -> None:
    """Record what a step contains, a file or folder, once it is complete."""
    write_json(read_contents(step), _record_of(step))


def _record_of(step: Path) -> Path:
    return step.parent / FINISHED / f"{step.name}.json"


def whole(steps: Iterable[Path]) -> list[Path]:
    """Those steps that are as they were when they were finished; the others are removed."""
    kept = []
    for step in sorted(steps):
        if problem := _problem(step):
            _log.warning("Discarded %s, which cannot be used: %s", step, problem)
            remove(step)
            remove(_record_of(step))
        else:
            kept.append(step)
    return kept


def _problem(step: Path) -> str:
    """Why a step cannot be used; empty if it can."""
    record = _record_of(step)
    try:
        contents = json.loads(record.read_bytes())
    except FileNotFoundError:
        return "it was not finished"
    except ValueError as error:
        return f"{record} is not JSON ({error})"
    return find_difference(step, contents)


def _is_of(folder: Path, identity: Mapping[str, Any]) -> bool:
    """Whether the steps in a folder, if any, are those of a computation with this identity."""
    try:
        return read_identity(folder) == _as_json(identity)
    except InputError as error:
        _log.warning("Discarded %s, which cannot be used: %s", folder, error)
        return False


def read_identity(folder: Path) -> dict[str, Any] | None:
    """Identity of the computation that wrote a folder; None if there is none.

    Raises:
        InputError: It is damaged.
    """
    record = folder / IDENTITY
    if not record.is_file():
        return None
    try:
        identity: dict[str, Any] = json.loads(record.read_bytes())
    except ValueError as error:
        raise InputError(
            f"{record} does not say what the computation depends on: it is not JSON ({error}). "
            f"Remove {folder} and run again."
        ) from None
    return identity


def different(found: Mapping[str, Any], expected: Mapping[str, Any]) -> list[str]:
    """Names of the entries that differ between two identities."""
    found, expected = _as_json(found), _as_json(expected)
    return sorted(name for name in {*found, *expected} if found.get(name) != expected.get(name))


def write_arrays(arrays: Arrays, file: Path) -> None:
    """Write named arrays to an ``.npz`` file, a finished step, atomically."""
    with atomic(file) as temporary:
        np.savez(temporary, allow_pickle=False, **arrays)
    finish(file)


def _as_json(identity: Mapping[str, Any]) -> dict[str, Any]:
    """An identity as it is read back from JSON: tuples become lists, keys strings."""
    return json.loads(json.dumps(identity))
