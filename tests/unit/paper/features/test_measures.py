"""Statistics of heads, against plain loops in double precision written from the definitions."""

import json
import math
import tracemalloc
from collections.abc import Callable
from dataclasses import replace
from functools import partial

import numpy as np
import numpy.typing as npt
import pandas as pd
import pytest
from made_up_maps import HEADS, LAYERS, LENGTHS, Even, can, random_maps, random_tokens, save

from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.stats.controls import tokens_at_likely_places
from darksecrets.paper.features import measuring
from darksecrets.paper.features.cells import DRAWS, Survey, control_cells, places_of
from darksecrets.paper.features.labels import FEATURES, RELATIONS
from darksecrets.paper.features.measuring import measure
from darksecrets.paper.features.tables import SHARES, STATISTICS
from darksecrets.paper.features.tokens import Tokens, describe

#: Sums over a row in single precision.
CLOSE = {"rel": 2e-6, "abs": 1e-9}


@pytest.fixture(scope="module")
def tokens() -> list[Tokens]:
    rng = np.random.default_rng(4)
    return [random_tokens(n, 10 + i, rng) for i, n in enumerate(LENGTHS)]


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> AttentionStore:
    maps = random_maps(5, LENGTHS, (LAYERS, HEADS), 4)
    maps[0][0, 0] = np.eye(LENGTHS[0])  # zeros, whose logarithm is not taken
    return save(tmp_path_factory.mktemp("maps") / "store", maps)


@pytest.fixture(scope="module")
def local(tmp_path_factory: pytest.TempPathFactory) -> AttentionStore:
    """Maps whose last layer reaches 4 tokens in both directions."""
    maps = random_maps(6, LENGTHS, (LAYERS, HEADS), 4, (None, 4))
    return save(tmp_path_factory.mktemp("maps") / "local", maps, (None, 4))


def mean(values: list[float]) -> float:
    return math.fsum(values) / len(values) if values else 0.0


def received(a: npt.NDArray[np.float64], token: int, reaching) -> float:
    return mean([a[i, token] for i in range(len(a)) if reaching(i, token)])


def stripe(store: AttentionStore, tokens: list[Tokens], f: int, layer: int, head: int):
    """Section 4.4: for each token with F the mean over queries, the largest of them, the mean."""
    values = []
    for example, one in enumerate(tokens):
        a = store.maps(example)[layer, head].astype(np.float64)
        having = [j for j in range(len(a)) if one.features[j, f]]
        if having:
            values.append(max(received(a, j, partial(can, store, layer)) for j in having))
    return values


def from_cls(store: AttentionStore, tokens: list[Tokens], f: int, head: int):
    values = []
    for example, one in enumerate(tokens):
        a = store.maps(example)[store.layers - 1, head].astype(np.float64)
        near = [j for j in range(len(a)) if can(store, store.layers - 1, 0, j)]
        having = [j for j in near if one.features[j, f]]
        if having:
            values.append(max(a[0, j] for j in having))
    return values


def related(store: AttentionStore, pairs_of, layer: int, head: int, reduce):
    values = []
    for example, pairs in enumerate(pairs_of):
        a = store.maps(example)[layer, head].astype(np.float64)
        near = [a[i, j] for i, j in pairs if can(store, layer, i, j)]
        if near:
            values.append(reduce(near))
    return values


def statistic(store: AttentionStore, tokens: list[Tokens], name: str, layer: int, head: int):
    values = []
    for example, one in enumerate(tokens):
        a = store.maps(example)[layer, head].astype(np.float64)
        of_queries = []
        for i in range(len(a)):
            near = [j for j in range(len(a)) if can(store, layer, i, j)]
            if name == "entropy":
                of_queries.append(-sum(a[i, j] * math.log(a[i, j]) for j in near if a[i, j]))
            elif name == "greatest entropy":
                of_queries.append(math.log(len(near)))
            elif name in FEATURES:
                having = [j for j in near if one.features[j, FEATURES.index(name)]]
                if having:
                    of_queries.append(sum(a[i, j] for j in having))
            else:
                place = i + {"previous": -1, "self": 0, "next": 1}[name]
                of_queries.append(a[i, place] if 0 <= place < len(a) else 0.0)
        values.append(mean(of_queries))
    return values


