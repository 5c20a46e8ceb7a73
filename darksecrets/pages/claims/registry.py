"""The registry of claims: a file per paper in ``darksecrets/resources/claims/``; see its README."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field, fields, replace
from importlib import import_module
from pathlib import Path
from typing import Any, Literal, get_args

from darksecrets.beyond import analyses
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES, read_yaml
from darksecrets.core.run.states import RANDOM
from darksecrets.core.run.tables import Table
from darksecrets.pages.claims.estimates import SignificanceLevel, Threshold

FOLDER = RESOURCES / "claims"
REPRODUCED = "kovaleva2019"
"""Stem of the file of the paper that this project reproduces."""

Quantifier = Literal["every", "some", "greatest", "least"]
Rows = Callable[..., Any]
"""A section's function: tables in, a table with ``value``, ``low``, ``high`` out."""


@dataclass(frozen=True)
class Extreme:
    """The statement that one thing has the greatest, or least, value of all.

    Attributes:
        of: The column that names the things compared.
        which: The one claimed, or several that exceed all others.
        greatest: Whether it is claimed to be the greatest; else the least.
    """

    of: str
    which: tuple[str, ...]
    greatest: bool


@dataclass(frozen=True)
class Question:
    """How a claim is decided from rows of a table.

    Attributes:
        table: The table; or a function ``<section>.claims.<name>`` that is given ``tables``.
        tables: Tables of the function.
        value: The column with the number; its interval is the declared one. A function returns
            ``value``, ``low`` and ``high``.
        where: Values, or lists of values, of columns; other rows are left out.
        metric: Keeps the rows of this metric, or of a task's main metric if it lacks this one.
        each: Columns that distinguish the things the statement is about; seeds are averaged.
        add: The column whose rows are added up.
        bounds: Least and greatest value that a function's number, or a sum, can have; those of a
            column are declared.
        exact: Whether the number has no uncertainty, such as the size of a file.
        test: Whether ``value`` is a p-value or q-value, which can only prove the statement, not
            disprove it: the interval is from 0 to the value.
        premise: Whether it is what the claim explains: if it is refuted, the claim is open.
        if_present: Whether things without rows are left out, such as features that a task lacks.
        tasks: Tasks that the statement is about; all of the paper's if empty.
        quantifier: For which of the things the statement is made.
        threshold: What the numbers are compared with.
        extreme: Or, which is the greatest or least.
        seeds: Number of seeds that a decision about fine-tuned models needs.
    """

    table: str
    tables: tuple[str, ...] = ()
    value: str = "value"
    where: Mapping[str, Any] = field(default_factory=dict)
    metric: str = ""
    each: tuple[str, ...] = ("task",)
    add: str = ""
    bounds: tuple[float, float] = (-math.inf, math.inf)
    exact: bool = False
    test: bool = False
    premise: bool = False
    if_present: bool = False
    tasks: tuple[str, ...] = ()
    quantifier: Quantifier = "every"
    threshold: Threshold | None = None
    extreme: Extreme | None = None
    seeds: int = 2

    @property
    def sources(self) -> tuple[str, ...]:
        """Tables that it reads."""
        return self.tables or (self.table,)

    def possible(self, declared: Mapping[str, Table]) -> tuple[float, float]:
        """Least and greatest value that its number can have."""
        columns = declared[self.table].columns if self.table in declared else ()
        found = [(each.low, each.high) for each in columns if each.name == self.value]
        return found[0] if found and not self.add else self.bounds

    def is_about_tuned(self, declared: Mapping[str, Table]) -> bool:
        """Whether its numbers are of models fine-tuned on tasks."""
        states = self.where.get("state", self.where.get("model", ""))
        states = states if isinstance(states, tuple) else (states,)
        has_tasks = any({"task", "tasks"} & {*declared[name].names} for name in self.sources)
        return has_tasks and not set(states) <= {"pretrained", "frozen", RANDOM}

    @property
    def function(self) -> Rows | None:
        """The section's function; None if a table is read as it is."""
        if "." not in self.table:
            return None
        module, _, name = self.table.rpartition(".")
        return getattr(import_module(f"darksecrets.{module}"), name)


