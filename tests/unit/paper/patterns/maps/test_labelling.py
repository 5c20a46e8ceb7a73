"""Folders of maps to label, the page that is made of them, and labels that it has written."""

import base64
import json
import re
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pandas as pd
import pytest
from toy_maps import toy_set

from darksecrets.core.plotting.attention_map import saturation
from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.__main__ import main
from darksecrets.paper.patterns.maps.labelling import (
    PAGE,
    add_labels,
    check_annotator,
    prepare,
    write_page,
)
from darksecrets.paper.patterns.maps.mapset import LABEL_COLUMNS, MapSet
from darksecrets.paper.patterns.maps.page.building import build, content
from darksecrets.paper.patterns.maps.page.drawn import drawn

NAMES = [f"toy-{number:04d}" for number in range(1, 7)]
PLAUSIBLE = {
    "vertical": ("vertical", "s", 2, 0),
    "diagonal": ("diagonal", "-", 0, 2),
    "block": ("block", "-", 0, 0),
}


@pytest.fixture
def sample(tmp_path):
    toy_set(6).save(tmp_path / "sample")
    return tmp_path / "sample"


@pytest.fixture
def folder(sample, tmp_path):
    prepare(tmp_path / "annotations", sample)
    return tmp_path / "annotations"


def downloaded(path: Path, labels: dict[str, str], annotator="x", number=1) -> Path:
    """A file as the page writes it."""
    rows = [
        (name, *PLAUSIBLE[label], annotator, number, "shown", "2026-01-01T00:00:00Z")
        for name, label in labels.items()
    ]
    lines = [",".join(LABEL_COLUMNS), *(",".join(map(str, row)) for row in rows)]
    path.write_text("\n".join(lines) + "\n", encoding="utf-8")
    return path


def read(folder):
    return pd.read_csv(folder / "labels.csv", keep_default_na=False)


def test_labels_are_added_and_a_later_one_replaces_that_of_the_same_pass(folder, tmp_path):
    first = dict.fromkeys(NAMES[:4], "block")
    assert add_labels(folder, downloaded(tmp_path / "one.csv", first)) == 4
    again = {NAMES[0]: "diagonal", NAMES[4]: "vertical"}
    add_labels(folder, downloaded(tmp_path / "two.csv", again))
    add_labels(folder, downloaded(tmp_path / "three.csv", {NAMES[0]: "block"}, number=2))
    add_labels(folder, downloaded(tmp_path / "four.csv", {NAMES[0]: "block"}, annotator="NA"))
    rows = read(folder)
    assert rows.groupby(["annotator", "pass"]).size().to_dict() == {
        ("NA", 1): 1,
        ("x", 1): 5,
        ("x", 2): 1,
    }
    own = rows.query("annotator == 'x' and `pass` == 1").set_index("map")["label"]
    assert own.to_dict() == {**first, **again}
    assert MapSet.load(folder).disputed() == [NAMES[0]]


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda text: text.replace("toy-0002", "toy-9999"), "labels of 1 maps that"),
        (lambda text: text.replace("block,-", "stripes,-", 1), "`stripes` in column `label`"),
        (lambda text: text.replace("block,-,0", "vertical,-,0", 1), "at least one column"),
        (lambda text: text.replace("map,label", "label,map"), "the columns are"),
        (lambda text: text + text.splitlines()[-1] + "\n", "key|twice"),
        (lambda text: text.splitlines()[0] + "\n", "has no labels"),
        (lambda _: "", "has no labels"),
        (lambda text: text[:-25], "."),
    ],
    ids=["map", "class", "answers", "columns", "twice", "header", "empty", "cut"],
)
def test_a_file_that_is_wrong_is_refused_and_nothing_is_added(folder, tmp_path, change, message):
    add_labels(folder, downloaded(tmp_path / "good.csv", {NAMES[5]: "block"}, annotator="y"))
    before = (folder / "labels.csv").read_bytes()
    file = downloaded(tmp_path / "bad.csv", dict.fromkeys(NAMES[:3], "block"))
    file.write_text(change(file.read_text()))
    with pytest.raises(InputError, match=message):
        add_labels(folder, file)
    assert (folder / "labels.csv").read_bytes() == before


def test_the_page_is_over_the_maps_and_the_third_pass_over_what_others_disagree_on(
    folder, tmp_path
):
    with pytest.raises(InputError, match="nothing to settle"):
        write_page(folder, "x", 3)
    add_labels(folder, downloaded(tmp_path / "one.csv", dict.fromkeys(NAMES, "block")))
    other = {name: "diagonal" if name in NAMES[1:3] else "block" for name in NAMES}
    add_labels(folder, downloaded(tmp_path / "two.csv", other, annotator="y"))
    address = urlsplit(write_page(folder, " Zoë O ", 3))
    assert parse_qs(address.fragment) == {"annotator": ["Zoë O"], "pass": ["3"]}
    assert address.path == (folder / PAGE).as_posix()
    known = shown(folder)
    assert [one["name"] for one in known["maps"]] == NAMES
    assert known["disputed"] == NAMES[1:3]


