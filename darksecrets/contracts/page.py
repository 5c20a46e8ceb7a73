"""The page ``docs/contracts.md``, made from the declarations."""

from __future__ import annotations

from collections.abc import Iterable

from darksecrets.ablation.tables import SWEEP_SETS
from darksecrets.contracts import SECTIONS
from darksecrets.contracts.files import FORMATS, OTHER_TARGETS, PATHS, TARGETS
from darksecrets.data.tables import SAMPLE
from darksecrets.features.tables import EXAMPLE_DISTANCES, HEAD_DISTANCES
from darksecrets.finetuning.tables import BASELINE_PREDICTIONS, LAYER_SIMILARITY, predictions
from darksecrets.importance.tables import PRUNING_CHOICES, PRUNING_ORDERS
from darksecrets.landscape.tables import SWAPS
from darksecrets.patterns.tables import LABELLING, PATTERN_MAPS
from darksecrets.pretraining.tables import TABLES as TINY_BERT
from darksecrets.run.tables import Column, Table
from darksecrets.text.tables import TABLES as TEXT

_START = """\
<!-- Made from the code: python -m darksecrets.contracts > docs/contracts.md -->

# Data contracts

Tests, users and other tools may rely on everything here. Every change is in the changelog.

- Files are written atomically: under a temporary name, then renamed. None is ever incomplete.
- Figures read only tables, never models, so they are redrawn in seconds; those of `look` also read
  its attention store.
- Weights are `safetensors` only, and no code from a hub is run.

## Files

Paths are under `results/<run>/`.
"""

_TABLES = f"""\
## Tables

Tables are tidy: one observation per row. They are CSV files; floats have 7 significant digits, those of single precision,
except outputs of models, which have the 9 that they can be read back from exactly.
Layers and heads count from 1. An empty field is a missing value; it is allowed only if the column is *optional*. The columns of the *key* identify a row. Every
table is checked when it is written and when it is read: columns and their order, types, missing values, bounds, keys, and that
every head of every layer has its row. Bounds hold up to 0.002, because attention is stored in half precision. Units are in
brackets. A *control* is the same estimate where no effect is expected. Text that a spreadsheet would run as a formula, such as the
token `@user`, has a single quote before it in CSV files; the project's own reader (`darksecrets.run.tables`) takes it off.

Two tables have many rows, `{PATTERN_MAPS.file}` and `{HEAD_DISTANCES.file}`. They are Parquet, with a row group for each model or task,
so that one column or the rows of one of them can be read without the others:

```python
pd.read_parquet(
    "{PATTERN_MAPS.file}", columns=["layer", "pattern"], filters=[("task", "==", "RTE")]
)
```
"""  # noqa: E501 - the page's lines

_LABELLING = """\
## Sets of labelled maps

A set is a folder of single maps: `maps.npz`, all maps in one flat array in half precision (`values`); `maps.csv`, a row per map;
`labels.csv`, once there are labels; and `earlier_labels.csv`, if it was labelled before second answers were asked for. Read it with `darksecrets.patterns.mapset.MapSet`. An annotation folder
(`annotations/<run>/`, outside of `results/` so that removing results keeps labels) is a copy of a set, with labels. [labelling.md](labelling.md) says how to make one; `python -m darksecrets.patterns agreement --csv` writes the last two
tables.
"""  # noqa: E501


def page() -> str:
    """The whole page, Markdown."""
    return "\n".join(
        [
            _START,
            _grid(("path", "content"), ((_code(path), what) for path, what in PATHS)),
            "## Formats other than tables\n",
            _grid(("format", "files"), FORMATS),
            _TABLES,
            *(
                line
                for section, tables in SECTIONS.items()
                for line in (f"### {section}\n", *map(_table, tables))
            ),
            "### Files of single jobs\n",
            "Parts of the tables above have the same columns. There are also these tables:\n",
            *map(_table, (SAMPLE, predictions(2), BASELINE_PREDICTIONS, LAYER_SIMILARITY)),
            *map(_table, (EXAMPLE_DISTANCES, SWEEP_SETS, PRUNING_ORDERS, PRUNING_CHOICES)),
            *map(_table, (SWAPS, *TEXT)),
            _LABELLING,
            *map(_table, LABELLING),
            "## The tiny BERT\n",
            "Beside the model in `darksecrets/resources/tiny-bert/` and `results/tiny-bert/`:\n",
            *map(_table, TINY_BERT),
            "## Named targets\n",
            ", ".join(f"`{target}`" for target in TARGETS)
            + "; and, not included in `all`, "
            + ", ".join(f"`{target}` (makes {what})" for target, what in OTHER_TARGETS)
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
