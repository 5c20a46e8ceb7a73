"""What made every result, and what it contained: one record per job.

A job writes ``records/<rule>/<wildcards>.json`` in the folder of its run, named like its log: its
rule, parameters, inputs, versions and time, and the size and SHA-256 of every file that it made. A
job that reads a result first compares it with the record of the job that made it, which
``records/made/<result>.json`` names. Files up to 1 MiB are digested by every reader; larger ones
only if they were changed or copied since: nobody can set back the time of the last change (ctime).
With ``verify: true``, every file is digested, as storage that loses bits changes no time.

A result without a record is not checked: no job of the run made it, or somebody edited it and
removed the record.
"""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
import time
from collections.abc import Iterable, Iterator, Mapping
from functools import cache
from pathlib import Path
from typing import Any

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import (
    PACKAGE,
    combine,
    digest,
    fingerprint,
    visible,
    write_json,
)
from darksecrets.core.run.version import __version__

FOLDER = "records"
"""Where the records are, in the folder of a run."""
MADE = "made"
"""Folder in that of the records: for every result, which record is that of its job."""
LARGE = 2**20
"""Bytes from which a file is digested only if its size or time has changed."""
_LIBRARIES = (
    "accelerate",
    "datasets",
    "numpy",
    "pandas",
    "scikit-learn",
    "scipy",
    "snakemake",
    "tokenizers",
    "torch",
    "transformers",
)

Contents = dict[str, dict[str, Any]]
"""Size, SHA-256 and last change of every file of a result, by its path in it; ``.`` for a file."""


def read_contents(result: Path) -> Contents:
    """Digest all files of a result, but hidden ones."""
    found = {}
    for file in visible(result) if result.is_dir() else [result]:
        state = file.stat()
        found[file.relative_to(result).as_posix()] = {
            "size": state.st_size,
            "sha256": digest(file),
            "changed": state.st_ctime_ns,
        }
    return found


def find_difference(result: Path, contents: Contents, *, thorough: bool = False) -> str:
    """How the files of a result differ from what was written; empty if they do not.

    Args:
        result: File or folder.
        contents: What was written.
        thorough: Whether files that seem unchanged are digested, too.
    """
    present = [result]
    if result.is_dir():
        present = visible(result)
    for file in present:
        if file.relative_to(result).as_posix() not in contents:
            return f"{file} was not written with the other files."
    for name, written in contents.items():
        file = result / name
        if not file.is_file():
            return f"{file} is missing; {written['size']:,} bytes were written."
        state = file.stat()
        if state.st_size != written["size"]:
            return f"{file} has {state.st_size:,} bytes; {written['size']:,} were written."
        is_unchanged = state.st_size > LARGE and state.st_ctime_ns == written["changed"]
        if is_unchanged and not thorough:
            continue
        found, expected = digest(file), written["sha256"]
        if found != expected:
            return f"{file} has the SHA-256 {found[:12]}…; {expected[:12]}… was written."
    return ""


def run_of(log: Path) -> Path:
    """Folder of the run, ``results/<run>``, of one of its logs or records."""
    place = log.parts.index("results")
    return Path(*log.parts[: place + 2])


def place_of(log: Path) -> Path:
    """The record of the job with a log, ``results/<run>/logs/….log``."""
    run = run_of(log)
    return run / FOLDER / log.relative_to(run / "logs").with_suffix(".json")


def read_all(run: Path) -> Iterator[tuple[Path, dict[str, Any]]]:
    """The records of a run, and where they are; other jobs may remove theirs meanwhile.

    Raises:
        InputError: One is damaged.
    """
    folder = run / FOLDER
    for file in visible(folder):
        if not file.is_relative_to(folder / MADE) and (record := _read(file)) is not None:
            yield file, record


def _read(file: Path) -> dict[str, Any] | None:
    """A record; None if there is none.

    Raises:
        InputError: It is damaged.
    """
    try:
        content = json.loads(file.read_bytes())
        problem = "" if _is_record(content) else "it lacks what records have"
    except FileNotFoundError:
        return None
    except (ValueError, RecursionError) as error:
        problem = str(error)
    if problem:
        raise InputError(
            f"{file} is no record of a job ({problem}). Remove it, and the results that it was "
            "about are used unchecked."
        )
    return dict(content)


def _is_record(content: Any) -> bool:  # noqa: ANN401 - whatever JSON has
    """Whether the content of a file has all that is read of a record."""
    try:
        environment = content["environment"]
        own = environment["darksecrets"]
        texts = [content["created"], environment["python"], environment["processor"]]
        files = [each for made in content["outputs"].values() for each in made.values()]
        return (
            all(isinstance(text, str) for text in texts)
            and {"commit", "version"} <= own.keys()
            and isinstance(environment["libraries"], dict)
            and "cores" in environment
            and all(isinstance(each["size"] + each["changed"], int) for each in files)
            and all(isinstance(each["sha256"], str) for each in files)
        )
    except (TypeError, LookupError, AttributeError):
        return False


