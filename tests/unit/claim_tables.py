"""Made-up tables that make every claim hold, fail and stay open.

`claim_cases` uses them. A new claim needs its cases, or
a test fails.
"""

import itertools
from collections.abc import Iterable, Mapping

import pandas as pd

from darksecrets.pages.claims import deciding, registry
from darksecrets.pages.claims.answers import Answer
from darksecrets.pages.claims.sources import Run, Tables
from darksecrets.pages.contracts import TABLES

YES, NO, OPEN = Answer.YES, Answer.NO, Answer.OPEN

METRICS = {
    "MRPC": ["f1", "accuracy"],
    "STS-B": ["pearson", "spearman"],
    "SST-2": ["accuracy"],
    "QQP": ["f1", "accuracy"],
    "RTE": ["accuracy"],
    "QNLI": ["accuracy"],
    "MNLI": ["accuracy"],
}
TASKS = list(METRICS)
ON = {"RTE": ("accuracy",), "MRPC": ("f1", "accuracy")}
"""Metrics of two tasks, for tables that are written row by row."""
SEEDS = [1, 2, 3]
RUN = Run(METRICS, dict.fromkeys(METRICS, SEEDS), ["GLUE", "FrameNet"])

PAPERS = {paper.name: paper for paper in registry.read(registry.files())}
CLAIMS = {claim.id: claim for paper in PAPERS.values() for claim in paper.claims}

Frames = dict[str, pd.DataFrame]


def decide(name: str, tables: Frames | Tables, run: Run = RUN) -> deciding.Finding:
    """Decide a claim from tables."""
    claim = CLAIMS[name]
    tables = tables if isinstance(tables, Tables) else Tables(tables, TABLES)
    return deciding.decide(claim, PAPERS[claim.paper].tasks, tables, run)


def decide_all(tables: Tables, run: Run = RUN) -> pd.DataFrame:
    """The table of all claims."""
    return deciding.table(PAPERS.values(), tables, run)


def made(
    table: str,
    column: str,
    values: Mapping[object, float],
    *,
    each: tuple[str, ...] = ("task",),
    half: float = 0.5,
    **fixed: object,
) -> Frames:
    """A table with a row for every value, seed and metric; intervals of ± `half`.

    Columns that no question needs are left out.

    Args:
        table: The table.
        column: The column with the values.
        values: The values, by what is in the columns `each`.
        each: Columns of the key.
        half: Half the width of every interval.
        fixed: Other columns, the same in all rows.
    """
    names = set(TABLES[table].names)
    ends = [c.name for c in TABLES[table].columns if c.interval_of == column]
    rows = []
    for key, value in values.items():
        row = dict(zip(each, key if isinstance(key, tuple) else (key,), strict=True)) | fixed
        row[column] = value
        row |= dict(zip(ends, (value - half, value + half), strict=False))
        rows.append(row)
    frame = pd.DataFrame(rows)
    if "seed" in names and fixed.get("state", "finetuned") == "finetuned":
        frame = frame.merge(pd.DataFrame({"seed": SEEDS}), how="cross")
    if "seeds" in names:
        frame["seeds"] = len(SEEDS)
    if "metric" in names and "metric" not in frame:
        pairs = [(task, metric) for task, metrics in METRICS.items() for metric in metrics]
        frame = frame.merge(pd.DataFrame(pairs, columns=["task", "metric"]))
    assert set(frame) <= names, f"{table} has no columns {set(frame) - names}"
    return {table: frame}


def whole(frames: Frames) -> Frames:
    """The tables with all of their columns: required ones with some value, optional ones empty."""
    found = {}
    for name, part in frames.items():
        frame = part.reset_index(drop=True)
        for column in TABLES[name].columns:
            if column.name not in frame:
                value = column.values[0] if column.values else 1
                frame[column.name] = None if column.optional else value
        found[name] = frame[list(TABLES[name].names)]
    return found


def together(*tables: Frames) -> Frames:
    """Several tables; parts of the same table are concatenated."""
    parts: dict[str, list[pd.DataFrame]] = {}
    for name, frame in itertools.chain.from_iterable(each.items() for each in tables):
        parts.setdefault(name, []).append(frame)
    return {name: pd.concat(frames, ignore_index=True) for name, frames in parts.items()}


def among(
    table: str,
    column: str,
    *parts: tuple[float, dict[str, object]],
    each: tuple[str, ...] = (),
    things: Iterable[object] = ((),),
    **fixed: object,
) -> Frames:
    """A table of several kinds of rows, most of which must not count.

    Args:
        table: The table.
        column: The column with the values.
        parts: Of each kind of rows, the value and what else they have in common.
        each: Columns of the key.
        things: What is in these columns; all have the same value.
        fixed: What all rows have in common.
    """
    return together(
        *(
            made(table, column, dict.fromkeys(things, value), each=each, **(fixed | of))
            for value, of in parts
        )
    )


def tasks(usual: float, names: Iterable[str] = TASKS, **others: float) -> dict[object, float]:
    """A value for every task; `others` by name, such as `STS_B`."""
    return {task: others.get(task.replace("-", "_"), usual) for task in names}


def crossed(*choices: Iterable[object], value: float) -> dict[object, float]:
    """The same value for every combination."""
    return dict.fromkeys(itertools.product(*choices), value)


def sides(
    table: str, column: str, yes: float, no: float, border: float, **more: object
) -> dict[Answer, Frames]:
    """Every task on one side; one task on the other; one at the border."""
    usual = tasks(yes)
    return {
        YES: made(table, column, usual, **more),
        NO: made(table, column, usual | {"RTE": no}, **more),
        OPEN: made(table, column, usual | {"RTE": border}, **more),
    }


def extreme(
    table: str, column: str, which: str, sign: int, scale: float = 1, **more: object
) -> dict[Answer, Frames]:
    """`which` beyond all others on its side; another one beyond it; as far as another one."""
    half = 0.5 * scale
    usual = tasks(10 * scale) | {which: (10 + 3 * sign) * scale}
    other = "SST-2" if which != "SST-2" else "QQP"
    return {
        answer: made(table, column, values, half=half, **more)
        for answer, values in (
            (YES, usual),
            (NO, usual | {other: (10 + 6 * sign) * scale}),
            (OPEN, usual | {other: usual[which]}),
        )
    }


def one(
    table: str, column: str, values: Mapping[Answer, float], **more: object
) -> dict[Answer, Frames]:
    """A table of one row."""
    return {
        answer: made(table, column, {(): value}, each=(), **more)
        for answer, value in values.items()
    }
