"""The analyses beyond the paper: each is a package whose module ``declared`` has an entry.

A run makes the paper, and those that its configuration names. From the entries follow the schema
of the configuration, the tables of a run, what the atlas shows, and what a plan prints. A new
analysis is a package with an entry, a rule file ``workflow/rules/beyond/<package>.smk``, captions,
and claims.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from importlib import import_module
from pathlib import Path
from types import MappingProxyType
from typing import Any

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import Table

PAPER, ALL = "paper", "all"
"""The analysis that every run makes, and the word for all others."""


@cache
def find() -> Mapping[str, Analysis]:
    """All analyses beyond the paper by name, in the order of the paper's sections.

    An analysis comes after those that it needs.
    """
    left = sorted(_find_entries().values(), key=lambda each: (each.section, each.name))
    ordered: dict[str, Analysis] = {}
    while left:
        ready = next(each for each in left if set(each.needs) <= set(ordered))
        left.remove(ready)
        ordered[ready.name] = ready
    return MappingProxyType(ordered)


@cache
def _find_entries() -> dict[str, Analysis]:
    packages = [path.parent.name for path in entries()]
    return {name: import_module(f"{__package__}.{name}.declared").ANALYSIS for name in packages}


def package_of(name: str) -> str:
    """The package, and rule file, of an analysis."""
    return next(package for package, one in _find_entries().items() if one.name == name)


def entries() -> list[Path]:
    """The modules that hold the entries."""
    return sorted(Path(__file__).parent.glob("*/declared.py"))


def switch_on(named: Iterable[str]) -> tuple[list[str], dict[str, str]]:
    """Which analyses a run makes.

    Args:
        named: Those that the configuration names.

    Returns:
        Their names, the paper first, with those that they need; and, for each that was not named,
        the one that needs it.

    Raises:
        InputError: The paper is not among them.
    """
    known, named = find(), list(named)
    if ALL in named:
        return [PAPER, *known], {}
    if PAPER not in named:
        raise InputError(
            f"analyses is [{', '.join(named)}] and lacks '{PAPER}': a run always makes the paper, "
            f"and others beside it. Write [{', '.join([PAPER, *named])}]."
        )
    needed: dict[str, str] = {}
    queue = [name for name in named if name != PAPER]
    while queue:
        one = queue.pop()
        for other in known[one].needs:
            if other not in named and other not in needed:
                needed[other] = one
                queue.append(other)
    return [PAPER, *(name for name in known if name in named or name in needed)], needed


def checks(named: Iterable[str]) -> list[Callable[[Mapping[str, Any]], None]]:
    """The checks of some analyses."""
    known = find()
    paths = [known[name].check for name in named if name in known and known[name].check]
    parts = [path.rpartition(".") for path in paths]
    return [getattr(import_module(f"darksecrets.{module}"), name) for module, _, name in parts]


@cache
def tables() -> dict[str, Table]:
    """The tables that are beyond the paper, by name."""
    return {table.name: table for one in find().values() for table in _tables_of(one)}


@cache
def analyses_by_table() -> dict[str, str]:
    """The analysis of each table that is beyond the paper."""
    return {table.name: one.name for one in find().values() for table in _tables_of(one)}


def _tables_of(one: Analysis) -> list[Table]:
    return [table for tables in one.tables.values() for table in tables]
