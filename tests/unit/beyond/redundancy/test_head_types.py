"""Types of heads: against plain loops, on planted heads, with intervals, and over models."""

import math

import numpy as np
import numpy.typing as npt
import pytest
from made_up_maps import HEADS, LAYERS, LENGTHS, can, random_tokens, save

from darksecrets.beyond.redundancy.declared import (
    HEAD_TYPE_COUNTS,
    HEAD_TYPES,
    TYPES,
)
from darksecrets.beyond.redundancy.measure.head_types import (
    THRESHOLDS,
    MapStatistics,
    Typed,
    counts,
    measure_statistics,
    types,
)
from darksecrets.paper.features.labels import FEATURES

Floats = npt.NDArray[np.float64]
RESAMPLES = 200


def softmax(scores: Floats) -> npt.NDArray[np.float16]:
    weights = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float16)


@pytest.mark.parametrize("windows", [(), (None, 4)], ids=["global", "local"])
@pytest.mark.parametrize("max_bytes", [1, 10**7])
def test_what_decides_the_types_is_that_of_the_loops(windows, max_bytes, tmp_path):
    rng = np.random.default_rng(3)
    tokens = [random_tokens(n, 10 + i, rng) for i, n in enumerate(LENGTHS)]
    maps = []
    for n in LENGTHS:
        scores = 2 * rng.normal(size=(LAYERS, HEADS, n, n))
        if windows:
            far = np.abs(np.subtract.outer(np.arange(n), np.arange(n))) > 4
            scores[-1, :, far] = -np.inf
        maps.append(softmax(scores))
    store = save(tmp_path / "store", maps, windows)
    found = measure_statistics(store, tokens, max_bytes)
    assert found.idx.tolist() == [one.idx for one in tokens]
    values = dict(zip(TYPES, np.moveaxis(found.values, 1, 0), strict=True))
    for example, one in enumerate(tokens):
        n = LENGTHS[example]
        for layer, head in np.ndindex(LAYERS, HEADS):
            a = store.maps(example)[layer, head].astype(np.float64)
            here = {name: of[example, layer, head] for name, of in values.items()}
            assert here["next"] == pytest.approx(sum(a[i, i + 1] for i in range(n - 1)) / n)
            assert here["previous"] == pytest.approx(sum(a[i, i - 1] for i in range(1, n)) / n)
            entropy = -sum(w * math.log(w) for w in a.ravel() if w > 0) / n
            keys = [sum(can(store, layer, i, j) for j in range(n)) for i in range(n)]
            greatest = sum(math.log(count) for count in keys) / n
            assert here["broad"] == pytest.approx(entropy, abs=1e-3)
            assert here["broad for its length"] == pytest.approx(entropy / greatest, abs=1e-3)
            for name in ("[CLS]", "[SEP]", "punctuation"):
                having = one.features[:, FEATURES.index(name)]
                queries = [
                    i
                    for i in range(n)
                    if any(having[j] and can(store, layer, i, j) for j in range(n))
                ]
                received = sum(a[i, j] for i in range(n) for j in range(n) if having[j])
                expected = received / max(1, len(queries))
                assert here[name] == pytest.approx(expected, rel=1e-5, abs=1e-7)