@dataclass(frozen=True)
class Claim:
    """A claim of a paper.

    Attributes:
        paper: Name of the paper's file.
        id: Number of the claim.
        section: Section of the paper.
        claim: The claim, in our words.
        published: The paper's number as text; empty if it gives none.
        unit: Unit of the number.
        data: Data that a run must share with the paper for a verdict; see the registry's README.
        questions: All must be answered by yes.
        weights_only: Why it is not decided again by other measures of attention, though its tables
            are made from maps; empty if it is, or has nothing to do with maps.
        note: What a reader should know, such as what a sound version asks.
    """

    paper: str
    id: str
    section: str
    claim: str
    published: str
    unit: str
    data: tuple[str, ...]
    questions: tuple[Question, ...]
    weights_only: str
    note: str

    @property
    def tables(self) -> tuple[str, ...]:
        """Tables that decide it."""
        return tuple(
            dict.fromkeys(name for question in self.questions for name in question.sources)
        )


@dataclass(frozen=True)
class Paper:
    """A paper and its claims.

    Attributes:
        name: Name of its file.
        title: Authors, year and title.
        analysis: The analysis that tests it; its claims belong to runs that make this analysis.
        needs: What a run must have for a verdict on the paper, in words.
        tasks: The paper's tasks, in its order.
        claims: The claims, in the order of the file.
    """

    name: str
    title: str
    analysis: str
    needs: str
    tasks: tuple[str, ...]
    claims: tuple[Claim, ...]

    @property
    def short(self) -> str:
        """Authors, if more than two the first, and year."""
        authors, year = self.title.partition(" (")[0], self.title.partition("(")[2].split(")")[0]
        first, *others = re.split(r", | and ", authors)
        named = f"{first} et al." if len(others) > 1 else authors
        return f"{named} {year}"


def files(folder: Path = FOLDER) -> list[Path]:
    """The registry's files, one for each paper.

    The paper that is reproduced comes first, the others by year, which ends their names.
    """
    return sorted(
        folder.glob("*.yaml"), key=lambda path: (path.stem != REPRODUCED, path.stem[-4:], path.stem)
    )


def read(paths: Sequence[Path]) -> list[Paper]:
    """Read the registry.

    Raises:
        InputError: An entry is wrong; the message names it.
    """
    return [_paper(path) for path in paths]


def select_for_run(papers: Sequence[Paper], named: Collection[str]) -> list[Paper]:
    """The papers and claims that a run decides.

    Args:
        papers: The registry.
        named: The analyses that the run makes. Claims that need tables of others are left out.
    """
    analysis_by_table = analyses.analyses_by_table()

    def is_asked(claim: Claim) -> bool:
        return all(analysis_by_table.get(name, analyses.PAPER) in named for name in claim.tables)

    return [
        replace(paper, claims=tuple(filter(is_asked, paper.claims)))
        for paper in papers
        if paper.analysis in named
    ]


def modules(papers: Sequence[Paper]) -> list[str]:
    """Modules of the sections' functions, with full names, so that rules depend on their code."""
    questions = [q for paper in papers for claim in paper.claims for q in claim.questions]
    found = {f"darksecrets.{q.table.rpartition('.')[0]}" for q in questions if "." in q.table}
    return sorted(found)


def tables(papers: Sequence[Paper]) -> list[str]:
    """Names of all tables that decide a claim."""
    return sorted({name for paper in papers for claim in paper.claims for name in claim.tables})


def _paper(path: Path) -> Paper:
    content = read_yaml(path)
    known = {"title", "analysis", "needs", "data", "tasks", "claims"}
    _check(content, required=known, optional=set(), where=str(path))
    claims = tuple(_claim(path, content["data"], entry) for entry in content["claims"])
    ids = [claim.id for claim in claims]
    if repeated := sorted({name for name in ids if ids.count(name) > 1}):
        raise _wrong(str(path), f"several claims {', '.join(repeated)}", "one of each id")
    analysis, known_analyses = content["analysis"], [analyses.PAPER, *analyses.find()]
    if analysis not in known_analyses:
        expected = f"one of {', '.join(known_analyses)}"
        raise _wrong(f"{path}: analysis", f"'{analysis}'", expected)
    tasks = tuple(content["tasks"])
    return Paper(path.stem, content["title"], analysis, content["needs"], tasks, claims)


