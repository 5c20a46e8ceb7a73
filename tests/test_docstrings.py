"""What docstrings name in backticks exists: a module, a function, a key, a table or a file."""

import ast
import importlib.util
import itertools
import re
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest

from workflow.lib.configuration import load_schema

ROOT = Path(__file__).parents[1]
FOLDERS = ("darksecrets", "workflow", "scripts", "benchmarks", "tools")
FILES = sorted(file for folder in FOLDERS for file in (ROOT / folder).rglob("*.py"))
NAMED = re.compile(r"(?<!`)`([A-Za-z_][\w.]*)(?:\(.*?\))?`(?!`)")
OTHERS = {"null", "stages_cpu", "stages_gpu", "matplotlibrc"}
"""A value of YAML, files that a program makes, a file of a library."""


@cache
def tree(file: Path) -> ast.Module:
    return ast.parse(file.read_text(encoding="utf-8"))


def bodies(file: Path) -> Iterator[list[ast.stmt]]:
    """Of the module, its classes and functions, and what is in them."""
    for node in ast.walk(tree(file)):
        body = getattr(node, "body", None)
        if isinstance(body, list):
            yield body


def is_text(statement: ast.stmt) -> bool:
    """Whether a statement is a docstring."""
    value = statement.value if isinstance(statement, ast.Expr) else None
    return isinstance(value, ast.Constant) and isinstance(value.value, str)


def docstrings(file: Path) -> Iterator[str]:
    """Of a module's parts and of its constants."""
    for body in bodies(file):
        yield from (ast.literal_eval(each.value) for each in body if is_text(each))


def stored(node: ast.AST) -> set[str]:
    """Names that are defined or assigned somewhere within a part of a program."""
    found = set()
    for each in ast.walk(node):
        if isinstance(each, ast.FunctionDef | ast.ClassDef):
            found.add(each.name)
        elif isinstance(each, ast.arg):
            found.add(each.arg)
        elif isinstance(each, ast.Name | ast.Attribute) and isinstance(each.ctx, ast.Store):
            found.add(each.id if isinstance(each, ast.Name) else each.attr)
        elif isinstance(each, ast.alias):
            found.add(each.asname or each.name.split(".")[0])
    return found


@cache
def owners() -> dict[str, set[str]]:
    """What every module, package and class of the project has."""
    found: dict[str, set[str]] = {}
    for file in FILES:
        name = file.parent.name if file.stem == "__init__" else file.stem
        found.setdefault(name, set()).update(stored(tree(file)))
        found.setdefault(file.parent.name, set()).add(name)
        for node in ast.walk(tree(file)):
            if isinstance(node, ast.ClassDef):
                found.setdefault(node.name, set()).update(stored(node))
    return found


@cache
def bases() -> dict[str, set[str]]:
    """Names of the classes that each class inherits from."""
    return {
        node.name: {base.id for base in node.bases if isinstance(base, ast.Name)}
        for file in FILES
        for node in ast.walk(tree(file))
        if isinstance(node, ast.ClassDef)
    }


@cache
def keys() -> set[str]:
    """Keys of the configuration, as paths and alone."""

    def walk(schema: dict, before: str = "") -> Iterator[str]:
        for name, part in schema.get("properties", {}).items():
            yield from (name, before + name)
            yield from walk(part, f"{before}{name}.")

    return set(walk(load_schema()))


@cache
def file_names() -> set[str]:
    known = {path.name for folder in FOLDERS for path in (ROOT / folder).rglob("*")}
    return known | {f"{name}.csv" for name in tables()}


@cache
def tables() -> set[str]:
    """Names of tables, which are texts of declarations."""
    return {
        node.value
        for file in FILES
        for node in ast.walk(tree(file))
        if isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and node.value.isidentifier()
    }


def exists(name: str) -> bool:
    if name in OTHERS | keys() | file_names() | tables():
        return True
    *owner, last = name.split(".")
    known = owners()
    if not owner:
        return name in known or any(name in names for names in known.values())
    if importlib.util.find_spec(owner[0]) is not None and owner[0] not in known:
        return True
    if owner[-1] in known:
        ancestors = bases().get(owner[-1], set())
        return any(last in known.get(each, ()) for each in (owner[-1], *ancestors))
    return False


def test_names_in_docstrings_exist():
    named = {
        f"{file.relative_to(ROOT)}: `{name}`"
        for file in FILES
        for text in docstrings(file)
        for name in NAMED.findall(text)
        if not exists(name)
    }
    assert not named


@pytest.mark.parametrize(
    ("name", "is_there"),
    [
        ("Section.of", True),
        ("labelled_maps.check", True),
        ("fine_tuning.epochs", True),
        ("numpy.triu_indices", True),
        ("annotations.check", False),
        ("running.no_such_name", False),
        ("tables.SWAPS", False),
        ("no_such_name", False),
    ],
)
def test_the_search_tells_what_exists(name, is_there):
    assert exists(name) == is_there


def test_one_docstring_stands_under_a_constant():
    """Two in a row: the second is about something else."""
    for file in FILES:
        for body in bodies(file):
            assert (True, True) not in itertools.pairwise(map(is_text, body)), file