def test_planted_heads_are_of_their_types(tmp_path):
    """Each head attends to one thing, the third to everything, and the last to itself."""
    rng = np.random.default_rng(5)
    tokens, maps = [], []
    for idx, n in enumerate([40, 40, 30, 30, 30, 24, 24, 20]):
        one = random_tokens(n, idx, rng)
        one.features[3, FEATURES.index("punctuation")] = True
        tokens.append(one)
        places = np.arange(n)
        scores = np.zeros((1, 7, n, n))
        scores[0, 0][places[:-1], places[1:]] = 9
        scores[0, 1][places[1:], places[:-1]] = 9
        scores[0, 3:6] = [
            9 * np.tile(one.features[:, FEATURES.index(name)], (n, 1))
            for name in ("[CLS]", "[SEP]", "punctuation")
        ]
        scores[0, 6][places, places] = 9
        maps.append(softmax(scores))
    found = measure_statistics(save(tmp_path / "store", maps), tokens)
    typed = Typed.of(found, RESAMPLES, 0)
    models = {("t", "pretrained"): typed, ("t", "random/seed-1"): typed}
    table = HEAD_TYPES.check(types(models), "head_types.csv", "")
    mains = table[(table["state"] == "pretrained") & table["main"]].set_index("head")["type"]
    expected = ["next", "previous", "broad for its length", "[CLS]", "[SEP]", "punctuation"]
    assert mains.to_dict() == dict(enumerate(expected, start=1))
    assert (table.loc[table["main"], "probability"] == 1).all()
    assert not table.loc[table["type"] == "broad", "of_type"].any(), "ln 40 is less than 3.8"
    wide = table[(table["head"] == 3) & (table["type"] == "broad for its length")]
    np.testing.assert_allclose(wide[["value", "uniform"]], 1, atol=1e-3)
    numbers = HEAD_TYPE_COUNTS.check(counts(models), "head_type_counts.csv", "")
    of_all = numbers[(numbers["state"] == "pretrained") & numbers["layer"].isna()]
    assert of_all.set_index("type")["heads"].to_dict() == {
        **dict.fromkeys([*expected, "none"], 1),
        "broad": 0,
    }
    assert (numbers["heads"] == numbers["random"]).all()
    assert (of_all["of"] == 7).all()


def made_up(rng: np.random.Generator, mean: Floats, spread: float, examples: int) -> MapStatistics:
    noise = spread * rng.normal(size=(examples, *mean.shape))
    uniform = np.full((examples, len(TYPES), mean.shape[1], 1), 0.05)
    return MapStatistics(np.arange(examples), mean + noise, uniform)


def at_thresholds(layers: int = 3, heads: int = 4) -> Floats:
    limits = np.array(list(THRESHOLDS.values()))[:, None, None]
    return np.broadcast_to(limits, (len(TYPES), layers, heads))


def test_intervals_and_probabilities_are_those_of_a_mean_over_examples():
    """Student's t, up to what 2,000 bootstrap samples give."""
    from scipy.stats import t

    found = made_up(np.random.default_rng(1), at_thresholds() + 0.01, 0.05, 12)
    typed = Typed.of(found, 2000, 0)
    table = types({("t", "pretrained"): typed}).set_index(["type", "layer", "head"])
    for (kind, layer, head), row in table.iterrows():
        values = found.values[:, TYPES.index(kind), layer - 1, head - 1]
        error = values.std(ddof=1) / math.sqrt(12)
        reach = t.isf(0.025, 11) * error
        assert row["value"] == pytest.approx(values.mean())
        assert row["ci_low"] == pytest.approx(values.mean() - reach, abs=0.25 * reach)
        assert row["ci_high"] == pytest.approx(values.mean() + reach, abs=0.25 * reach)
        sure = t.cdf((values.mean() - row["threshold"]) / error, 11)
        assert row["probability"] == pytest.approx(sure, abs=0.07)
        assert row["of_type"] == (values.mean() > row["threshold"])


def test_few_examples_have_neither():
    typed = Typed.of(made_up(np.random.default_rng(1), at_thresholds(), 0.05, 5), RESAMPLES, 0)
    models = {("t", "pretrained"): typed, ("t", "random/seed-1"): typed}
    table = HEAD_TYPES.check(types(models), "head_types.csv", "")
    assert table[["ci_low", "ci_high", "probability"]].isna().all(axis=None)
    numbers = HEAD_TYPE_COUNTS.check(counts(models), "head_type_counts.csv", "")
    assert numbers[["ci_low", "ci_high"]].isna().all(axis=None)
