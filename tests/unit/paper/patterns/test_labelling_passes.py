import contextlib
import os

import pandas as pd
import pytest
from toy_maps import toy_set

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.classes import Answers
from darksecrets.paper.patterns.labelling import (
    Pass,
    check_annotator,
    open_labels,
    order_of,
    prepare,
)
from darksecrets.paper.patterns.mapset import MapSet


@pytest.fixture
def sample(tmp_path):
    toy_set(6).save(tmp_path / "sample")
    return tmp_path / "sample"


@pytest.fixture
def folder(sample, tmp_path):
    prepare(tmp_path / "annotations", sample)
    return tmp_path / "annotations"


@contextlib.contextmanager
def labelling(folder, annotator="x", number=1):
    """Start labelling, as the page does; leaving the context is equivalent to killing it."""
    with open_labels(folder) as file:
        yield Pass(MapSet.load(folder), file, annotator, number)


PLAUSIBLE = {
    "vertical": Answers("vertical", "s", 2, 0),
    "diagonal": Answers("diagonal", "-", 0, 2),
    "vertical+diagonal": Answers("vertical+diagonal", "sw", 2, 1),
    "block": Answers("block", "-", 0, 0),
}


def label_all(folder, annotator, number, choose):
    with labelling(folder, annotator, number) as one:
        while one.waiting:
            assert one.label(one.waiting[0], PLAUSIBLE[choose(one.waiting[0])])


def read(folder):
    return pd.read_csv(folder / "labels.csv")


@pytest.fixture
def synced(monkeypatch):
    """Inodes of the files and folders that were synced, in their order."""
    inodes = []
    monkeypatch.setattr(os, "fsync", lambda descriptor: inodes.append(os.fstat(descriptor).st_ino))
    return inodes


def test_a_label_is_on_disk_when_the_call_returns(folder, synced):
    synced.clear()
    with labelling(folder) as one:
        first, second = one.waiting[:2]
        assert one.label(first, PLAUSIBLE["block"])
        row = (folder / "labels.csv").read_text().splitlines()
        assert row[0] == "map,label,columns,number,diagonal,annotator,pass,tokens,time"
        assert row[1].startswith(f"{first},block,-,0,0,x,1,shown,20")
        assert row[1].endswith("Z")
        file, name = (folder / "labels.csv").stat().st_ino, folder.stat().st_ino
        assert synced == [file, name], "the content, and the name of a new file"
        assert one.label(second, PLAUSIBLE["vertical+diagonal"])
        assert len(read(folder)) == 2
        assert synced == [file, name, file]


def test_a_file_that_is_written_anew_is_on_disk_with_its_name(folder, synced):
    with labelling(folder) as one:
        for _ in range(2):
            assert one.label(one.waiting[0], PLAUSIBLE["block"])
        synced.clear()
        assert one.undo()
        assert synced == [(folder / "labels.csv").stat().st_ino, folder.stat().st_ino]
    with (folder / "labels.csv").open("a") as stream:
        stream.write("toy-0001,blo")
    synced.clear()
    with labelling(folder):
        assert synced == [(folder / "labels.csv").stat().st_ino, folder.stat().st_ino]


def test_labelling_goes_on_where_it_was_left(folder):
    with labelling(folder) as one:
        order = list(one.waiting)
        for name in order[:2]:
            one.label(name, PLAUSIBLE["block"])
    with labelling(folder) as one:
        assert one.waiting == order[2:]
        assert (one.labelled, one.total) == (2, 6)


def test_undo_takes_back_the_last_label_also_after_a_restart(folder):
    with labelling(folder) as one:
        order = list(one.waiting)
        for name in order[:3]:
            one.label(name, PLAUSIBLE["block"])
        assert one.undo()
        assert one.waiting == order[2:]
        assert read(folder)["map"].tolist() == order[:2]
    with labelling(folder) as one:
        assert one.undo()
        assert one.undo()
        assert one.waiting == order
        assert one.last(5) == []
        assert not one.undo()
    assert read(folder).empty


def test_undo_leaves_the_labels_of_others_and_of_other_passes(folder):
    label_all(folder, "x", 1, lambda _: "block")
    with labelling(folder, "x", 2) as one:
        name = one.waiting[0]
        one.label(name, PLAUSIBLE["diagonal"])
    label_all(folder, "y", 2, lambda _: "vertical")
    with labelling(folder, "x", 2) as one:
        one.undo()
        assert one.waiting[0] == name
    rows = read(folder)
    assert rows.groupby(["annotator", "pass"]).size().to_dict() == {("x", 1): 6, ("y", 2): 6}


def test_a_skipped_map_comes_again_after_all_others_and_a_skip_can_be_undone(folder):
    with labelling(folder) as one:
        order = list(one.waiting)
        assert one.skip(order[0])
        assert one.waiting == [*order[1:], order[0]]
        one.label(order[1], PLAUSIBLE["block"])
        one.skip(order[2])
        assert one.waiting == [*order[3:], order[0], order[2]]
        for _ in range(3):
            one.undo()
        assert one.waiting == order
        assert read(folder).empty