def under_uniform(store: AttentionStore, tokens: list[Tokens]) -> dict[str, Callable]:
    """The means under attention that is equal for all tokens in reach, by the name of the table."""

    def share(layer: int, i: int, length: int) -> float:
        return 1 / sum(can(store, layer, i, j) for j in range(length))

    def of_stripes(f: int, layer: int) -> float:
        values = []
        for one in tokens:
            places = range(len(one.special))
            found = [
                mean([share(layer, i, len(places)) for i in places if can(store, layer, i, j)])
                for j in np.flatnonzero(one.features[:, f])
            ]
            values += [max(found)] if found else []
        return mean(values)

    def of_cls(f: int) -> float:
        last = store.layers - 1
        reached = [
            any(can(store, last, 0, j) for j in np.flatnonzero(one.features[:, f]))
            for one in tokens
        ]
        lengths = [len(one.special) for one in tokens]
        return mean([share(last, 0, n) for n, has in zip(lengths, reached, strict=True) if has])

    def of_pairs(pairs_of, layer: int, reduce) -> float:
        values = []
        for one, pairs in zip(tokens, pairs_of, strict=True):
            near = [share(layer, i, len(one.special)) for i, j in pairs if can(store, layer, i, j)]
            values += [reduce(near)] if near else []
        return mean(values)

    def of_statistics(name: str, layer: int) -> float:
        return mean(statistic(Even(store, tokens), tokens, name, layer, 0))

    return {
        "stripes": of_stripes,
        "cls_attention": of_cls,
        "pairs": of_pairs,
        "statistics": of_statistics,
    }


def check(found: dict[str, pd.DataFrame], store: AttentionStore, tokens: list[Tokens]) -> None:
    """Compare every row of every table with its loop."""
    stripes = {(r.feature, r.layer, r.head): r for r in found["stripes"].itertuples()}
    cls = {(r.feature, r.head): r for r in found["cls_attention"].itertuples()}
    pairs = {(r.relation, r.layer, r.head): r for r in found["token_pairs"].itertuples()}
    equal = {(r.layer, r.head): r for r in found["equal_words"].itertuples()}
    statistics = {(r.statistic, r.layer, r.head): r for r in found["head_statistics"].itertuples()}
    local, uniform = any(store.windows), under_uniform(store, tokens)
    for head in range(store.heads):
        for f, feature in enumerate(FEATURES):
            values = from_cls(store, tokens, f, head)
            assert ((feature, head + 1) in cls) == bool(values)
            if values:
                row = cls.pop((feature, head + 1))
                assert (row.weight, row.examples) == (
                    pytest.approx(mean(values), **CLOSE),
                    len(values),
                )
                assert row.uniform == pytest.approx(uniform["cls_attention"](f))
        for layer in range(store.layers):
            for f, feature in enumerate(FEATURES):
                values = stripe(store, tokens, f, layer, head)
                assert ((feature, layer + 1, head + 1) in stripes) == bool(values)
                if values:
                    row = stripes.pop((feature, layer + 1, head + 1))
                    assert row.weight == pytest.approx(mean(values), **CLOSE)
                    assert row.examples == len(values)
                    assert row.uniform == pytest.approx(uniform["stripes"](f, layer))
            for number, relation in enumerate(RELATIONS):
                of_relation = [one.pairs[number] for one in tokens]
                values = related(store, of_relation, layer, head, max)
                occurs = any(len(pairs) for pairs in of_relation)
                assert ((relation, layer + 1, head + 1) in pairs) == occurs
                if occurs:
                    row = pairs.pop((relation, layer + 1, head + 1))
                    assert row.weight == pytest.approx(mean(values), **CLOSE)
                    assert row.examples == len(values)
                    assert row.uniform == pytest.approx(uniform["pairs"](of_relation, layer, max))
                    beside = [
                        mean(statistic(store, tokens, name, layer, head))
                        for name in ("previous", "self", "next")
                    ]
                    assert row.diagonal == pytest.approx(sum(beside), **CLOSE)
            of_equal = [one.equal for one in tokens]
            values = related(store, of_equal, layer, head, mean)
            assert ((layer + 1, head + 1) in equal) == bool(values)
            if values:
                row = equal.pop((layer + 1, head + 1))
                assert row.weight == pytest.approx(mean(values), **CLOSE)
                assert row.examples == len(values)
                assert row.uniform == pytest.approx(uniform["pairs"](of_equal, layer, mean))
            for name in STATISTICS if local else (*SHARES, "entropy"):
                row = statistics.pop((name, layer + 1, head + 1))
                expected = mean(statistic(store, tokens, name, layer, head))
                assert row.value == pytest.approx(expected, rel=1e-5, abs=1e-7)
                even = uniform["statistics"](name, layer)
                assert row.uniform == pytest.approx(even, rel=1e-5, abs=1e-7)
    assert not stripes
    assert not cls
    assert not pairs
    assert not equal
    assert not statistics


