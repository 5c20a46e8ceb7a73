"""Text in CSV files that a spreadsheet would run: it takes a cell such as ``=1+1`` for a formula.

A quote before such a cell makes it text. `Table.write` adds the quote and
`Table.read` takes it off, so that what is read is what was written.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import pandas as pd

_FORMULA = re.compile(r"'*[=+\-@\t\r＝＋－＠].", re.DOTALL)  # a sign alone is no formula
_NUMBER = re.compile(r"[+-]?(\d+(\.\d*)?|\.\d+)([eE][+-]?\d+)?")


def would_run(cell: str) -> bool:
    """Whether a spreadsheet would take a cell for a formula."""
    return bool(_FORMULA.match(cell)) and not _NUMBER.fullmatch(cell)


def quote(values: pd.Series[Any]) -> pd.Series[Any]:
    """Text with a quote before every cell that a spreadsheet would run."""
    return _replaced(values, {cell: f"'{cell}" for cell in _texts(values) if would_run(cell)})


def unquote(values: pd.Series[Any]) -> pd.Series[Any]:
    """The inverse of `quote`."""
    quoted = (cell for cell in _texts(values) if cell.startswith("'"))
    return _replaced(values, {cell: unquoted(cell) for cell in quoted})


def unquoted(cell: str) -> str:
    """A single text without the quote."""
    return cell[1:] if cell.startswith("'") and would_run(cell[1:]) else cell


def _texts(values: pd.Series[Any]) -> list[str]:
    return [cell for cell in values.unique() if isinstance(cell, str)]


def _replaced(values: pd.Series[Any], by: dict[str, str]) -> pd.Series[Any]:
    return values.map(lambda cell: by.get(cell, cell)).astype(values.dtype) if by else values
