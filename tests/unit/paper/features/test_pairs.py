"""Controls of related pairs and of equal words, against loops."""

import itertools
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from adversarial.pairs import NONE, save, sentence
from scipy import stats

from darksecrets.core.stats.contrasts import SIGNS
from darksecrets.core.stats.paired import FEWEST
from darksecrets.paper.features.cells import Survey, control_cells
from darksecrets.paper.features.labels import FEATURES, RELATIONS
from darksecrets.paper.features.measuring import measure
from darksecrets.paper.features.pairs import (
    ROUNDING,
    Differences,
    Drawn,
    PairCells,
    PairsElsewhere,
    draw_at_relative_places,
    hexagons,
    other_queries,
    words_alike,
    words_that_compare_alike,
)
from darksecrets.paper.features.tables import EQUAL_CONTROLS, RELATION_CONTROLS
from darksecrets.paper.features.tokens import Tokens


def rng(seed: int) -> np.random.Generator:
    return np.random.default_rng(seed)


@pytest.mark.parametrize("across", [False, True])
def test_effects_of_query_key_and_distance_cancel_in_six_cells(across):
    length, random = 14, rng(0)
    usable = np.isin(np.arange(length), range(1, 13))
    queries = usable & (np.arange(length) < 7) if across else usable
    keys = usable & (np.arange(length) > 6) if across else usable
    pairs = np.array([[2, 9], [5, 8]]) if across else np.array([[2, 9], [5, 1], [5, 3]])
    found = hexagons(pairs, queries, keys, 20, random)
    assert len(found) == 20 * len(pairs)
    of_query, of_key, of_distance = random.random((3, 2 * length))
    for cells in found:
        assert cells[0].tolist() in pairs.tolist()
        assert not any(cell in pairs.tolist() for cell in cells[1:].tolist())
        assert queries[cells[:, 0]].all()
        assert keys[cells[:, 1]].all()
        assert len({tuple(cell) for cell in cells.tolist()}) == 6
        values = of_query[cells[:, 0]] + of_key[cells[:, 1]] + of_distance[np.diff(cells)[:, 0]]
        assert values @ SIGNS == pytest.approx(0, abs=1e-12)
    assert len({tuple(cells.ravel()) for cells in found}) > 10, "they vary"


def test_drawn_pairs_are_as_far_from_the_same_relative_place():
    queries, keys = np.arange(20) < 6, np.arange(20) > 7  # 6 and 12 tokens
    pairs = np.array([[1, 11], [4, 19]])  # of places 1 and 4 to 3 and 11: exact, and 2 too far
    found = draw_at_relative_places(pairs, queries, keys, 200, rng(3))
    aligned = {query: 8 + 2 * query + 1 for query in range(6)}
    for number, beyond in enumerate((0, 2)):
        cells = {tuple(cell) for cell in found[:, number].tolist()}
        assert cells == {(q, k + beyond) for q, k in aligned.items() if k + beyond < 20}


def test_all_six_cells_that_fit_are_drawn():
    usable = np.ones(5, dtype=np.bool_)
    found = hexagons(np.array([[1, 3]]), usable, usable, 3000, rng(1))
    drawn = {tuple(map(tuple, cells.tolist())) for cells in found}
    expected = set()
    for a, b in itertools.product(range(-5, 6), repeat=2):
        i, j = 1, 3
        cells = [(i, j), (i, j + a), (i + b, j + a + b)]
        cells += [(i + a + b, j + a + b), (i + a + b, j + a), (i + b, j)]
        if a and b and a + b and all(0 <= place < 5 for cell in cells for place in cell):
            expected.add(tuple(cells))
    assert drawn == expected


def test_other_queries_attend_to_the_same_keys():
    usable = np.isin(np.arange(8), range(1, 7))
    pairs = np.array([[1, 4], [1, 5], [3, 4]])
    drawn = other_queries(pairs, usable, 500, rng(2))
    assert drawn.pairs.tolist() == pairs.tolist()
    assert (drawn.others[..., 1] == pairs[:, 1]).all()
    for number, key in enumerate(pairs[:, 1]):
        assert set(drawn.others[:, number, 0]) == {2, 4, 5, 6} - {key}
    none = other_queries(np.array([[1, 2], [2, 1]]), usable & (np.arange(8) < 3), 5, rng(0))
    assert none.pairs.shape == (0, 2)
    assert none.others.shape == (5, 0, 2)


