"""What is kept of every example, against plain loops."""

import numpy as np
import pytest
from made_up_maps import HEADS, LAYERS, LENGTHS, Even, random_maps, random_tokens, save

from darksecrets.beyond.redundancy.measure.head_types import MapStatistics
from darksecrets.core.run.errors import InputError
from darksecrets.paper.features.cells import Survey, control_cells
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.measuring import measure
from darksecrets.paper.features.profiles import Collector, Profiles, check_paired
from darksecrets.paper.features.tables import ATTENTION_MEASURES

CLOSE = {"rel": 3e-6, "abs": 1e-9}


@pytest.fixture(scope="module", params=[(), (None, 4)], ids=["global", "local"])
def measured(request, tmp_path_factory):
    rng = np.random.default_rng(8)
    tokens = [random_tokens(n, 10 + i, rng) for i, n in enumerate(LENGTHS)]
    maps = random_maps(8, LENGTHS, (LAYERS, HEADS), 4, request.param)
    store = save(tmp_path_factory.mktemp("maps") / "store", maps, request.param)
    collector = Collector()
    tables = measure(store, tokens, 1, 2 * LAYERS * HEADS * 17 * 17 * 2, collector)
    return store, tokens, collector.profiles(), tables


def reaches(store, layer, n):
    window = store.windows[layer] if store.windows else None
    return np.abs(np.subtract.outer(np.arange(n), np.arange(n))) <= (
        n if window is None else window
    )


def looped(store, one, example, f, layer, head, cls_layer):
    """All measures of one feature, of one head on one example, by their definitions."""
    a = store.maps(example)[layer, head].astype(np.float64)
    reach = reaches(store, layer, len(a))
    received = [a[reach[:, j], j].mean() for j in range(len(a))]
    having = [j for j in range(len(a)) if one.features[j, f]]
    top = [j for j in range(len(a)) if received[j] >= max(received) * (1 - 2.0**-10)]
    last = store.maps(example)[cls_layer, head].astype(np.float64)
    near = [last[0, j] for j in having if reaches(store, cls_layer, len(a))[0, j]]
    return {
        "greatest": max(received[j] for j in having),
        "per token": np.mean([received[j] for j in having]),
        "total": sum(received[j] for j in having),
        "most attended": len({*top} & {*having}) / len(top),
        "from [CLS]": max(near) if near else np.nan,
    }


def test_every_measure_is_the_loops(measured):
    store, tokens, found, _ = measured
    even = Even(store, tokens)
    assert set(found.weights) == set(found.uniform) == set(ATTENTION_MEASURES)
    for example, one in enumerate(tokens):
        assert found.idx[example] == one.idx
        assert found.tokens[example].tolist() == one.features.sum(axis=0).tolist()
        for f in range(len(FEATURES)):
            for layer in range(LAYERS):
                if not one.features[:, f].any():
                    assert np.isnan(found.weights["greatest"][example, f, layer])
                    assert np.isnan(found.weights["total"][example, f, layer])
                    continue
                values = [
                    looped(store, one, example, f, layer, head, LAYERS - 1) for head in range(HEADS)
                ]
                uniform = looped_even(even, store, one, example, f, layer)
                for name in ATTENTION_MEASURES:
                    place = 0 if name == "from [CLS]" else layer
                    mean = np.mean([each[name] for each in values])
                    kept = found.weights[name][example, f, place]
                    assert kept == pytest.approx(mean, nan_ok=True, **CLOSE)
                    kept = found.uniform[name][example, f, place]
                    assert kept == pytest.approx(uniform[name], nan_ok=True, rel=1e-5)


def looped_even(even, store, one, example, f, layer):
    class Store:
        windows = store.windows
        maps = even.maps

    return looped(Store, one, example, f, layer, 0, LAYERS - 1)


def test_means_over_examples_are_those_of_the_tables(measured):
    _, _, found, tables = measured
    for row in tables["stripes"].itertuples():
        place = FEATURES.index(row.feature), row.layer - 1, row.head - 1
        assert found.heads["greatest"][place] == pytest.approx(row.weight, **CLOSE)
        assert found.control_heads["greatest"][place] == pytest.approx(row.control, **CLOSE)
    for row in tables["cls_attention"].itertuples():
        place = FEATURES.index(row.feature), 0, row.head - 1
        if row.examples:
            assert found.heads["from [CLS]"][place] == pytest.approx(row.weight, **CLOSE)
    of_layers = tables["stripes"].groupby(["feature", "layer"])[["weight", "control"]].mean()
    for (feature, layer), row in of_layers.iterrows():
        f = FEATURES.index(feature)
        for part, value in (("weights", row["weight"]), ("control", row["control"])):
            kept = np.nanmean(getattr(found, part)["greatest"][:, f, layer - 1])
            assert kept == pytest.approx(value, **CLOSE)


def test_controls_are_means_over_the_draws_of_an_example(measured):
    store, tokens, found, _ = measured
    survey = Survey.of(tokens)
    for example, one in enumerate(tokens):
        cells = control_cells([one], survey, 1).features
        for f, drawn in zip(cells.kinds, cells.keys, strict=True):
            a = store.maps(example)[0].astype(np.float64).mean(axis=1)  # [head, key]
            expected = np.mean([a[:, keys].max(axis=1) for keys in drawn])
            kept = found.control["greatest"][example, f, 0]
            assert kept == pytest.approx(expected, **CLOSE)


def test_files_keep_everything_in_single_precision(measured, tmp_path):
    _, _, found, _ = measured
    found.save(tmp_path / "examples.npz")
    again = Profiles.load(tmp_path / "examples.npz")
    np.testing.assert_array_equal(again.idx, found.idx)
    np.testing.assert_array_equal(again.tokens, found.tokens)
    for part in ("weights", "uniform", "control", "heads", "control_heads"):
        one, other = getattr(found, part), getattr(again, part)
        assert one.keys() == other.keys()
        for name, values in one.items():
            np.testing.assert_allclose(other[name], values, rtol=1e-6)


@pytest.mark.parametrize(
    ("kind", "what"),
    [(Profiles, "attention of single examples"), (MapStatistics, "statistics of maps")],
)
def test_a_damaged_file_is_named(kind, what, tmp_path):
    (tmp_path / "damaged.npz").write_bytes(b"PK\x03\x04")
    np.savez(tmp_path / "other.npz", some=np.ones(3))
    for name in ("damaged.npz", "missing.npz", "other.npz"):
        with pytest.raises(InputError, match=rf"{name} has no {what}"):
            kind.load(tmp_path / name)


def test_models_of_different_examples_are_not_compared(measured):
    _, _, found, _ = measured
    other = Profiles(**{**vars(found), "idx": found.idx + 1})
    check_paired({"RTE": {"pretrained": [found], "finetuned": [found, found]}})
    with pytest.raises(InputError, match="were measured on different"):
        check_paired({"RTE": {"pretrained": [found], "finetuned": [found, other]}})
