import pandas as pd
import pytest
from labelled import make_labelled_maps, save

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps import labelled_maps
from darksecrets.paper.patterns.maps.mapset import label_table


def test_sets_are_read_together_and_only_maps_whose_label_holds(tmp_path):
    mapset = make_labelled_maps(["vertical", "block"], 4)
    again = mapset.labels.assign(**{"pass": 2})
    # Maps 0 and 1: disagreements, of which the second is settled below.
    again.loc[:1, ["label", "columns", "number", "diagonal"]] = ["diagonal", "-", 0, 2]
    third = pd.DataFrame([mapset.labels.iloc[1].to_dict() | {"pass": 3}])
    mapset = type(mapset)(mapset.table, mapset.maps, pd.concat([mapset.labels, again, third]))
    other = make_labelled_maps(["block"], 3)
    names = other.table["map"].str.replace("x-", "y-")
    given = other.labels.assign(map=other.labels["map"].str.replace("x-", "y-"))
    other = type(other)(other.table.assign(map=names), other.maps, given)
    folders = [save(mapset, tmp_path / "set"), save(other, tmp_path / "other")]
    read = labelled_maps.load(folders)
    assert len(read.table) == 7 + 3
    assert "x-0000" not in set(read.table["map"])
    assert read.labels[0] == "vertical"
    assert (read.maps[0] == mapset.maps[1]).all()
    pairs = pd.Series(read.groups[:7]).value_counts()
    assert sorted(pairs) == [1] + [2] * 3  # maps of one example are one group


def test_examples_that_share_a_sentence_are_one_group_across_tasks_and_models(tmp_path):
    mapset = make_labelled_maps(["vertical"], 6)
    rows = [
        ("[CLS] a dog bark ##s [SEP] yes [SEP]", "00000011", "10000101", "m", "RTE", 1),
        ("[CLS] so [SEP] A dog barks [SEP]", "0001111", "1010001", "n", "MRPC", 1),  # as the first
        ("[CLS] So [SEP] no [SEP]", "00011", "10101", "m", "QQP", 7),  # by way of the second
        ("[CLS] it [SEP]", "000", "101", "m", "QQP", 7),  # the same example
        ("[CLS] dog bark ##s [SEP]", "00000", "10001", "m", "RTE", 2),  # a part, not a sentence
        ("[CLS] yes no [SEP]", "0000", "1001", "m", "SST-2", 1),
    ]
    columns = ["tokens", "segments", "special", "model", "task", "idx"]
    table = mapset.table.copy()
    table[columns] = pd.DataFrame(rows, columns=columns)
    found = labelled_maps.Annotations(table, mapset.maps).groups
    assert found.tolist() == [0, 0, 0, 0, 1, 2]
    again = labelled_maps.Annotations(table.iloc[::-1].reset_index(drop=True), mapset.maps).groups
    assert again.tolist() == [0, 1, 2, 2, 2, 2]


def test_a_sentence_is_the_same_in_the_pieces_of_every_tokenizer(tmp_path):
    mapset = make_labelled_maps(["vertical"], 5)
    rows = [
        ("[CLS] a cafe ' s do ##gs [SEP]", "00000000", "10000001", "wordpiece", "RTE", 1),
        ("<s> ▁A ▁Café ' s ▁dog s </s>", "00000000", "10000001", "sentencepiece", "RTE", 2),
        ("<s> A ĠCafe 's Ġdogs </s>", "000000", "100001", "bytes", "RTE", 3),
        ("<s> ! </s>", "000", "101", "sentencepiece", "RTE", 4),  # no letter is no sentence
        ("[CLS] ? [SEP]", "000", "101", "wordpiece", "RTE", 5),
    ]
    columns = ["tokens", "segments", "special", "model", "task", "idx"]
    table = mapset.table.copy()
    table[columns] = pd.DataFrame(rows, columns=columns)
    assert labelled_maps.Annotations(table, mapset.maps).groups.tolist() == [0, 0, 0, 1, 2]


def test_one_class_and_classes_with_too_few_examples_are_refused(tmp_path):
    one = save(make_labelled_maps(["block"], 20), tmp_path / "one")
    with pytest.raises(InputError, match="the maps have block; at least two classes"):
        labelled_maps.check([str(one)], 5)
    few = save(make_labelled_maps(["block", "diagonal"], 8), tmp_path / "few")  # of 4 examples each
    labelled_maps.check([str(few)], 4)
    with pytest.raises(InputError, match=r"too few examples of diagonal \(4\), block \(4\) for 5"):
        labelled_maps.check([str(few)], 5)


def test_the_shipped_maps_are_enough_for_as_many_folds_as_is_said() -> None:
    labelled_maps.check([str(labelled_maps.SHIPPED)], labelled_maps.SHIPPED_FOLDS)  # reads the set
    with pytest.raises(InputError, match=f"for {labelled_maps.SHIPPED_FOLDS + 1} folds"):
        labelled_maps.check([], labelled_maps.SHIPPED_FOLDS + 1)
    assert set(labelled_maps.load(labelled_maps.folders([])).labels) == set(PATTERNS)


def test_maps_have_a_class_in_either_reading(tmp_path):
    mapset = make_labelled_maps(["vertical", "block", "vertical+diagonal"], 2)
    given = mapset.labels
    given.loc[[1, 5], "columns"] = "sw"
    again = given.assign(**{"pass": 2})
    again.loc[0, "number"] = 1  # second answers may differ where both definitions agree
    mapset = type(mapset)(mapset.table, mapset.maps, pd.concat([given, again]))
    read = labelled_maps.load([save(mapset, tmp_path / "set")])
    wide = ["vertical"] * 2 + ["block"] * 2 + ["vertical+diagonal"] * 2
    assert read.labels == wide
    strict = ["vertical", "heterogeneous", "block", "block", "vertical+diagonal", "diagonal"]
    assert read.table["strict"].tolist() == strict
    third = given.iloc[[0]].assign(**{"pass": 3}, columns="w")
    mapset = type(mapset)(mapset.table, mapset.maps, pd.concat([given, again, third]))
    read = labelled_maps.load([save(mapset, tmp_path / "third")])
    assert read.table["strict"].iloc[0] == "heterogeneous"


def test_maps_without_second_answers_have_no_strict_class(tmp_path):
    mapset = make_labelled_maps(["vertical"], 2)
    rows = [
        (name, "vertical", "", None, None, "a", 1, "shown", "t") for name in mapset.table["map"]
    ]
    mapset = type(mapset)(mapset.table, mapset.maps, label_table(rows))
    read = labelled_maps.load([save(mapset, tmp_path / "set")])
    assert read.table["strict"].tolist() == ["", ""]
