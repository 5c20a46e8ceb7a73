import csv

import pandas as pd
import pytest

from darksecrets.core.run.cells import would_run
from darksecrets.core.run.tables import Column, Table

TABLE = Table(
    "t",
    "any text",
    (Column("number", "integer", "row"), Column("text", "text", "any", optional=True)),
    key=("number",),
)
FORMULAS = [
    "=1+1",
    "@user",
    "+cmd|' /C calc'!A0",
    "-2+3",
    "--",
    "-LRB-",
    "\t=1",
    "＝1+1",
    "'=1",
    "''@a",
]
HARMLESS = [
    "",
    "-",
    "=",
    "@",
    "+",
    "-1",
    "+2.5e-3",
    "-.5",
    "'tis",
    "a=b",
    "'",
    "''",
    "null",
    "1e5",
    " x",
]


@pytest.mark.parametrize("cell", FORMULAS)
def test_a_formula_is_known(cell):
    assert would_run(cell)


@pytest.mark.parametrize("cell", HARMLESS)
def test_numbers_signs_and_other_text_are_no_formulas(cell):
    assert not would_run(cell)


def test_a_table_holds_no_formula_and_gives_back_what_was_written(tmp_path):
    cells = [*FORMULAS, *HARMLESS]
    frame = pd.DataFrame({"number": range(len(cells)), "text": cells})
    TABLE.write(frame, tmp_path / "t.csv")
    with (tmp_path / "t.csv").open(newline="", encoding="utf-8") as stream:
        written = [row[1] for row in csv.reader(stream)][1:]
    assert [cell for cell in written if cell[:1] in "=+-@\t\r＝" and would_run(cell)] == []
    assert written[len(FORMULAS) :] == HARMLESS
    assert list(TABLE.read(tmp_path / "t.csv")["text"]) == cells
