"""What a result was made from and with, so that a number in a table can be traced."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

import darksecrets
from darksecrets.run.files import PROVENANCE, fingerprint

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


def environment() -> dict[str, Any]:
    """Versions of the project, of Python and of the libraries that make numbers; the machine."""
    return {
        "darksecrets": {"version": darksecrets.__version__, "commit": _commit()},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _processor(),
        "cores": os.cpu_count(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def identify(paths: Iterable[str]) -> dict[str, str]:
    """SHA-256 of files and folders.

    A folder that carries provenance is identified by it: it names the folder's content and how it
    came about, and reading it costs nothing, which for an attention store makes a difference.
    """
    identities = {}
    for name in paths:
        path = Path(name)
        record = path / PROVENANCE
        identities[name] = fingerprint(record if record.is_file() else path)
    return identities


def _version(library: str) -> str | None:
    """Installed version, or None in an environment without the library."""
    try:
        return importlib.metadata.version(library)
    except importlib.metadata.PackageNotFoundError:
        return None


@cache
def _commit() -> str | None:
    """The project's commit, with `-dirty` after uncommitted changes; None outside a checkout."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():  # installed: a repository around it is another project's
        return None
    try:
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()


@cache
def _processor() -> str:
    """The processor's name as the system gives it."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
