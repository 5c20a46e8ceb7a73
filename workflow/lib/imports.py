"""Which files of the package a module is made of, so that editing one reruns what uses it."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

_PACKAGE = Path(__file__).parents[2] / "darksecrets"


def files_of(*modules: str) -> list[Path]:
    """Files of modules of this package and of everything in it that they import, sorted.

    Args:
        modules: Names inside the package, such as ``attention`` or ``figures.figure5``.
    """
    found: set[Path] = set()
    queue = [path for name in modules for path in _locate(name)]
    while queue:
        path = queue.pop()
        if path not in found:
            found.add(path)
            queue.extend(_imports(path))
    return sorted(found)


def _locate(name: str) -> list[Path]:
    """Files that importing a module runs: the packages above it and its own.

    Of a name that is no module (a function of one), only the packages.
    """
    parts = name.split(".")
    bases = [_PACKAGE.joinpath(*parts[:depth]) for depth in range(1, len(parts) + 1)]
    files = [base / "__init__.py" if base.is_dir() else base.with_suffix(".py") for base in bases]
    return [file for file in files if file.is_file()]


def _imports(path: Path) -> Iterator[Path]:
    """Files of this package that a file imports, anywhere in it."""
    prefix = f"{_PACKAGE.name}."
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        names: list[str] = []
        if isinstance(node, ast.ImportFrom) and node.module:
            names = [node.module, *(f"{node.module}.{alias.name}" for alias in node.names)]
        elif isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        for name in names:
            if name.startswith(prefix):
                yield from _locate(name.removeprefix(prefix))
