"""Which examples are shown."""

import numpy as np
import pandas as pd
import pytest
from atlas_run import LABELS, predictions, store, stores, sweep

from darksecrets.core.run.errors import InputError
from darksecrets.pages.atlas import maps, packing
from darksecrets.pages.atlas.examples import FLIPS, MEDIAN, RANDOM, TYPICAL, choose, flipped, short


def chosen(number, flips, candidates=None):
    distance = np.array([5.0, 3.0, 1.0, 4.0, np.nan, 9.0, 9.0, 9.0])
    change = np.array([0.9, 0.1, 0.2, 0.5, 0.4, 0.8, 0.7, 0.3])
    own = np.arange(8) if candidates is None else np.array(candidates)
    return [(c.example, c.rule) for c in choose(own, distance, change, flips, number, seed=1)]


def test_the_typical_the_median_and_flips_come_before_random_ones():
    flips = np.zeros((3, 8), dtype=bool)
    flips[0, [5, 6]] = flips[1, 6] = flips[2, 7] = True
    found = chosen(8, flips)
    assert found[:2] == [(2, TYPICAL), (4, MEDIAN)]
    assert found[2:4] == [(6, FLIPS), (7, FLIPS)], "6 covers two heads, 7 the third; 5 no more"
    assert [rule for _, rule in found[4:]] == [RANDOM] * 4
    assert sorted(example for example, _ in found) == list(range(8)), "each once"
    assert chosen(8, flips) == found, "the same on every run"


def test_a_quarter_is_random_even_if_all_flip():
    found = chosen(8, np.eye(8, dtype=bool))
    assert [rule for _, rule in found].count(RANDOM) == 2


@pytest.mark.parametrize("number", [1, 2, 3])
def test_few_examples_and_few_candidates_work(number):
    flips = np.zeros((3, 8), dtype=bool)
    assert len(chosen(number, flips)) == number
    assert len(chosen(number, flips, candidates=[4])) == 1


def test_long_examples_are_left_out_if_there_are_enough_others():
    lengths = np.array([90, 60, 40, 30, 20])
    assert short(lengths, 48, 2).tolist() == [2, 3, 4]
    assert short(lengths, 48, 4).tolist() == [1, 2, 3, 4]
    assert short(lengths, 48, 9).tolist() == [0, 1, 2, 3, 4]


def test_a_regression_flips_if_it_moves_by_half_a_standard_deviation():
    intact = np.array([0.0, 2.0, 4.0])
    assert flipped(np.array([[0.0, 2.9, 4.7]]), intact, ()).tolist() == [[False, True, False]]
    assert flipped(np.array([[1, 0]]), np.array([1, 1]), LABELS).tolist() == [[False, True]]


def test_the_content_of_a_task(tmp_path):
    shape = (2, 3)
    made = stores(tmp_path, (1, 2), shape)
    settings = maps.Settings(LABELS, examples=4, tokens=48, seed=1)
    content = maps.content(made, predictions(), sweep(shape), settings)
    assert content["models"] == ["pretrained", "finetuned/seed-1", "finetuned/seed-2"]
    assert len(content["examples"]) == 4
    for example in content["examples"]:
        idx = example["idx"]
        # the sweep has the examples in reverse order: place 5 − n has idx 10 n
        place = 5 - idx // 10
        heads = [(layer, head) for layer in (1, 2) for head in (1, 2, 3)]
        flips = [k for k, (layer, head) in enumerate(heads) if (layer + head) % 6 == place]
        assert example["flips"] == flips
        assert (example["label"], example["prediction"]) == (LABELS[1], LABELS[0])
        number = list(made["pretrained"].idx).index(idx)
        expected = packing.pack_map(made["finetuned/seed-1"].maps(number))
        assert example["maps"]["finetuned/seed-1"] == expected
        assert list(example["maps"]) == ["pretrained", "finetuned/seed-1"]
    assert np.sum(content["uniform"], axis=1) == pytest.approx(1, abs=1e-3)


def test_a_run_without_a_sweep_and_a_regression_have_content(tmp_path):
    made = stores(tmp_path, (1,), (1, 2))
    settings = maps.Settings((), examples=3, tokens=48, seed=1)
    scores = pd.DataFrame({"idx": 10 * np.arange(6), "label": 2.5, "prediction": 0.123})
    content = maps.content(made, scores, None, settings)
    assert {example["prediction"] for example in content["examples"]} == {"0.12"}
    assert not any(example["flips"] for example in content["examples"])


def test_stores_of_other_examples_are_refused(tmp_path):
    made = {
        "pretrained": store(tmp_path / "a", (1, 2), 1),
        "finetuned/seed-1": store(tmp_path / "b", (1, 2), 1, examples=5),
    }
    with pytest.raises(InputError, match="finetuned/seed-1 has other examples or heads"):
        maps.content(made, predictions(), None, maps.Settings(LABELS, 3, 48, 1))