def _claim(path: Path, data: list[str], entry: Mapping[str, Any]) -> Claim:
    where = f"{path}, claim {entry.get('id')}"
    optional = {"published", "unit", "data", "note", "weights only", "answer", "all of"}
    _check(entry, required={"id", "section", "claim"}, optional=optional, where=where)
    answers = entry.get("all of") or list(filter(None, [entry.get("answer")]))
    if not answers:
        raise _wrong(where, "no question", "an answer, or several under 'all of'")
    return Claim(
        paper=path.stem,
        id=str(entry["id"]),
        section=str(entry["section"]),
        claim=entry["claim"],
        published=str(entry.get("published", "")),
        unit=entry.get("unit", ""),
        data=tuple(entry.get("data", data)),
        questions=tuple(read_question(where, answer, "is") for answer in answers),
        weights_only=entry.get("weights only", ""),
        note=entry.get("note", ""),
    )


def read_question(where: str, entry: Mapping[str, Any], *required: str) -> Question:
    """A question from its entry: fields of `Question`, and ``is`` for what is claimed.

    Args:
        where: The entry's place, for messages.
        entry: The entry.
        required: Keys that it needs besides ``table``.

    Raises:
        InputError: The entry is wrong.
    """
    names = {each.name for each in fields(Question)} - {"threshold", "extreme", "quantifier"}
    optional = (names | {"for"}) - {"table"}
    _check(entry, required={"table", *required}, optional=optional, where=where)
    given = {name: _frozen(value) for name, value in entry.items() if name in names}
    quantifier = entry.get("for", "every")
    if quantifier not in get_args(Quantifier):
        raise _wrong(where, f"for: {quantifier}", f"one of {', '.join(get_args(Quantifier))}")
    claimed = {}
    if "is" in entry:
        each = given.get("each", Question.each)
        claimed = _claimed(where, entry["is"], each, test=given.get("test", False))
    return Question(**given, **claimed, quantifier=quantifier)


def _claimed(
    where: str, entry: Mapping[str, Any], each: Sequence[str], *, test: bool
) -> dict[str, Any]:
    """What is claimed: an extreme, or a threshold; of a test, only a level of significance."""
    if test and set(entry) != {"below"}:
        raise _wrong(where, f"is: {dict(entry)}", "below and a level of significance, for a test")
    for side in ("greatest", "least"):
        if side in entry:
            which = entry[side]
            names = tuple(which) if isinstance(which, list) else (which,)
            return {"extreme": Extreme(each[-1], names, side == "greatest")}
    try:
        return {"threshold": SignificanceLevel(**entry) if test else Threshold(**entry)}
    except (TypeError, ValueError) as error:
        raise _wrong(where, f"is: {dict(entry)}", f"{error}, or greatest or least") from None


def _frozen(value: Any) -> Any:  # noqa: ANN401 - any value of the file
    if isinstance(value, list):
        return tuple(map(_frozen, value))
    if isinstance(value, dict):
        return {name: _frozen(inner) for name, inner in value.items()}
    return value


def _check(
    entry: Mapping[str, Any], *, required: Collection[str], optional: Collection[str], where: str
) -> None:
    """Check the keys of an entry."""
    missing, unknown = set(required) - set(entry), set(entry) - set(required) - set(optional)
    if missing or unknown:
        found = ", ".join(map(str, entry))
        expected = (
            f"{', '.join(sorted(required))}, and no others than {', '.join(sorted(optional))}"
        )
        raise _wrong(where, f"the keys {found}", expected)


def _wrong(where: str, found: str, expected: str) -> InputError:
    return InputError(f"{where}: {found} instead of {expected}. Correct the entry.")
