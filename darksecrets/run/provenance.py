"""Provenance: the inputs and software of a result, so that every number can be traced."""

from __future__ import annotations

import importlib.metadata
import json
import os
import platform
import subprocess
from collections.abc import Iterable
from functools import cache
from pathlib import Path
from typing import Any

from darksecrets.run.files import PROVENANCE, fingerprint
from darksecrets.run.version import __version__

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
    """Versions of the project, of Python and of numerical libraries; the machine."""
    return {
        "darksecrets": {"version": __version__, "commit": _commit()},
        "python": platform.python_version(),
        "platform": platform.platform(),
        "processor": _cpu(),
        "cores": os.cpu_count(),
        "libraries": {name: _version(name) for name in _LIBRARIES},
    }


def read_record(folder: Path) -> dict[str, Any]:
    """The provenance that a job wrote into a folder."""
    return json.loads((folder / PROVENANCE).read_text(encoding="utf-8"))


def identify(paths: Iterable[str]) -> dict[str, str]:
    """SHA-256 of files and folders.

    A folder with provenance is identified by that file alone: it records the folder's content and
    origin, and hashing a whole attention store would take long.
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
    """The project's commit, `-dirty` if there are uncommitted changes; None outside a checkout."""
    command = ["git", "describe", "--always", "--dirty", "--abbrev=12", "--exclude=*"]
    root = Path(__file__).parents[2]
    if not (root / ".git").exists():  # installed: an enclosing repository is another project's
        return None
    try:
        run = subprocess.run(command, cwd=root, capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return None
    return run.stdout.strip()


@cache
def _cpu() -> str:
    """Name of the CPU as reported by the system."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.split(":", 1)[1].strip()
    return platform.processor() or platform.machine()