def test_a_skip_is_forgotten_after_a_restart(folder):
    with labelling(folder) as one:
        order = list(one.waiting)
        assert one.label(order[0], PLAUSIBLE["block"])
        assert one.skip(order[1])
        assert one.waiting == [*order[2:], order[1]]
    with labelling(folder) as one:
        assert one.waiting == order[1:], "at its own place"
        assert one.undo(), "the label"
        assert one.waiting == order


def test_a_map_that_is_not_on_the_screen_gets_no_label(folder):
    with labelling(folder) as one:
        first, second = one.waiting[:2]
        assert not one.label(second, PLAUSIBLE["block"])
        assert not one.skip(second)
        one.label(first, PLAUSIBLE["block"])
        assert not one.label(first, PLAUSIBLE["block"]), "a second tab, or a key pressed twice"
        assert len(read(folder)) == 1
        with pytest.raises(InputError, match=r"'stripes'\. Use vertical"):
            one.label(second, Answers("stripes", "-", 0, 0))
        with pytest.raises(InputError, match="vertical needs at least one column"):
            one.label(second, Answers("vertical", "-", 0, 0))
        assert len(read(folder)) == 1


def test_every_pass_and_every_annotator_has_an_order_of_its_own(folder):
    orders = [order_of(50, name, number).tolist() for name in "xy" for number in (1, 2)]
    assert len({tuple(order) for order in orders}) == 4
    assert all(sorted(order) == list(range(50)) for order in orders)
    assert order_of(50, "x", 1).tolist() == orders[0]


def test_the_third_pass_is_over_what_the_others_disagree_on(folder):
    label_all(folder, "x", 1, lambda _: "block")
    with pytest.raises(InputError, match="nothing to settle"), labelling(folder, "x", 3):
        pass
    disputed = ["toy-0002", "toy-0005"]
    label_all(folder, "x", 2, lambda name: "diagonal" if name in disputed else "block")
    with labelling(folder, "x", 3) as one:
        assert sorted(one.waiting) == disputed
        one.label(one.waiting[0], PLAUSIBLE["vertical"])
    with labelling(folder, "x", 3) as one:
        assert (one.labelled, one.total) == (1, 2)
        one.undo()
        assert sorted(one.waiting) == disputed
    label_all(folder, "x", 3, lambda _: "vertical")
    settled = MapSet.load(folder).settled().set_index("map")["label"]
    assert settled[disputed].tolist() == ["vertical"] * 2
    assert len(settled) == 6


def test_a_line_that_was_cut_off_is_dropped_and_an_edited_one_is_completed(folder):
    with labelling(folder) as one:
        order = list(one.waiting)
        one.label(order[0], PLAUSIBLE["block"])
        one.label(order[1], PLAUSIBLE["block"])
    path = folder / "labels.csv"
    whole = path.read_text()
    path.write_text(whole.rstrip("\n"))
    with labelling(folder) as one:
        assert one.labelled == 2
    assert path.read_text() == whole
    path.write_text(whole[:-12])
    with labelling(folder) as one:
        assert one.waiting == order[1:]
        one.label(order[1], PLAUSIBLE["diagonal"])
    assert read(folder)["label"].tolist() == ["block", "diagonal"]


def test_an_empty_label_file_gets_its_header(folder):
    (folder / "labels.csv").touch()
    with labelling(folder) as one:
        one.label(one.waiting[0], PLAUSIBLE["block"])
    assert len(read(folder)) == 1


def test_a_name_like_na_is_a_name(folder):
    label_all(folder, "NA", 1, lambda _: "block")
    with labelling(folder, "NA", 1) as one:
        assert one.labelled == 6


def test_only_one_process_writes_to_a_folder(folder):
    with (
        open_labels(folder),
        pytest.raises(InputError, match="Another labelling page writes"),
        open_labels(folder),
    ):
        pass
    with open_labels(folder):
        pass


def test_a_file_with_other_columns_is_refused(folder):
    (folder / "labels.csv").write_text("label,map,annotator,pass,time\n")
    with pytest.raises(InputError, match="the columns are label,map"), open_labels(folder):
        pass


def test_the_copy_has_the_maps_and_not_the_labels_of_the_sample(sample, tmp_path):
    label_all(sample, "x", 1, lambda _: "block")
    prepare(tmp_path / "copy", sample)
    copy = MapSet.load(tmp_path / "copy")
    assert copy.labels.empty
    pd.testing.assert_frame_equal(copy.table, MapSet.load(sample).table)


def test_a_folder_keeps_its_sample_and_its_labels(folder, sample, tmp_path):
    label_all(folder, "x", 1, lambda _: "block")
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
    with pytest.raises(InputError, match=r"is not a set of maps: maps.csv"), open_labels(folder):
        pass


@pytest.mark.parametrize("name", ["", "  ", "a,b", "a\nb", 'a"b', "a\x00"])
def test_names_that_would_break_the_file_are_refused(name):
    with pytest.raises(InputError, match="annotator's name"):
        check_annotator(name)