@pytest.mark.parametrize("max_bytes", [1, 2 * LAYERS * HEADS * 17 * 17 * 2, 10**7])
def test_every_table_is_the_loops(store, tokens, max_bytes):
    found = measure(store, tokens, 1, max_bytes)
    assert {"noun", "[CLS]", "[SEP]"} <= set(found["stripes"]["feature"])
    assert found["stripes"]["examples"].min() < len(LENGTHS), "some examples lack a feature"
    check(found, store, tokens)


@pytest.mark.parametrize("max_bytes", [1, 10**7])
def test_local_attention_is_the_loops(local, tokens, max_bytes):
    found = measure(local, tokens, 1, max_bytes)
    check(found, local, tokens)
    near = found["token_pairs"].groupby("layer")["examples"].sum()
    assert near[2] < near[1], "some pairs are out of reach"


def test_under_uniform_attention_every_value_is_its_baseline(tmp_path, tokens):
    """A store of uniform maps goes through the same code; half precision has 11 bits."""
    maps = [np.full((LAYERS, HEADS, n, n), 1 / n, dtype=np.float16) for n in LENGTHS]
    found = measure(save(tmp_path / "store", maps), tokens, 1)
    for name in ("stripes", "cls_attention", "token_pairs", "equal_words"):
        table = found[name]
        np.testing.assert_allclose(table["weight"], table["uniform"], rtol=2.0**-11)
        np.testing.assert_allclose(table["control"], table["uniform"], rtol=2.0**-11)
    statistics = found["head_statistics"]
    np.testing.assert_allclose(statistics["value"], statistics["uniform"], rtol=2.0**-10)


@pytest.mark.parametrize("kind", ["store", "local"])
def test_controls_are_the_same_statistic_of_the_drawn_cells(kind, tokens, request):
    """The cells are drawn again, and their statistic is computed by loops."""
    store = request.getfixturevalue(kind)
    found = measure(store, tokens, 3)
    survey = Survey.of(tokens)
    drawn = [control_cells([one], survey, 3) for one in tokens]
    stripes = found["stripes"].set_index(["feature", "layer", "head"])["control"]
    pairs = found["token_pairs"].set_index(["relation", "layer", "head"])["control"]
    equal = found["equal_words"].set_index(["layer", "head"])["control"]
    cls = found["cls_attention"].set_index(["feature", "head"])["control"]
    for layer, head in np.ndindex(LAYERS, HEADS):
        maps = [store.maps(i)[layer, head].astype(np.float64) for i in range(len(tokens))]
        last = [store.maps(i)[LAYERS - 1, head].astype(np.float64) for i in range(len(tokens))]
        of_stripes, of_cls, of_pairs, of_equal = ({} for _ in range(4))
        reach, from_first = partial(can, store, layer), partial(can, store, LAYERS - 1, 0)
        for a, b, cells in zip(maps, last, drawn, strict=True):
            for f, keys in zip(cells.features.kinds, cells.features.keys, strict=True):
                for drawn_keys in keys:
                    means = [received(a, j, reach) for j in drawn_keys]
                    of_stripes.setdefault(f, []).append(max(means))
                    near = [b[0, j] for j in drawn_keys if from_first(j)]
                    of_cls.setdefault(f, []).extend([max(near)] if near else [])
            for kinds, reduce, values in (
                (cells.pairs, max, of_pairs),
                (cells.equal, mean, of_equal),
            ):
                for k, qs, ks in zip(kinds.kinds, kinds.queries, kinds.keys, strict=True):
                    for q, key in zip(qs, ks, strict=True):
                        near = [a[i, j] for i, j in zip(q, key, strict=True) if reach(i, j)]
                        values.setdefault(k, []).extend([reduce(near)] if near else [])
        for f, values in of_stripes.items():
            assert stripes[FEATURES[f], layer + 1, head + 1] == pytest.approx(mean(values), **CLOSE)
            if (FEATURES[f], head + 1) in cls.index:
                assert cls[FEATURES[f], head + 1] == pytest.approx(mean(of_cls[f]), **CLOSE)
        for k, values in of_pairs.items():
            assert pairs[RELATIONS[k], layer + 1, head + 1] == pytest.approx(mean(values), **CLOSE)
        assert equal[layer + 1, head + 1] == pytest.approx(mean(of_equal[0]), **CLOSE)


