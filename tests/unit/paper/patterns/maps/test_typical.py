"""Figure 1's maps: which are drawn, against a plain loop over all of them."""

import numpy as np
import pandas as pd
import pytest
from atlas_run import store

from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps import typical
from darksecrets.paper.patterns.tables import PATTERN_MAPS, TYPICAL_MAPS

SHAPE = (2, 3)
MODELS = ("pretrained", "finetuned/seed-1", "finetuned/seed-2")


def classified(own: AttentionStore, model: str, seed: int) -> pd.DataFrame:
    """Classes of all maps of a store, drawn at random; probabilities have ties."""
    rng = np.random.default_rng(seed)
    places = [(idx, *place) for idx in own.idx for place in np.ndindex(*SHAPE)]
    maps = pd.DataFrame(places, columns=["idx", "layer", "head"])
    maps[["layer", "head"]] += 1
    maps["pattern"] = rng.choice(list(PATTERNS)[:4], len(maps))
    maps["probability"] = rng.choice([0.5, 0.75, 1.0], len(maps))
    maps["lenient"] = np.where(rng.random(len(maps)) < 0.5, maps["pattern"], "heterogeneous")
    return identify(maps, "RTE", model)


@pytest.fixture
def run(tmp_path):
    """Classified maps and stores of three models of a task."""
    found = []
    for seed, model in enumerate(MODELS):
        own = store(tmp_path / str(seed), SHAPE, seed)
        path = tmp_path / f"{seed}.parquet"
        PATTERN_MAPS.write(classified(own, model, seed), path)
        found.append((path, tmp_path / str(seed)))
    return found


def loop(run):
    """For each pattern, the best map by a plain loop: later equals do not displace it."""
    best = {}
    for path, folder in run:
        own = AttentionStore.open(folder)
        for row in PATTERN_MAPS.read(path).to_dict("records"):
            example = [*own.idx].index(row["idx"])
            short = len(own.tokens(example)) <= typical.READABLE
            value = (row["pattern"] == row["lenient"], short, row["probability"])
            if row["pattern"] not in best or value > best[row["pattern"]][0]:
                weights = own.maps(example)[row["layer"] - 1, row["head"] - 1]
                best[row["pattern"]] = (value, row, own.tokens(example), np.array(weights))
    return best


@pytest.mark.parametrize("readable", [3, 14, 20])
def test_the_surest_map_of_every_pattern_is_that_of_a_plain_loop(run, readable, monkeypatch):
    monkeypatch.setattr(typical, "READABLE", readable)
    table, maps = typical.choose(run)
    expected = loop(run)
    assert table["pattern"].tolist() == list(PATTERNS)[:4], "no map is heterogeneous by the paper's"
    for row, weights in zip(table.to_dict("records"), maps, strict=True):
        _, best, tokens, best_weights = expected[row["pattern"]]
        same = ["task", "state", "seed", "idx", "layer", "head", "probability"]
        assert {name: str(row[name]) for name in same} == {name: str(best[name]) for name in same}
        assert row["tokens"].split(" ") == tokens
        np.testing.assert_array_equal(weights, best_weights)


def test_a_disputed_map_is_drawn_only_if_there_is_no_other(run, tmp_path):
    path, folder = run[0]
    maps = PATTERN_MAPS.read(path).assign(pattern="block", lenient="vertical", probability=1.0)
    maps.loc[3, "lenient"], maps.loc[3, "probability"] = "block", 0.3
    PATTERN_MAPS.write(maps, tmp_path / "one.parquet")
    table, _ = typical.choose([(tmp_path / "one.parquet", folder)])
    assert table["probability"].tolist() == [0.3]
    PATTERN_MAPS.write(maps.assign(lenient="vertical"), tmp_path / "one.parquet")
    table, _ = typical.choose([(tmp_path / "one.parquet", folder)])
    assert table["probability"].tolist() == [1.0]


def test_maps_are_of_no_model_that_has_not_learned():
    tasks = ("RTE", "MRPC")
    models = [(task, model) for task in tasks for model in (*MODELS, "random/seed-1")]
    assert typical.drawn_models(models, {"RTE"}) == [("MRPC", model) for model in MODELS]
    none_learned = typical.drawn_models(models, {*tasks})
    assert none_learned == [(task, "pretrained") for task in tasks]


def test_maps_are_read_as_they_were_written(run, tmp_path):
    table, maps = typical.choose(run)
    TYPICAL_MAPS.write(table, tmp_path / "typical_maps.csv")
    typical.save(table["pattern"], maps, tmp_path / "maps.npz")
    read = typical.read(table["pattern"], tmp_path / "maps.npz")
    for one, other in zip(maps, read, strict=True):
        np.testing.assert_array_equal(one, other)
    with pytest.raises(InputError, match=r"missing heterogeneous\. Remove the file"):
        typical.read(["heterogeneous"], tmp_path / "maps.npz")