def shown(folder: Path) -> dict:
    """What the page knows."""
    page = (folder / PAGE).read_text(encoding="utf-8")
    return json.loads(re.search(r'id="content">(.*?)</script>', page, re.S)[1])


def test_what_the_page_knows_holds_no_origin_and_no_label_of_others(folder, tmp_path):
    labels = dict.fromkeys(NAMES, "vertical")
    add_labels(folder, downloaded(tmp_path / "one.csv", labels, annotator="somebody"))
    write_page(folder, "x", 2)
    known = shown(folder)
    known.pop("borderline")
    assert set(known) == {"set", "colours", "maps", "settled", "disputed"}
    assert set(known["maps"][0]) == {"name", "levels", "tokens", "kinds", "second"}
    page = (folder / PAGE).read_text(encoding="utf-8")
    for word in ("somebody", "finetuned", '"toy"', '"RTE"', "layer"):
        assert word not in page


def test_maps_are_drawn_on_the_scale_of_all_drawings(folder):
    mapset = MapSet.load(folder)
    for sent, weights, row in zip(
        content(mapset)["maps"], mapset.maps, mapset.table.itertuples(), strict=True
    ):
        values = weights.astype(float)
        expected = [
            round(255 * min(value / saturation(values), 1)) for line in values for value in line
        ]
        assert list(base64.b64decode(sent["levels"])) == expected
        assert sent["tokens"] == row.tokens.split(" ")
        assert sent["kinds"] == "s" + "w" * (len(weights) - 2) + "s"
        assert sent["second"] == -1
    assert drawn(np.eye(4), ["[CLS]", "a", "[SEP]", "."], "0001", "1010") | {"levels": ""} == {
        "levels": "",
        "tokens": ["[CLS]", "a", "[SEP]", "."],
        "kinds": "swsp",
        "second": 3,
    }


def test_tokens_are_no_markup():
    maps = toy_set(1)
    length = len(maps.table["special"][0])
    tokens = " ".join(["</script><b>", *["x"] * (length - 1)])
    page = build(MapSet(maps.table.assign(tokens=tokens), maps.maps, maps.labels))
    assert "</script><b>" not in page
    assert page.count("</script>") == 2


def test_sets_are_told_apart_by_their_maps():
    one, other = toy_set(6), toy_set(6, seed=1)
    assert content(one)["set"] == content(toy_set(6))["set"] != content(other)["set"]


def test_the_copy_has_the_maps_and_not_the_labels_of_the_sample(sample, tmp_path):
    add_labels(sample, downloaded(tmp_path / "one.csv", dict.fromkeys(NAMES, "block")))
    prepare(tmp_path / "copy", sample)
    copy = MapSet.load(tmp_path / "copy")
    assert copy.labels.empty
    pd.testing.assert_frame_equal(copy.table, MapSet.load(sample).table)


def test_a_folder_keeps_its_sample_and_its_labels(folder, sample, tmp_path):
    add_labels(folder, downloaded(tmp_path / "one.csv", dict.fromkeys(NAMES, "block")))
    prepare(folder, sample)
    prepare(folder)
    toy_set(6, seed=1).save(tmp_path / "other")
    with pytest.raises(InputError, match=r"holds other maps than .*other"):
        prepare(folder, tmp_path / "other")
    assert len(read(folder)) == 6


def test_a_folder_of_something_else_is_refused_and_left_alone(sample, tmp_path):
    folder = tmp_path / "documents"
    folder.mkdir()
    (folder / "letter.txt").write_text("Dear")
    with pytest.raises(InputError, match="holds something other"):
        prepare(folder, sample)
    assert (folder / "letter.txt").read_text() == "Dear"
    with pytest.raises(InputError, match="is not a set of maps"):
        write_page(folder, "x", 1)


@pytest.mark.parametrize("name", ["", "  ", "a,b", "a\nb", 'a"b', "a\x00"])
def test_names_that_would_break_the_file_are_refused(name, capsys):
    with pytest.raises(InputError, match="annotator's name"):
        check_annotator(name)
    assert main(["check", f"--annotator={name}"]) == 1
    assert "annotator's name" in capsys.readouterr().err
    assert main(["check", "--annotator", "Zoë"]) == 0


def test_the_commands_from_a_page_to_the_agreement_with_the_shipped_labels(tmp_path, capsys):
    folder = tmp_path / "shipped"
    label = ["label", "--shipped", "--annotations", str(folder), "--annotator", "ada"]
    assert main(label) == 0
    assert (folder / PAGE).as_uri() in capsys.readouterr().out
    names = MapSet.load(folder).table["map"]
    assert main(["agreement", str(folder), "--shipped"]) == 1
    assert "No map is labelled yet" in capsys.readouterr().err
    file = downloaded(tmp_path / "given.csv", dict.fromkeys(names, "block"), annotator="ada")
    assert main(["add", str(folder), str(file)]) == 0
    assert f"{len(names)} labels" in capsys.readouterr().out
    assert main(["agreement", str(folder), "--shipped"]) == 0
    said = capsys.readouterr().out
    assert "ada (pass 1)" in said
    assert "Shipped (rows) and yours" in said
