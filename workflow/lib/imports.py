"""What code of this project a script depends on, so that editing it reruns the script's rule."""

from __future__ import annotations

import hashlib
import re
from collections.abc import Iterable
from functools import cache
from pathlib import Path

from darksecrets.beyond import analyses
from darksecrets.core.run.files import PACKAGE

_FOR_TYPES = re.compile(r"^if TYPE_CHECKING:\n(?:[ \t]+.*\n|\n)*", re.MULTILINE)
_IMPORT = re.compile(
    r"^[ \t]*(?:from ([\w.]+) import (?:\(([^)]*)\)|(.*))|import ([\w., ]+))", re.MULTILINE
)


def files_of(script: Path, *modules: str) -> list[Path]:
    """Files of a script's code: itself and what it imports, directly or not, anywhere; sorted.

    Args:
        script: The script; it may also import modules from its own folder.
        modules: Modules that it imports by a name given by the rule, such as
            ``darksecrets.pages.claims.registry``.
    """
    found: set[Path] = set()
    queue = [script, *(file for name in modules for file in _locate(name))]
    while queue:
        file = queue.pop()
        if file not in found:
            found.add(file)
            queue.extend(_imports_of(file))
    return sorted(found)


def digest(files: Iterable[Path]) -> str:
    """Short SHA-256 of the content of files, in the order given."""
    return hashlib.sha256(b"".join(map(_digest, files))).hexdigest()[:16]


@cache
def _digest(file: Path) -> bytes:
    return hashlib.sha256(file.read_bytes()).digest()


@cache
def _imports_of(file: Path) -> tuple[Path, ...]:
    """Files of this project that a file imports, but those that only type checkers read."""
    if file.suffix != ".py":
        return ()
    names: list[str] = []
    text = _FOR_TYPES.sub("", file.read_text(encoding="utf-8"))
    for module, several, one, plain in _IMPORT.findall(text):
        members = re.findall(r"(\w+)(?: as \w+)?", re.sub("#.*", "", several or one))
        names += re.findall(r"[\w.]+", plain) if plain else [module]
        names += [f"{module}.{member}" for member in members]
    beside = (file.with_name(f"{name}.py") for name in names if "." not in name)
    found = [path for path in beside if path.is_file()]
    found += [path for name in names for path in _locate(name)]
    if file == PACKAGE / "beyond" / "analyses.py":
        for entry in analyses.entries():  # which it imports by name
            found += [entry, entry.with_name("__init__.py")]
    return tuple(found)


@cache
def _locate(name: str) -> tuple[Path, ...]:
    """Files that run when a module of the package is imported: its parent packages and itself.

    For a name that is not a module (such as a function in one), the files of its parents.
    """
    parent, _, _ = name.rpartition(".")
    if not parent and name != "darksecrets":
        return ()
    base = PACKAGE.parent.joinpath(*name.split("."))
    file = base / "__init__.py" if base.is_dir() else base.with_suffix(".py")
    own = (file,) if file.is_file() else ()
    return (*_locate(parent), *own) if parent else own