def test_other_queries_see_the_key_as_the_same_of_its_class():
    random = rng(4)
    classes = random.integers(3, size=12)
    usable = np.isin(np.arange(12), range(1, 11))
    pairs = np.array([(i, j) for i in (2, 5, 9) for j in range(1, 11) if i != j])
    drawn = other_queries(pairs, usable, 300, random, classes)

    def rank(query, key):
        """Place of the key among the words of its class, from the query, on its side."""
        side = range(query + 1, 12) if key > query else range(query - 1, -1, -1)
        return key > query, [place for place in side if classes[place] == classes[key]].index(key)

    for number, (query, key) in enumerate(pairs.tolist()):
        free = set(range(1, 11)) - {2, 5, 9, key}
        expected = {other for other in free if rank(other, key) == rank(query, key)}
        (at,) = np.flatnonzero((drawn.pairs == [query, key]).all(axis=1)).tolist() or [None]
        found = set() if at is None else set(drawn.others[:, at, 0].tolist())
        assert found == expected, number


def test_words_that_are_alike_are_other_words_of_the_same_form():
    words = np.array([-1, 0, 1, 2, 0, 3, 4, 5, 6, -1])
    forms = np.array([(3, 1), (3, 2), (3, 1), (4, 1), (3, 1), (3, 1), (9, 9)])  # of the words
    forms = np.array([(-1, -1) if word < 0 else tuple(forms[word]) for word in words])
    keys = np.isin(np.arange(10), range(4, 9))
    pairs = np.array([[1, 4], [2, 8], [1, 6]])
    drawn = words_alike(pairs, keys, words, forms, 200, rng(0))
    kept = {tuple(pair): number for number, pair in enumerate(drawn.pairs.tolist())}
    keys_of = {pair: set(drawn.others[:, n, 1].tolist()) for pair, n in kept.items()}
    assert keys_of == {(1, 4): {6, 7}, (1, 6): {4, 7}}, "no other word is like the one at 8"
    assert (drawn.others[..., 0] == drawn.pairs[:, 0]).all()


def test_words_that_compare_alike_differ_in_the_same_ways_and_are_on_the_same_side():
    random = rng(8)
    forms = random.integers(3, size=(14, 2))
    usable = np.isin(np.arange(14), range(1, 13))
    pairs = np.array([[2, 5], [2, 8], [9, 4], [11, 12]])
    drawn = words_that_compare_alike(pairs, usable, forms, 900, random)

    def compared(query, key):
        return (key > query, *(np.sign(forms[key] - forms[query])))

    for pair in pairs.tolist():
        query = pair[0]
        others = set(range(1, 13)) - {query} - {k for q, k in pairs.tolist() if q == query}
        expected = {(query, k) for k in others if compared(query, k) == compared(*pair)}
        at = np.flatnonzero((drawn.pairs == pair).all(axis=1)).tolist()
        found = {tuple(cell) for n in at for cell in drawn.others[:, n].tolist()}
        assert found == expected, pair
    assert 1 < len(drawn.pairs) < len(pairs), "the last has none"


def a_survey(random, lengths: list[tuple[int, int]]) -> list[Tokens]:
    """Examples of two sentences of these numbers of words, with some pairs within each."""
    made = []
    for idx, (first, second) in enumerate(lengths):
        length = first + second + 3
        segments = (np.arange(length) > first + 1).astype(np.int64)
        special = np.isin(np.arange(length), [0, first + 1, length - 1])
        cells = np.argwhere(random.random((length, length)) < 0.15)
        cells = cells[~special[cells].any(axis=1) & (cells[:, 0] != cells[:, 1])]
        within = cells[segments[cells[:, 0]] == segments[cells[:, 1]]]
        features = np.zeros((length, len(FEATURES)), np.bool_)
        words, forms = np.arange(length), np.zeros((length, 4), np.int64)
        made.append(Tokens(idx, segments, special, features, (within,) * 4, NONE, words, forms))
    return made


