import numpy as np
import pandas as pd
import pytest
from toy_maps import toy_set

from darksecrets.patterns.__main__ import main
from darksecrets.patterns.mapset import MapSet, label_table
from darksecrets.patterns.mixing import mix
from darksecrets.run.errors import InputError

TIME = "2026-01-31T12:00:00Z"


def labelled(mapset, *numbers):
    """A set with labels of some of its maps."""
    rows = [(mapset.table["map"][n], "vertical", "s", 1, 0, "x", 1, "shown", TIME) for n in numbers]
    return MapSet(mapset.table, mapset.maps, label_table(rows))


def named(mapset, model):
    return MapSet(mapset.table.assign(model=model), mapset.maps, mapset.labels)


@pytest.fixture
def sets():
    return [
        named(labelled(toy_set(20, seed=1), 4, 2, 4), "one"),
        named(toy_set(15, seed=2), "other"),
    ]


def test_every_map_is_there_once_with_its_origin_and_an_opaque_name(sets):
    mixed = mix(sets, 7)
    assert mixed.labels.empty
    assert mixed.table["map"].str.fullmatch("m[a-z2-7]{6}").all()
    assert mixed.table["map"].is_unique
    assert len(mixed.table) == len(mixed.maps) == 35
    for row, weights in zip(mixed.table.itertuples(), mixed.maps, strict=True):
        source = sets[["one", "other"].index(row.model)]
        place = row.idx - 1  # toy maps are numbered
        assert np.array_equal(weights, source.maps[place])
        assert row.tokens == source.table["tokens"][place]


def test_the_order_is_random_and_the_seed_decides(sets):
    mixed, again, other = (mix(sets, seed).table for seed in (7, 7, 8))
    pd.testing.assert_frame_equal(mixed, again)
    assert mixed["model"].tolist() != sorted(mixed["model"])
    assert mixed["idx"].tolist() != other["idx"].tolist()
    assert not set(mixed["map"]) & set(other["map"])
    names = mixed.sort_values("map")
    assert names["model"].tolist() != sorted(names["model"]), "names do not tell models"


def test_labelled_maps_keep_their_old_names_and_labels_and_others_have_none(sets, tmp_path):
    mix(sets, 7).save(tmp_path / "mixed")
    mixed = MapSet.load(tmp_path / "mixed")
    link = mixed.table[mixed.table["earlier"] != ""].set_index("map")["earlier"]
    assert sorted(link) == ["toy-0003", "toy-0005"]
    assert [link[name] for name in mixed.earlier["map"]] == ["toy-0005", "toy-0003", "toy-0005"]
    assert list(mixed.earlier.columns) == ["map", "label", "annotator", "pass", "time"]
    assert mixed.settled().empty, "earlier labels settle nothing"
    assert mixed.disputed() == []


def test_a_set_that_is_mixed_again_keeps_the_first_names(sets):
    twice = mix([mix(sets, 7), named(toy_set(3, seed=3), "third")], 8)
    assert sorted(twice.table["earlier"])[-2:] == ["toy-0003", "toy-0005"]
    assert len(twice.earlier) == 3
    assert set(twice.earlier["map"]) <= set(twice.table["map"])


def test_a_map_in_two_sets_is_refused(sets):
    with pytest.raises(InputError, match="Maps 1 and 36 would both be called m"):
        mix([*sets, sets[0]], 7)


def test_the_command_mixes_folders_and_overwrites_nothing(sets, tmp_path, capsys):
    for number, one in enumerate(sets):
        one.save(tmp_path / str(number))
    command = ["mix", *(str(tmp_path / name) for name in ("mixed", "0", "1")), "--seed", "3"]
    assert main(command) == 0
    assert "35 maps in" in capsys.readouterr().out
    assert len(MapSet.load(tmp_path / "mixed").table) == 35
    assert main(command) == 1
    assert "is already there" in capsys.readouterr().err