def _record_of(run: Path, result: str) -> Path | None:
    """The record of the job that made a result of a run; None if there is none.

    Raises:
        InputError: The file that names it is damaged.
    """
    pointer = run / FOLDER / MADE / f"{result}.json"
    try:
        return run / FOLDER / str(json.loads(pointer.read_bytes())["record"])
    except (FileNotFoundError, NotADirectoryError):
        return None
    except (ValueError, TypeError, LookupError, RecursionError) as error:
        raise InputError(
            f"{pointer} names no record of a job ({error}). Remove it, and the result is used "
            "unchecked."
        ) from None


def write(
    record: Path, job: Mapping[str, Any], inputs: Mapping[str, str], outputs: Iterable[Path]
) -> None:
    """Record a job that has just ended.

    Args:
        record: See `place_of`.
        job: What is known of it, by name.
        inputs: What it read, from `check`.
        outputs: Files and folders that it made.
    """
    run = run_of(record)
    made = {os.path.relpath(path, run): read_contents(path) for path in outputs}
    content = {
        **job,
        "inputs": inputs,
        "outputs": made,
        "created": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
        "environment": describe_environment(),
    }
    write_json(content, record)
    for name in made:
        pointer = run / FOLDER / MADE / f"{name}.json"
        write_json({"record": record.relative_to(run / FOLDER).as_posix()}, pointer)


def check(record: Path, inputs: Iterable[Path], *, thorough: bool = False) -> dict[str, str]:
    """Compare what a job reads with the records of the jobs of the same run that made it.

    Args:
        record: Of the job, which need not exist; see `place_of`.
        inputs: Files and folders that it reads.
        thorough: Whether large files are digested though their times have not changed.

    Returns:
        The fingerprint of each, see `files.fingerprint`; of a file in a folder that a job made,
        that of the folder.

    Raises:
        InputError: Names the first file that differs, and how to make it again.
    """
    run = run_of(record)
    known: dict[Path, dict[str, Any] | None] = {}
    found = {}
    for path in inputs:
        result, file = _maker(run, path)
        if file is not None and file not in known:
            known[file] = _read(file)
        name = os.path.relpath(result, run)
        contents = (known[file] or {}).get("outputs", {}).get(name) if file is not None else None
        if contents is None:
            found[str(path)] = fingerprint(path)
            continue
        if difference := find_difference(result, contents, thorough=thorough):
            raise InputError(
                f"{difference} It was damaged or edited since it was made. To make it again: "
                f"rm -r '{result}', then run the same command again. To use it as it is: "
                f"rm '{file}'"
            )
        found[str(path)] = combine({name: each["sha256"] for name, each in contents.items()})
    return found


def _maker(run: Path, path: Path) -> tuple[Path, Path | None]:
    """The result that a path is, or is part of, and the record of its job; the path if none."""
    if path.is_relative_to(run):
        for result in (path, *path.parents):
            if result == run:
                break
            if (file := _record_of(run, os.path.relpath(result, run))) is not None:
                return result, file
    return path, None


def describe_environment() -> dict[str, Any]:
    """Versions of the project, of Python and of numerical libraries; the machine."""
    return {
        "darksecrets": {"version": __version__, "commit": find_commit()},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _find_cpu(),
        "cores": os.cpu_count(),
        "libraries": {name: _find_version(name) for name in _LIBRARIES},
    }


def _find_version(library: str) -> str | None:
    """Installed version, or None in an environment without the library."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


@cache
def find_commit() -> str | None:
    """The project's commit, `-dirty` if there are uncommitted changes; None if it is not known.

    Of an installed package it is the one that pip was given, if it installed from a repository.
    """
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    root = PACKAGE.parent
    if not (root / ".git").exists():  # installed: an enclosing repository is another project's
        return _find_installed_commit()
    try:
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()


def _find_installed_commit() -> str | None:
    """The commit that pip noted (PEP 610)."""
    try:
        noted = importlib.metadata.distribution("darksecrets").read_text("direct_url.json")
        commit = json.loads(noted or "{}").get("vcs_info", {}).get("commit_id")
    except (importlib.metadata.PackageNotFoundError, ValueError):  # not installed, or damaged
        return None
    return commit[:12] if commit else None


@cache
def _find_cpu() -> str:
    """Name of the CPU as reported by the system."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