def test_pairs_elsewhere_are_those_of_the_next_sentences_with_as_many_words():
    tokens = a_survey(rng(10), [(6, 5), (5, 6), (6, 6), (6, 5), (9, 5)] * 4)
    survey = Survey.of(tokens)
    used: dict[tuple, int] = {}
    for one in tokens:
        found = survey.elsewhere(one, 1)
        sentences = [s for s in (0, 1) if (one.segments[one.pairs[1]] == s).any()]
        assert len(found) == len(sentences)
        for number, cells in zip(sentences, found, strict=True):
            own = np.flatnonzero((one.segments == number) & ~one.special)
            assert (cells.pairs == one.pairs[1][one.segments[one.pairs[1][:, 0]] == number]).all()
            parts = np.split(cells.others - own[0], cells.first[1:])
            alike = [
                other.pairs[1][other.segments[other.pairs[1][:, 0]] == number] - start
                for other in tokens
                if other.idx != one.idx
                and len(words := np.flatnonzero((other.segments == number) & ~other.special))
                == len(own)
                and (start := words[0])
            ]
            alike = [pairs.tolist() for pairs in alike if len(pairs)]
            assert len(parts) == min(10, len(alike))
            for part in parts:
                assert part.tolist() in alike
                key = (number, len(own), str(part.tolist()))
                used[key] = used.get(key, 0) + 1
    by_length: dict[tuple, set] = {}
    for (number, words, _), times in used.items():
        by_length.setdefault((number, words), set()).add(times)
    assert all(len(times) == 1 for times in by_length.values()), "each as often as the others"


def test_a_head_of_places_has_as_much_elsewhere_over_all_sentences():
    """Its maps follow from places alone, so that the sums over a corpus cancel exactly."""
    random = rng(11)
    tokens = a_survey(random, [(6, 6)] * 12 + [(6, 9)] * 5 + [(3, 9)])
    survey, found = Survey.of(tokens), Differences(RELATION_CONTROLS, 4, 1, 5)
    first, second = random.random((2, 1, 5, 12, 12))
    for one in tokens:
        maps = np.zeros((1, 5, len(one.special), len(one.special)))
        for number, weights in ((0, first), (1, second)):
            own = np.flatnonzero((one.segments == number) & ~one.special)
            block = slice(own[0], own[-1] + 1)
            maps[:, :, block, block] = weights[:, :, : len(own), : len(own)]
        for kind in range(4):
            cells = survey.elsewhere(one, kind)
            found.add(maps, PairCells(0, kind, NONE.reshape(0, 6, 2), {}, cells), np.fmax)
    place = RELATION_CONTROLS.index("place")
    assert found.sums[place] == pytest.approx(np.zeros((4, 1, 5)), abs=1e-12)
    assert (found.squares[place] > 0.1).all()
    assert (found.units[place] == 18).all(), "the single one has a second sentence like others"


