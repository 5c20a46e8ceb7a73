"""What the module of a figure gives is written to the files of its rule."""

import re
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from made_up_figures import drawing, names
from matplotlib.figure import Figure

from darksecrets.core.plotting.drawing import Sources, write
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import Column, Table

TABLE = Table(
    "t", "Of a test.", (Column("token", "text", ""), Column("value", "integer", "")), key=("token",)
)
FACTS = {"script": "darksecrets.section.name", "title": "name, run"}


@pytest.fixture
def sources(tmp_path: Path) -> Sources:
    pd.DataFrame({"token": ["null"], "value": [1]}).to_csv(tmp_path / "t.csv", index=False)
    files = {"t": [tmp_path / "t.csv"], "data": [tmp_path / "a", tmp_path / "b"]}
    return Sources(lambda name: files.get(name, []), {"RTE": ["accuracy"]}, "run x")


def test_sources_are_read_by_name(sources: Sources) -> None:
    assert sources.table(TABLE)["token"].tolist() == ["null"], "a word, not a missing value"
    with pytest.raises(InputError, match=r"t\.csv: the columns are token,value instead of value"):
        sources.table(replace(TABLE, columns=TABLE.columns[1:], key=()))
    with pytest.raises(ValueError, match="too many"):
        sources.file("data")


def test_one_figure_goes_to_all_files(tmp_path: Path) -> None:
    paths = [tmp_path / f"name.{suffix}" for suffix in ("svg", "png")]
    write(Figure(), paths, **FACTS)
    assert FACTS["script"] in paths[0].read_text()
    assert paths[1].read_bytes().startswith(b"\x89PNG")


def test_several_figures_and_texts_go_by_name(tmp_path: Path) -> None:
    one, other = Figure(figsize=(1, 1)), Figure(figsize=(2, 1))
    write({"one": one, "other": other}, [tmp_path / "other.svg", tmp_path / "one.svg"], **FACTS)
    widths = [
        re.search(r'width="(\d+)pt"', (tmp_path / name).read_text())
        for name in ("one.svg", "other.svg")
    ]
    assert [match and match[1] for match in widths] == ["72", "144"]
    write({"t.md": "a", "t.tex": "b"}, [tmp_path / "t.tex", tmp_path / "t.md"], **FACTS)
    assert ((tmp_path / "t.md").read_text(), (tmp_path / "t.tex").read_text()) == ("a", "b")
    with pytest.raises(KeyError):
        write({"one": one}, [tmp_path / "two.svg"], **FACTS)


def test_every_figure_of_the_workflow_has_its_module(root: Path) -> None:
    drawn = [*names(root), "table1"]
    assert len(drawn) > 45
    for name in drawn:
        assert callable(drawing(root, name)), name
        assert (root / "workflow" / "report" / f"{name}.rst").is_file()