def test_control_tokens_are_as_many_ordinary_ones_and_pairs_keep_their_distance(tokens):
    survey = Survey.of(tokens)
    for one in tokens:
        cells = control_cells([one], survey, 0)
        counts = one.features.sum(axis=0)
        assert set(cells.features.kinds) == set(np.flatnonzero(counts).tolist())
        ordinary = int((~one.special).sum())
        for f, keys in zip(cells.features.kinds, cells.features.keys, strict=True):
            assert keys.shape == (DRAWS, min(counts[f], ordinary))
            assert all(len(set(drawn)) == keys.shape[1] for drawn in keys.tolist())
            assert not one.special[keys].any()
        for number, relation in enumerate(cells.pairs.kinds):
            queries, keys = cells.pairs.queries[number], cells.pairs.keys[number]
            real = one.pairs[relation]
            assert keys.shape == (DRAWS, len(real))
            assert sorted((keys - queries)[0]) == sorted(real[:, 1] - real[:, 0])
            assert (one.segments[keys] == one.segments[queries]).all()
        for queries, keys in zip(cells.equal.queries, cells.equal.keys, strict=True):
            assert (one.segments[keys] != one.segments[queries]).all()
            assert not one.special[keys].any()


def test_controls_depend_on_seed_and_example_only(store, tokens):
    first, again, other = (measure(store, tokens, seed) for seed in (1, 1, 2))
    pd.testing.assert_frame_equal(first["stripes"], again["stripes"])
    assert (first["stripes"]["control"] != other["stripes"]["control"]).any()
    survey = Survey.of(tokens)
    alone = control_cells([tokens[2]], survey, 1)
    together = control_cells(tokens, survey, 1)
    of_third = [
        k for k, e in zip(together.features.keys, together.features.examples, strict=True) if e == 2
    ]
    for a, b in zip(alone.features.keys, of_third, strict=True):
        np.testing.assert_array_equal(a, b)


def test_control_tokens_stand_where_the_feature_stands():
    """Tokens with the feature stand in the first fifth: so do nine in ten random ones."""
    rng = np.random.default_rng(0)
    examples = []
    for idx in range(200):
        special = np.isin(np.arange(52), [0, 51])
        features = np.zeros((52, len(FEATURES)), dtype=np.bool_)
        features[rng.integers(1, 10) if idx % 10 else rng.integers(30, 50), 0] = True
        features[0, -2] = features[51, -1] = True
        none = np.empty((0, 2), dtype=np.int64)
        layout = (np.zeros(52, dtype=np.int64), special, features)
        examples.append(
            Tokens(idx, *layout, (none,) * 4, none, layout[0], np.zeros((52, 4), np.int64))
        )
    survey = Survey.of(examples)
    cells = control_cells(examples, survey, 0).features
    nouns = np.concatenate(
        [k.ravel() for k, f in zip(cells.keys, cells.kinds, strict=True) if f == 0]
    )
    # 2000 draws: five standard deviations are 0.034
    assert np.mean(nouns < 11) == pytest.approx(0.9, abs=0.034)
    cls = np.concatenate(
        [k.ravel() for k, f in zip(cells.keys, cells.kinds, strict=True) if f == 7]
    )
    assert cls.max() <= 5, "near the first token"
    sep = np.concatenate(
        [k.ravel() for k, f in zip(cells.keys, cells.kinds, strict=True) if f == 8]
    )
    assert sep.min() >= 46, "near the last token"


def test_special_tokens_are_where_the_ordinary_token_beside_them_is():
    """<s> a a a </s> </s> b b b </s>: ten tokens, ten parts."""
    special = np.array([1, 0, 0, 0, 1, 1, 0, 0, 0, 1], dtype=bool)
    assert places_of(special).tolist() == [1, 1, 2, 3, 3, 3, 6, 7, 8, 8]