def test_differences_are_those_of_loops_over_the_drawn_cells(tmp_path):
    random = rng(5)
    maps, tokens = [], []
    for idx, length in enumerate((17, 17, 16, 15, 15, 14, 13, 12, 12, 12, 11, 9)):
        text, one = sentence(idx, length, random)
        equal = np.argwhere(random.random((length, length)) < 0.02)
        equal = equal[text.usable[equal].all(axis=1) & (equal[:, 0] != equal[:, 1])]
        tokens.append(replace(one, equal=equal))
        weights = random.exponential(size=(2, 3, length, length)) ** 3
        maps.append((weights / weights.sum(axis=-1, keepdims=True)).astype(np.float16))
    store = save(tmp_path / "store", maps)
    tables = measure(store, tokens, 11)
    drawn = control_cells(tokens, Survey.of(tokens), 11).compared
    assert drawn["pairs"]
    assert drawn["equal"]
    rows = control_columns(tables["equal_word_controls"])
    tested = 0
    for name, table, reduce, controls in (
        ("pairs", tables["token_pairs"], max, RELATION_CONTROLS),
        ("equal", tables["equal_words"], np.mean, EQUAL_CONTROLS),
    ):
        for row in table.itertuples():
            gaps: dict[str, list[float]] = {control: [] for control in controls}
            for cells in drawn[name]:
                if name == "pairs" and RELATIONS[cells.kind] != row.relation:
                    continue
                a = maps[cells.example][row.layer - 1, row.head - 1].astype(float)
                for key, drawn_pairs in cells.drawn.items():
                    if len(drawn_pairs.pairs):
                        own = reduce([a[i, j] for i, j in drawn_pairs.pairs])
                        sets = drawn_pairs.others
                        other = np.mean([reduce([a[i, j] for i, j in s]) for s in sets])
                        close = abs(own - other) <= ROUNDING * max(own, other)
                        gaps[key].append(0 if close else own - other)
                whole = []
                for one in cells.places:
                    own = max(a[i, j] for i, j in one.pairs)
                    parts = np.split(one.others, one.first[1:])
                    other = np.mean([max(a[i, j] for i, j in part) for part in parts])
                    whole.append((own - other, max(own, other)))
                if whole:
                    gap, size = sum(w for w, _ in whole), max(s for _, s in whole)
                    gaps["place"].append(0 if abs(gap) <= ROUNDING * size else gap)
                if len(cells.six):
                    six = [
                        sum(s * a[i, j] for s, (i, j) in zip(SIGNS, c, strict=True))
                        for c in cells.six
                    ]
                    largest = max(a[i, j] for c in cells.six for i, j in c)
                    close = abs(np.mean(six)) <= ROUNDING * largest
                    gaps["sum"].append(0 if close else np.mean(six))
                    three = [[a[i, j] for i, j in c] for c in cells.six]
                    means = [np.prod([w[s::2] for w in three], axis=1) ** (1 / 3) for s in (0, 1)]
                    product = np.mean(means[0] - means[1])
                    close = abs(product) <= ROUNDING * largest
                    gaps["product"].append(0 if close else product)
            p = []
            for key, values in gaps.items():
                tested += len(values) >= FEWEST
                few = len(values) < FEWEST
                test = None if few else stats.ttest_1samp(values, 0, alternative="greater")
                p.append(1.0 if test is None else test.pvalue)
                if name == "pairs":
                    continue
                found = rows[row.layer, row.head, key]
                assert found["examples"] == len(values)
                ends = [found["difference_low"], found["difference_high"]]
                if few:
                    assert np.isnan(ends).all()
                    continue
                interval = stats.ttest_1samp(values, 0).confidence_interval(0.95)
                assert found["difference"] == pytest.approx(np.mean(values), abs=1e-9)
                assert ends == pytest.approx([interval.low, interval.high], abs=1e-9)
            assert row.p_value == pytest.approx(max(p), rel=1e-6)
    assert tested > 12, "most have enough examples"


def test_an_example_counts_in_a_layer_that_reaches_its_pairs_beside_the_draws_in_reach():
    random = rng(7)
    maps = random.random((2, 1, 6, 6))
    near = np.abs(np.subtract.outer(range(6), range(6))) <= 2
    maps[1] = np.where(near, maps[1], np.nan)  # layer 2 has a window
    pairs = np.array([[1, 3]])
    far = np.array([[0, 4]])
    same_key = np.array([[[0, 3]], [[2, 3]]])
    hexagon = np.array([[[1, 3], [1, 2], [2, 2], [2, 1], [0, 1], [0, 3]]])
    found = Differences(("key", "sum", "product", "place"), 2, 2, 1)
    for kind, (own, six) in enumerate(((pairs, hexagon), (far, hexagon[:0]))):
        controls = {"key": Drawn(own, same_key), "place": Drawn(own, own[None])}
        found.add(maps, PairCells(0, kind, six, controls), np.fmax)
    assert found.units[:, 0, :, 0].tolist() == [[1, 1], [1, 0], [1, 0], [1, 1]]
    assert found.units[:, 1, :, 0].tolist() == [[1, 0], [0, 0], [0, 0], [1, 0]]
    both = (maps[0, 0, 0, 3] + maps[0, 0, 2, 3]) / 2
    expected = [maps[0, 0, 1, 3] - both, maps[1, 0, 1, 3] - maps[1, 0, 2, 3]]
    assert found.sums[0, 0, :, 0] == pytest.approx(expected)


def test_elsewhere_only_what_is_in_reach_is_compared():
    maps = rng(12).random((2, 1, 7, 7))
    near = np.abs(np.subtract.outer(range(7), range(7))) <= 2
    maps[1] = np.where(near, maps[1], np.nan)
    one = PairsElsewhere(
        np.array([[1, 2], [1, 5]]), np.array([[0, 1], [0, 6], [2, 6], [6, 5]]), np.array([0, 2, 3])
    )
    out = PairsElsewhere(np.array([[0, 6]]), np.array([[0, 1]]), np.array([0]))
    found = Differences(RELATION_CONTROLS, 1, 2, 1)
    found.add(maps, PairCells(0, 0, NONE.reshape(0, 6, 2), {}, [one, out]), np.fmax)
    a, b = maps[:, 0]
    of_a = max(a[1, 2], a[1, 5]) - np.mean([max(a[0, 1], a[0, 6]), a[2, 6], a[6, 5]])
    of_b = b[1, 2] - np.mean([b[0, 1], b[6, 5]])
    assert found.sums[0, 0, :, 0] == pytest.approx([of_a + a[0, 6] - a[0, 1], of_b])
    assert found.units[0, 0, :, 0].tolist() == [1, 1]


