import numpy as np
import pytest
from matplotlib import image
from toy_maps import toy_set

from darksecrets.patterns.__main__ import main
from darksecrets.patterns.annotation import open_labels
from darksecrets.patterns.mapset import MapSet
from darksecrets.patterns.sheets import import_labels, write_sheets
from darksecrets.run.errors import InputError

TIME = "2026-01-31T12:00:00Z"
ANSWERS = {"v": "v sw 2 0", "d": "d - 0 2", "m": "m w 1 2", "b": "b p 1 1", "h": "h - 0 0"}


@pytest.fixture
def folder(tmp_path):
    toy_set(11).save(tmp_path / "set")
    return tmp_path / "set"


@pytest.fixture
def sheets(tmp_path):
    """A folder of sheets, of which only the order is needed."""
    (tmp_path / "sheets").mkdir()
    order = [3, 1, 11, 2, 7, 5, 10, 4, 9, 6, 8]
    lines = [f"{number} toy-{name:04d}\n" for number, name in enumerate(order, 1)]
    (tmp_path / "sheets" / "order.txt").write_text("".join(lines))
    return tmp_path / "sheets"


def run_import(folder, sheets, text, number=1):
    labels = sheets.parent / "labels.txt"
    labels.write_text(text)
    with open_labels(folder) as file:
        return import_labels(MapSet.load(folder), file, sheets / "order.txt", labels, "x", number)


def read_order(sheets):
    return [line.split(" ")[1] for line in (sheets / "order.txt").read_text().splitlines()]


def test_the_seed_gives_the_order_and_nine_maps_share_a_sheet(folder, tmp_path):
    sheets = tmp_path / "drawn"
    assert main(["sheets", str(folder), str(sheets), "--seed", "7"]) == 0
    expected = [f"toy-{1 + place:04d}" for place in np.random.default_rng(7).permutation(11)]
    assert read_order(sheets) == expected
    assert (sheets / "order.txt").read_text().startswith("1 toy-")
    assert sorted(path.name for path in sheets.glob("*.png")) == ["sheet01.png", "sheet02.png"]
    pictures = [image.imread(path)[..., :3] for path in sorted(sheets.glob("*.png"))]
    coloured = [(np.ptp(picture, axis=2) > 0.2).any(axis=1) for picture in pictures]
    assert coloured[0][-500:].any(), "nine maps fill the sheet"
    assert not coloured[1][-900:].any(), "two maps fill its first row"


def test_labels_come_in_as_they_were_given(folder, sheets):
    order = read_order(sheets)
    lines = [f"{n} {ANSWERS[key]} {TIME}\n" for n, key in enumerate("vdmbhvdmbhv", 1)]
    assert run_import(folder, sheets, "".join(lines)) == 11
    labels = MapSet.load(folder).labels
    assert labels["map"].tolist() == order
    assert labels["label"][:5].tolist() == [
        "vertical",
        "diagonal",
        "vertical+diagonal",
        "block",
        "heterogeneous",
    ]
    assert labels["columns"][:5].tolist() == ["sw", "-", "w", "p", "-"]
    assert labels["number"][:5].tolist() == [2, 0, 1, 1, 0]
    assert labels["diagonal"][:5].tolist() == [0, 2, 2, 1, 0]
    assert set(labels["tokens"]) == {"shown"}
    assert set(labels["annotator"]) == {"x"}
    assert set(labels["pass"]) == {1}
    assert set(labels["time"]) == {TIME}


def test_sheets_of_what_is_disputed(folder, sheets, tmp_path):
    with pytest.raises(InputError, match="disagree on no map"):
        write_sheets(MapSet.load(folder), tmp_path / "none", 7, disputed=True)
    run_import(folder, sheets, "".join(f"{n} v s 2 0 {TIME}\n" for n in range(1, 12)))
    other = {3: "b s 2 0", 8: "v sw 2 0", 9: "v s 1 1"}  # of another class, strictly, not at all
    second = [f"{n} {other.get(n, 'v s 2 0')} {TIME}\n" for n in range(1, 12)]
    run_import(folder, sheets, "".join(second), number=2)
    out = tmp_path / "disputed"
    assert main(["sheets", str(folder), str(out), "--seed", "7", "--disputed"]) == 0
    disputed = {read_order(sheets)[2], read_order(sheets)[7]}
    seeded = [f"toy-{1 + place:04d}" for place in np.random.default_rng(7).permutation(11)]
    assert read_order(out) == [name for name in seeded if name in disputed]


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (
            f"1 v s 1 0 {TIME}\n2 x s 1 0 {TIME}\n",
            "line 2: found '2 x .*expected a number, one of the keys v",
        ),
        ("1 v s 1 0\n", "line 1: found '1 v s 1 0'"),
        (f"1 v {TIME}\n", "line 1: found '1 v 2026"),
        (f"1 v - 0 0 {TIME}\n", "line 1: .*vertical needs at least one column"),
        (f"12 v s 1 0 {TIME}\n", "found number 12, which .*order.txt does not have"),
        (f"1 v s 1 0 {TIME}\n1 d - 0 2 {TIME}\n", r"number 1 \(toy-.*two labels of x in pass 1"),
    ],
)
def test_a_wrong_line_brings_nothing_in(folder, sheets, text, message):
    with pytest.raises(InputError, match=message):
        run_import(folder, sheets, text)
    assert MapSet.load(folder).labels.empty


def test_labels_are_not_brought_in_twice(folder, sheets):
    run_import(folder, sheets, f"1 v s 1 0 {TIME}\n")
    with pytest.raises(InputError, match="two labels of x in pass 1"):
        run_import(folder, sheets, f"2 v s 1 0 {TIME}\n1 v s 1 0 {TIME}\n")
    assert len(MapSet.load(folder).labels) == 1


def test_an_order_file_of_another_set_is_refused(folder, sheets):
    (sheets / "order.txt").write_text("1 other-0001\n")
    with pytest.raises(InputError, match=r"order.txt: found the line '1 other-0001'"):
        run_import(folder, sheets, f"1 v s 1 0 {TIME}\n")


def test_sheets_overwrite_nothing(folder, sheets):
    with pytest.raises(InputError, match="is not empty"):
        write_sheets(MapSet.load(folder), sheets, 8)


def test_the_command_brings_labels_in_and_names_a_missing_file(folder, sheets, tmp_path, capsys):
    command = ["import", str(folder), str(sheets / "order.txt"), str(tmp_path / "labels.txt")]
    command += ["--annotator", "x", "--pass", "2"]
    assert main(command) == 1
    assert "labels.txt: there is no such file" in capsys.readouterr().err
    (tmp_path / "labels.txt").write_text(f"1 v s 1 0 {TIME}\n")
    assert main(command) == 0
    assert "1 labels added" in capsys.readouterr().out
    assert MapSet.load(folder).labels["pass"].tolist() == [2]