def test_sets_of_tokens_are_drawn_by_their_chances():
    rng = np.random.default_rng(0)
    drawn = tokens_at_likely_places(1, np.array([0, 1, 2, 1.0]), 8000, rng)[:, 0]
    # binomial with n = 8000: five standard deviations are at most 0.028
    np.testing.assert_allclose(np.bincount(drawn) / 8000, [0, 0.25, 0.5, 0.25], atol=0.028)
    pairs = tokens_at_likely_places(2, np.array([0, 1, 2, 1.0]), 8000, rng)
    first_two = np.mean((pairs == [2, 1]).all(axis=1))
    assert first_two == pytest.approx(0.5 * 0.5, abs=0.028)  # of what is left, 1 of 2
    assert tokens_at_likely_places(5, np.array([0, 1, 2, 1.0]), 3, rng).shape == (3, 3)


def test_no_example_with_a_relation_leaves_its_rows_out(tmp_path):
    maps = [np.full((1, 2, 3, 3), 1 / 3, dtype=np.float16)]
    none = np.empty((0, 2), dtype=np.int64)
    features = np.zeros((3, len(FEATURES)), dtype=np.bool_)
    features[0, -2] = features[2, -1] = features[1, 0] = True
    special = np.array([True, False, True])
    zeros = np.zeros(3, dtype=np.int64)
    one = Tokens(0, zeros, special, features, (none,) * 4, none, zeros, np.zeros((3, 4), np.int64))
    found = measure(save(tmp_path / "store", maps), [one], 0)
    assert set(found["stripes"]["feature"]) == {"noun", "[CLS]", "[SEP]"}
    assert found["token_pairs"].empty
    assert found["equal_words"].empty
    assert found["equal_word_controls"].empty
    assert not found["stripes"].isna().to_numpy().any()
    assert list(found["token_pairs"].columns) == [
        "relation",
        "layer",
        "head",
        "weight",
        "control",
        "uniform",
        "p_value",
        "q_value",
        "diagonal",
        "examples",
    ]


def test_memory_does_not_grow_with_the_examples(tmp_path):
    """This includes reading the annotation and mapping it to the tokens."""
    rng = np.random.default_rng(0)
    weights = rng.random((6, 6, 40, 40))
    maps = (weights / weights.sum(axis=-1, keepdims=True)).astype(np.float16)
    annotation = tmp_path / "annotation.jsonl"
    word = {"text": "w", "start": 0, "end": 1, "tag": "NN", "dep": "nsubj", "head": 0}
    sentence = {"text": "w", "tokens": [word | {"antecedent": None}] * 38}
    peaks = []
    for count in (6, 96):
        store = save(tmp_path / str(count), [maps] * count)
        lines = [json.dumps({"idx": idx, "sentence1": sentence}) for idx in range(count)]
        annotation.write_text("\n".join(lines) + "\n")
        tracemalloc.start()
        measure(store, describe(store, annotation), 0, max_bytes=3 * maps.nbytes)
        peaks.append(tracemalloc.get_traced_memory()[1])
        tracemalloc.stop()
    assert peaks[1] < 1.1 * peaks[0]
    assert peaks[0] < 30 * 3 * maps.nbytes


def test_without_words_special_tokens_have_the_same_weights(store, tokens):
    """What is not known has no rows: no feature of words, no pairs, no punctuation."""
    bare = [
        replace(
            one,
            features=one.features * np.isin(FEATURES, ["[CLS]", "[SEP]"]),
            pairs=tuple(pairs[:0] for pairs in one.pairs),
            equal=one.equal[:0],
        )
        for one in tokens
    ]
    found = measuring.known_without_words(measure(store, bare, 1))
    whole = measure(store, tokens, 1)
    for name in ("stripes", "cls_attention"):
        special = whole[name][whole[name]["feature"].isin(["[CLS]", "[SEP]"])].reset_index(
            drop=True
        )
        assert len(special) > 0
        known = [column for column in special if column != "control"]  # which draws anew
        pd.testing.assert_frame_equal(found[name][known], special[known])
    for name in ("token_pairs", "equal_words", "equal_word_controls"):
        assert len(whole[name]) > len(found[name]) == 0
    statistics = whole["head_statistics"]
    kept = statistics[statistics["statistic"] != "punctuation"].reset_index(drop=True)
    assert 0 < len(kept) < len(statistics)
    pd.testing.assert_frame_equal(found["head_statistics"], kept)
