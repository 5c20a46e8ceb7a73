"""What code of this project a script depends on, so that editing it reruns what uses it."""

from __future__ import annotations

import ast
import hashlib
from collections.abc import Iterable, Iterator
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]

_ELSE = ("orelse",)
_BLOCKS = ("body", "orelse", "handlers", "finalbody", "cases")
"""Where statements hold statements."""


def files_of(script: Path, *modules: str) -> list[Path]:
    """Files that a script imports, directly or indirectly, at any place in the code; sorted.

    Args:
        script: The script; it may also import modules from its own folder.
        modules: Modules that it imports by a name given by the rule, such as
            ``darksecrets.finetuning.figure5``.
    """
    found: set[Path] = set()
    queue = [*_imports(script), *(path for name in modules for path in _locate(name))]
    while queue:
        path = queue.pop()
        if path not in found:
            found.add(path)
            queue.extend(_imports(path))
    return sorted(found)


def digest(files: Iterable[Path]) -> str:
    """Short SHA-256 of the content of code files, in the order given."""
    return hashlib.sha256(b"".join(map(_content, files))).hexdigest()[:16]


@cache
def _content(path: Path) -> bytes:
    """SHA-256 of a file, which many scripts may depend on."""
    return hashlib.sha256(path.read_bytes()).digest()


@cache
def _imports(path: Path) -> tuple[Path, ...]:
    """Files of this project that a file imports, at any place in the code."""
    names = list(_names(ast.parse(path.read_text(encoding="utf-8"))))
    beside = (path.with_name(f"{name}.py") for name in names if "." not in name)
    inside = (file for name in names for file in _locate(name))
    return (*(file for file in beside if file.is_file()), *inside)


def _names(tree: ast.Module) -> Iterator[str]:
    """Modules that a file imports, and names imported from them, which may be modules, too."""
    for node in _executed(tree.body):
        if isinstance(node, ast.ImportFrom):
            if node.level:
                raise ValueError(f"line {node.lineno}: imports here are absolute, not relative")
            yield str(node.module)
            yield from (f"{node.module}.{alias.name}" for alias in node.names)
        elif isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)


def _executed(block: Iterable[ast.AST]) -> Iterator[ast.AST]:
    """Statements and those inside them, except those that only type checkers read.

    Expressions, of which a file has ten times as many, cannot import.
    """
    for node in block:
        yield node
        only_types = isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING"
        for name in _ELSE if only_types else _BLOCKS:
            yield from _executed(getattr(node, name, ()))


@cache
def _locate(name: str) -> tuple[Path, ...]:
    """Files that run when a module of the package is imported: its parent packages and itself.

    For a name that is not a module (such as a function in one), the files of its parents.
    """
    parts = name.split(".")
    if parts[0] != "darksecrets":
        return ()
    bases = [ROOT.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    files = [base / "__init__.py" if base.is_dir() else base.with_suffix(".py") for base in bases]
    return tuple(file for file in files if file.is_file())
