"""The page of files and tables, made from the declarations when the site is built."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

import yaml

from darksecrets.beyond.importance.declared import MLP_IMPORTANCE, PRUNING_CHOICES, PRUNING_ORDERS
from darksecrets.beyond.landscape.declared import SWAPS
from darksecrets.beyond.redundancy.declared import EXAMPLE_DISTANCES, HEAD_DISTANCES
from darksecrets.core.interventions.tables import SWEEP_SETS
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.tables import Column, Table
from darksecrets.pages.contracts import SECTIONS
from darksecrets.pages.inspect.tables import TABLES as TEXT
from darksecrets.paper.finetuning.tables import BASELINE_PREDICTIONS, LAYER_SIMILARITY, predictions
from darksecrets.paper.patterns.tables import LABELLING, PATTERN_MAPS

SAID: Mapping[str, Any] = yaml.safe_load((RESOURCES / "contracts.yaml").read_text("utf-8"))
"""What the page says beside the declarations: files, formats, named targets, and text."""


def page() -> str:
    """The whole page, Markdown."""
    return "\n".join(
        [
            SAID["start"],
            _grid(("path", "content"), ((_code(path), w) for path, w in SAID["paths"].items())),
            "## Formats other than tables\n",
            _grid(("format", "files"), SAID["formats"].items()),
            SAID["tables"].format(pattern_maps=PATTERN_MAPS.file),
            *(
                line
                for section, tables in SECTIONS.items()
                for line in (f"### {section}\n", *map(_table, tables))
            ),
            "### Files of single jobs\n",
            "Parts of the tables above have the same columns. There are also these tables:\n",
            *map(_table, (predictions(2), BASELINE_PREDICTIONS, LAYER_SIMILARITY)),
            *map(_table, (HEAD_DISTANCES, EXAMPLE_DISTANCES, MLP_IMPORTANCE)),
            *map(_table, (SWEEP_SETS, PRUNING_ORDERS, PRUNING_CHOICES)),
            *map(_table, (SWAPS, *TEXT)),
            SAID["labelling"],
            *map(_table, LABELLING),
            "## Named targets\n",
            ", ".join(f"`{target}`" for target in SAID["targets"])
            + "; and, not included in `all`, "
            + ", ".join(
                f"`{target}` (makes {what})" for target, what in SAID["other_targets"].items()
            )
            + ".\n",
        ]
    )


def _table(table: Table) -> str:
    notes = [f"Key: {', '.join(map(_code, table.key))}."] if table.key else []
    if table.every:
        notes.append(f"Every {' of every '.join(map(_code, reversed(table.every)))} has a row.")
    if table.may_be_empty:
        notes.append("May have no rows.")
    head = ("column", "type", "values", "meaning")
    columns = _grid(head, map(_row, table.columns))
    return f"#### {table.file}\n\n{table.meaning} {' '.join(notes)}".rstrip() + f"\n\n{columns}"


def _row(column: Column) -> tuple[str, ...]:
    kind = f"{column.kind}, optional" if column.optional else column.kind
    meaning = column.meaning
    if column.control_of:
        meaning += f" (control of `{column.control_of}`)"
    if column.unit:
        meaning += f" [{column.unit}]"
    if column.decimals is not None:
        meaning += f"; {column.decimals} decimals"
    return _code(column.name), kind, column.range, meaning


def _code(text: str) -> str:
    return ", ".join(f"`{part}`" for part in text.split(", "))


def _grid(head: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> str:
    """A Markdown table; a vertical bar in a cell would end it."""
    lines = [head, ("---",) * len(head), *rows]
    escaped = (" | ".join(cell.replace("|", "\\|") for cell in line) for line in lines)
    return "".join(f"| {line} |\n" for line in escaped)