def control_columns(controls: pd.DataFrame) -> dict[tuple, dict]:
    """Rows of the controls of equal words, by layer, head and control."""
    key = ["layer", "head", "control"]
    return {tuple(row[name] for name in key): row for row in controls.to_dict("records")}


def test_only_pairs_in_reach_are_compared(tmp_path):
    """In a layer with a window, against loops over its pairs in reach and their draws."""
    random, window, length = rng(9), 3, 12
    usable = np.isin(np.arange(length), range(1, length - 1))
    related = np.array([[2, 1], [5, 4], [3, 9], [8, 6]])  # the third is out of reach
    segments, features = np.zeros(length, np.int64), np.zeros((length, len(FEATURES)), np.bool_)
    features[1:-1:3, 0] = True  # nouns
    none, words, forms = (NONE,) * 4, np.arange(length), np.zeros((length, 4), np.int64)
    tokens = [Tokens(i, segments, ~usable, features, none, related, words, forms) for i in range(7)]
    near = np.abs(np.subtract.outer(np.arange(length), np.arange(length))) <= window
    maps = []
    for _ in tokens:
        weights = random.exponential(size=(2, 2, length, length)) ** 3
        weights[1] *= near
        maps.append((weights / weights.sum(axis=-1, keepdims=True)).astype(np.float16))
    store = save(tmp_path / "store", maps, (None, window))
    cells_of = control_cells(tokens, Survey.of(tokens), 5).compared["equal"]
    fewer = 0
    tables = measure(store, tokens, 5)
    rows = control_columns(tables["equal_word_controls"])
    for row in tables["equal_words"].itertuples():
        reach = near if row.layer == 2 else np.ones_like(near)
        gaps = {control: list[float]() for control in ("key", "place", "form", "first letter")}
        for cells in cells_of:
            a = maps[cells.example][row.layer - 1, row.head - 1].astype(float)
            for name, of_pairs in gaps.items():
                drawn_pairs, left = cells.drawn[name], {}
                sets = drawn_pairs.others
                for number, (i, j) in enumerate(drawn_pairs.pairs):
                    others = [a[q, k] for q, k in sets[:, number] if reach[q, k]]
                    if reach[i, j] and others:
                        left[number] = (a[i, j], others)
                if not left:
                    continue
                size = min(len(others) for _, others in left.values())
                fewer += size < len(sets)
                own = np.mean([weight for weight, _ in left.values()])
                other = [np.mean([of[n] for _, of in left.values()]) for n in range(size)]
                gap = own - np.mean(other)
                of_pairs.append(0 if abs(gap) <= ROUNDING * max(own, np.mean(other)) else gap)
        assert row.examples == len(tokens)
        for name, of_pairs in gaps.items():
            found = rows[row.layer, row.head, name]["difference"]
            assert found == pytest.approx(np.mean(of_pairs), abs=1e-9)
    assert fewer, "the test sees draws out of reach"


def test_q_values_are_of_the_heads_of_a_relation_whatever_others_show():
    """Beside a relation that all heads show, another one's q-values are what they are alone."""
    from scipy.stats import false_discovery_control

    generator = rng(3)
    gained = generator.normal(0.3, 1, (2, 3, 4, 60))
    gained[0] += 5
    found = Differences(("key", "place"), 2, 3, 4)
    found.sums[:] = gained.sum(axis=-1)
    found.squares[:] = (gained**2).sum(axis=-1)
    found.units[:] = 60
    tests = found.tests()
    for p, q in zip(tests["p_value"], tests["q_value"], strict=True):
        np.testing.assert_allclose(q.ravel(), false_discovery_control(p.ravel()))
    together = false_discovery_control(tests["p_value"].ravel()).reshape(2, 3, 4)
    assert (tests["q_value"][1] > 1.2 * together[1]).any()
