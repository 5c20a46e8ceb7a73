"""The statistic of section 4.2, its controls and its test, against plain loops."""

import itertools
import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from darksecrets.core.attention.store import AttentionStore, write_store
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.core.run.tables import identify
from darksecrets.paper.framenet import heads
from darksecrets.paper.framenet.example import Example, choose, shown_heads
from darksecrets.paper.framenet.heads import Linked
from darksecrets.paper.framenet.links import Annotation, Element
from darksecrets.paper.framenet.tables import CONTROLS_OF_HEADS
from darksecrets.paper.framenet.tables import HEADS as HEADS_TABLE

LAYERS, HEADS = 2, 3


def make_store(folder: Path, sentences: list[list[str]], seed: int = 0) -> AttentionStore:
    """Save random maps of sentences of word pieces; a piece that starts with ## joins on."""
    rows = []
    for idx, pieces in enumerate(sentences):
        position, starts, ends = 0, [0], [0]
        for piece in pieces:
            text = piece.removeprefix("##")
            position += not piece.startswith("##") and position > 0
            starts.append(position)
            position += len(text)
            ends.append(position)
        rows.append(
            {
                "idx": idx,
                "tokens": ["[CLS]", *pieces, "[SEP]"],
                "segments": [0] * (len(pieces) + 2),
                "special": [True, *[False] * len(pieces), True],
                "starts": [*starts, 0],
                "ends": [*ends, 0],
            }
        )
    examples = pd.DataFrame(sorted(rows, key=lambda row: -len(row["tokens"])))
    rng = np.random.default_rng(seed)
    with write_store(folder, examples, LAYERS, HEADS) as writer:
        for tokens in examples["tokens"]:
            logits = 3 * rng.standard_normal((LAYERS, HEADS, len(tokens), len(tokens)))
            maps = np.exp(logits)
            writer.append(maps / maps.sum(axis=-1, keepdims=True))
    return AttentionStore.open(folder)


def annotate(pieces: list[str], predicate: str, *elements: str) -> Annotation:
    text = " ".join(pieces).replace(" ##", "")
    predicate, *spans = (
        (text.index(phrase), text.index(phrase) + len(phrase)) for phrase in (predicate, *elements)
    )
    return Annotation(text, predicate, tuple(Element(span) for span in spans))


SENTENCES = [
    ["kim", "sat", "and", "snor", "##ed"],
    ["the", "un", "##kind", "man", "then", "at", "last", "smiled", "at", "us", "."],
    ["anything", "else", "you", "wanted", "to", "add"],
    ["he", "is", "not", "dim"],
]
LINKS = [
    annotate(SENTENCES[0], "snored", "kim"),
    annotate(SENTENCES[1], "smiled", "unkind man"),
    annotate(SENTENCES[2], "add", "anything else", "you"),
    annotate(SENTENCES[3], "dim", "he"),
]
# Positions of the word pieces, [CLS] being 0: (elements, predicate).
POSITIONS = [([[1]], [4, 5]), ([[2, 3, 4]], [8]), ([[1, 2], [3]], [6]), ([[1]], [4])]


@pytest.fixture(scope="module")
def store(tmp_path_factory) -> AttentionStore:
    return make_store(tmp_path_factory.mktemp("framenet") / "store", SENTENCES)


def maps_of(store: AttentionStore, idx: int) -> np.ndarray:
    return np.asarray(store.maps(list(store.idx).index(idx)), dtype=np.float64)


def loop(store, idx, direction, layer, head, shifts=None) -> float:
    """The statistic of one sentence from its definition, each link moved by its shift."""
    maps, (elements, predicate) = maps_of(store, idx), POSITIONS[idx]
    best = 0.0
    for element, shift in zip(elements, shifts or [0] * len(elements), strict=True):
        for i in element:
            for j in predicate:
                query, key = (i, j) if direction == "element_to_predicate" else (j, i)
                best = max(best, maps[layer, head, query + shift, key + shift])
    return best


def places(idx: int) -> list[tuple[int, ...]]:
    """Every possible shift of the links of a sentence, each moved as a whole within its words."""
    elements, predicate = POSITIONS[idx]
    size = len(SENTENCES[idx])
    fitting = []
    for element in elements:
        taken = [*element, *predicate]
        fitting.append([s for s in range(-20, 21) if all(1 <= t + s <= size for t in taken)])
    return list(itertools.product(*fitting))


def test_links_become_word_pieces(store):
    for idx, (elements, predicate) in enumerate(POSITIONS):
        example = list(store.idx).index(idx)
        links = heads.links_in(store, example, LINKS[idx])
        assert [link[0].tolist() for link in links] == elements
        assert all(link[1].tolist() == predicate for link in links)


def test_a_link_that_was_cut_off_is_an_error(store):
    longer = Annotation("he is not dim at all", (3, 5), (Element((17, 20)),))
    with pytest.raises(InputError, match=r"he is not dim at all.*fine_tuning\.max_length"):
        heads.links_in(store, list(store.idx).index(3), longer)


def table_of(store, links=LINKS, draws=99, seed=3) -> pd.DataFrame:
    return tables_of(store, links, draws, seed)[0]


def tables_of(store, links=LINKS, draws=99, seed=3) -> tuple[pd.DataFrame, pd.DataFrame]:
    return heads.tables(heads.measure(Linked(store, links)), draws, seed)


def control_columns(controls: pd.DataFrame) -> dict[tuple, dict]:
    """Rows by direction, layer, head and control."""
    return {
        (row["direction"], row["layer"], row["head"], row["control"]): row
        for row in controls.to_dict("records")
    }


def test_weights_agree_with_a_loop_over_the_definition(store):
    table = table_of(store)
    assert len(table) == 2 * LAYERS * HEADS
    assert (table["sentences"] == len(LINKS)).all()
    for row in table.itertuples():
        args = (row.direction, row.layer - 1, row.head - 1)
        expected = sum(loop(store, idx, *args) for idx in range(len(LINKS))) / len(LINKS)
        assert row.weight == pytest.approx(expected, abs=1e-12)


def test_control_is_the_mean_over_all_places_of_the_links(store):
    table, controls = tables_of(store)
    differences = control_columns(controls)
    for row in table.itertuples():
        args = (row.direction, row.layer - 1, row.head - 1)
        values = [
            np.mean([loop(store, idx, *args, shifts) for shifts in places(idx)])
            for idx in range(len(LINKS))
        ]
        assert row.control == pytest.approx(np.mean(values), abs=1e-12)
        distance = differences[row.direction, row.layer, row.head, "distance"]
        assert distance["value"] == row.control
        assert distance["difference"] == pytest.approx(row.weight - row.control, abs=1e-12)


@pytest.mark.parametrize("direction", [0, 1])
def test_unlinked_is_the_mean_over_the_words_between_that_attend_to_the_same(store, direction):
    weights = heads.measure(Linked(store, LINKS))
    for idx, (elements, predicate) in enumerate(POSITIONS):
        maps, words = maps_of(store, idx), set(range(1, len(SENTENCES[idx]) + 1))
        free = words - {*predicate, *itertools.chain(*elements)}
        pairs = [(predicate, e) if direction else (e, predicate) for e in elements]
        elsewhere = [
            [
                (at, key)
                for start in words
                if set(at := range(start, start + len(query))) <= free
                and all(min(query) < w < min(key) or max(key) < w < max(query) for w in at)
            ]
            for query, key in pairs
        ]
        for layer, head in np.ndindex(LAYERS, HEADS):
            values = [
                max(maps[layer, head, q, k] for at, key in chosen for q in at for k in key)
                for chosen in itertools.product(*elsewhere)
            ]
            expected = np.mean(values) if values else np.nan
            found = weights.unlinked[idx, direction, layer, head]
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


@pytest.mark.parametrize("direction", [0, 1])
def test_others_is_the_mean_over_the_words_on_the_side_as_far_as_links(tmp_path, direction):
    """At least two tokens are in between, as in all links that the paper selects."""
    sentences = [*SENTENCES, ["we", "know", "that", "he", "is", "not", "at", "all", "dim"]]
    links = [*LINKS, annotate(sentences[4], "dim", "he")]
    store, known = make_store(tmp_path / "store", sentences), 0
    weights = heads.measure(Linked(store, links))
    for idx, (elements, predicate) in enumerate([*POSITIONS, ([[4]], [9])]):
        maps, words = maps_of(store, idx), set(range(1, len(sentences[idx]) + 1))
        free = words - {*predicate, *itertools.chain(*elements)}
        pairs = [(predicate, e) if direction else (e, predicate) for e in elements]
        places = [
            [
                (query, at)
                for start in words
                if set(at := range(start, start + len(key))) <= free
                and (
                    min(at) - max(query) > 2 if min(key) > max(query) else min(query) - max(at) > 2
                )
            ]
            for query, key in pairs
        ]
        for layer, head in np.ndindex(LAYERS, HEADS):
            values = [
                max(maps[layer, head, q, k] for query, at in chosen for q in query for k in at)
                for chosen in itertools.product(*places)
            ]
            known += bool(values)
            expected = np.mean(values) if values else np.nan
            found = weights.others[idx, direction, layer, head]
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)
    assert known >= LAYERS * HEADS


@pytest.mark.parametrize("direction", [0, 1])
def test_excess_is_what_a_regression_on_dummies_leaves(store, direction):
    """scikit-learn fits the other pairs of words; a pair is known if its dummies add no rank."""
    from sklearn.linear_model import LinearRegression

    weights = heads.measure(Linked(store, LINKS))
    compared = 0
    for idx, (elements, predicate) in enumerate(POSITIONS):
        maps, size = maps_of(store, idx), len(SENTENCES[idx])
        linked = {(i, j) for e in elements for i in e for j in predicate}
        both = linked | {(j, i) for i, j in linked}
        wanted = {(j, i) for i, j in linked} if direction else linked
        cells = [(i, j) for i in range(1, size + 1) for j in range(1, size + 1)]

        all_names = [f"{x}{n}" for x in "qk" for n in range(size + 1)]
        all_names += [f"d{n}" for n in range(-size, size + 1)]

        def dummies(cell, all_names=all_names):
            query, key = cell
            names = [f"q{query}", f"k{key}", f"d{key - query}"]
            return [float(name in names) for name in all_names]

        known = [c for c in cells if c not in both]
        x, targets = np.array([dummies(c) for c in known]), np.array(sorted(wanted))
        x0 = np.array([dummies(tuple(c)) for c in targets])
        rank = np.linalg.matrix_rank(x)
        sure = [np.linalg.matrix_rank(np.vstack([x, row])) == rank for row in x0]
        for layer, head in np.ndindex(LAYERS, HEADS):
            y = np.array([maps[layer, head, i, j] for i, j in known])
            fit = LinearRegression(fit_intercept=False).fit(x, y)
            left = [
                maps[layer, head, i, j] - prediction
                for (i, j), prediction, is_sure in zip(targets, fit.predict(x0), sure, strict=True)
                if is_sure
            ]
            expected = np.mean(left) if left else np.nan
            found = weights.excess[idx, direction, layer, head]
            assert found == pytest.approx(expected, abs=1e-9, nan_ok=True)
            compared += bool(left)
    assert compared >= 2 * LAYERS * HEADS


@pytest.mark.parametrize("direction", [0, 1])
def test_excess_over_the_product_is_that_of_all_sets_of_six_cells(store, direction):
    """The six cells are searched for among all: every query, key, distance has both signs."""
    weights = heads.measure(Linked(store, LINKS))
    compared = 0
    for idx, (elements, predicate) in enumerate(POSITIONS):
        maps, words = maps_of(store, idx), range(1, len(SENTENCES[idx]) + 1)
        linked = {(i, j) for e in elements for i in e for j in predicate}
        both = linked | {(j, i) for i, j in linked}
        means = []
        for i, j in sorted({(j, i) for i, j in linked} if direction else linked):
            found = []
            for p, q, k, m in itertools.product(words, repeat=4):
                plus, minus = [(i, j), (p, m), (q, k)], [(i, k), (p, j), (q, m)]
                distances = [sorted(key - query for query, key in of) for of in (plus, minus)]
                crossed = (j - i, k - i) == (m - q, m - p)  # which distances are the same
                different = len({i, p, q}) == len({j, k, m}) == 3
                balanced = different and crossed and distances[0] == distances[1]
                if balanced and not both & {*plus[1:], *minus}:
                    found.append((plus, minus))
            if found:
                geometric = [
                    [np.prod([maps[..., a, b] for a, b in of], axis=0) ** (1 / 3) for of in pair]
                    for pair in found
                ]
                means.append(np.mean([one - other for one, other in geometric], axis=0))
        expected = np.mean(means, axis=0) if means else np.full((LAYERS, HEADS), np.nan)
        assert weights.excess_product[idx, direction] == pytest.approx(
            expected, abs=1e-9, nan_ok=True
        )
        compared += bool(means)
    assert compared


def test_a_control_is_compared_over_the_sentences_that_have_it(tmp_path):
    sentences = [*SENTENCES, ["kim", "is", "dim", "##mer"]]  # where no element of two words fits
    links = [*LINKS, annotate(sentences[4], "dimmer", "kim is")]
    store = make_store(tmp_path / "store", sentences)
    weights = heads.measure(Linked(store, links))
    table, controls = heads.tables(weights, 99, 4)
    assert np.isnan(weights.unlinked[4]).all()
    assert (table["sentences"] == 5).all()
    values = {"distance": weights.moved, "key": weights.unlinked, "place": weights.places}
    values["query"] = weights.others
    contrasts = {"sum": weights.excess, "product": weights.excess_product}
    assert len(controls) == 6 * len(table)
    for row in controls.itertuples():
        place = heads.DIRECTIONS.index(row.direction), row.layer - 1, row.head - 1
        others = (values | contrasts)[row.control]
        known = [i for i in range(5) if not np.isnan(others[i][place])]
        assert row.sentences == len(known)
        if not known:
            assert (row.control, row.direction) == ("query", "predicate_to_element")
            continue
        mean = np.mean([others[i][place] for i in known])
        if row.control in contrasts:
            assert np.isnan(row.value)
            assert row.difference == pytest.approx(mean)
        else:
            linked = [weights.linked[i][place] for i in known]
            assert row.value == pytest.approx(mean)
            assert row.difference == pytest.approx(np.mean(linked) - mean)
    alone = Linked(make_store(tmp_path / "1", sentences[4:]), links[4:])
    none, controls = heads.tables(heads.measure(alone), 99, 4)
    of_key = controls[controls["control"] == "key"]
    assert of_key[["value", "difference", "difference_low"]].isna().all(axis=None)
    assert (of_key["sentences"] == 0).all()
    assert (none["p_value"] == 1).all(), "nothing was compared"
    assert not none["exceeds_controls"].any()
    HEADS_TABLE.write(identify(none, None, "pretrained"), tmp_path / "heads.csv")
    CONTROLS_OF_HEADS.write(identify(controls, None, "pretrained"), tmp_path / "controls.csv")


@pytest.mark.parametrize("direction", [0, 1])
def test_places_are_those_of_the_links_of_the_other_sentences_of_the_length(tmp_path, direction):
    sentences = [[*"abcdef"], [*"ghijkl"], [*"mnopqr"], [*"stu"]]
    spans = [("b", "e"), ("g", "jk"), ("mn", "r"), ("s", "u")]
    cells = [[(2, 5)], [(1, 4), (1, 5)], [(1, 6), (2, 6)]]
    links = [
        annotate(words, " ".join(predicate), " ".join(element))
        for words, (element, predicate) in zip(sentences, spans, strict=True)
    ]
    store = make_store(tmp_path / "store", sentences)
    weights = heads.measure(Linked(store, links))
    assert np.isnan(weights.places[3]).all(), "no other is as short"
    for idx in range(3):
        maps = maps_of(store, idx)
        maps = np.swapaxes(maps, -2, -1) if direction else maps
        others = [
            np.max([maps[:, :, q, k] for q, k in cells[other]], axis=0)
            for other in range(3)
            if other != idx
        ]
        np.testing.assert_allclose(weights.places[idx, direction], np.mean(others, axis=0))


def test_under_uniform_attention_the_weight_is_its_baseline(store, tmp_path):
    """A store of uniform maps goes through the same code; half precision has 11 bits."""
    (tmp_path / "even").mkdir()
    for path in store.folder.iterdir():
        (tmp_path / "even" / path.name).write_bytes(path.read_bytes())
    even = np.concatenate([np.full(LAYERS * HEADS * n**2, 1 / n) for n in store.lengths])
    with (tmp_path / "even" / "maps.npy").open("r+b") as stream:
        stream.seek(store.header)
        stream.write(even.astype(np.float16).tobytes())
    found = table_of(AttentionStore.open(tmp_path / "even"))
    np.testing.assert_allclose(found["weight"], found["uniform"], rtol=2.0**-11)
    np.testing.assert_allclose(found["uniform"], np.mean(1 / store.lengths))
    assert not found["exceeds_controls"].any()
    assert (found["p_value"] == 1).all()


def test_p_values_are_those_of_all_signs_of_the_sentences(store):
    """Every one of the 16 combinations of signs, for every control; the largest p-value counts."""
    draws = 4000
    weights = heads.measure(Linked(store, LINKS))
    weights = replace(weights, places=weights.moved)  # no two of these are of the same length
    gaps = {
        "distance": weights.linked - weights.moved,
        "key": weights.linked - weights.unlinked,
        "place": weights.linked - weights.places,
        "sum": weights.excess,
        "product": weights.excess_product,
        "query": weights.linked - weights.others,
    }
    table, controls = heads.tables(weights, draws, 5)
    rows = control_columns(controls)
    for row in table.itertuples():
        place = heads.DIRECTIONS.index(row.direction), row.layer - 1, row.head - 1
        found = []
        for name, gap in gaps.items():
            values = [g[place] for g in gap if not np.isnan(g[place])]
            signs = itertools.product((-1, 1), repeat=len(values))
            totals = np.array([np.dot(one, values) for one in signs])
            exact = np.mean(totals >= sum(values) - 1e-12)
            tolerance = 5 * np.sqrt(exact * (1 - exact) / draws) + 1 / draws
            p = rows[row.direction, row.layer, row.head, name]["p_value"]
            assert p == pytest.approx(exact, abs=tolerance)
            found.append(p)
        assert row.p_value == max(found)
        assert row.p_family >= row.p_value
        assert row.exceeds_controls == (row.p_family < 0.05)


@pytest.mark.parametrize("alike", ["elements", "predicate"])
def test_sentences_with_the_same_elements_or_predicate_are_one_unit(tmp_path, alike):
    """Five sentences of "kim" or "dim": their signs change together: nothing is significant."""
    names = ("kim", "jo", "al", "bo", "su")
    if alike == "elements":
        sentences = [["kim", "is", "not", f"{name}ish"] for name in names]
    else:
        sentences = [[name, "is", "not", "dim"] for name in names]
    links = [annotate(sentence, sentence[3], sentence[0]) for sentence in sentences]
    store = make_store(tmp_path / "store", sentences)
    weights = heads.measure(Linked(store, links))
    groups = weights.predicates, weights.elements
    one, many = groups if alike == "predicate" else groups[::-1]
    assert one.tolist() == [0] * 5
    assert many.tolist() == [0, 1, 2, 3, 4]
    found, controls = heads.tables(weights, 999, 0)
    assert (found["elements"] == (5 if alike == "predicate" else 1)).all()
    compared = controls[controls["control"].isin(["distance", "sum"])]
    assert (compared["p_value"] > 0.45).all()  # one unit has two signs


def chosen(store, links) -> tuple[Example, pd.DataFrame]:
    weights = heads.measure(Linked(store, links))
    table, _ = heads.tables(weights, 99, 1)
    return choose(store, links, weights.linked, table), table


def test_the_example_is_the_sentence_that_shows_the_highest_heads_best(store, tmp_path):
    found, table = chosen(store, LINKS)
    found.save(tmp_path / "example.npz")
    example = Example.load(tmp_path / "example.npz")
    published = table[table["direction"] == "element_to_predicate"].set_index(["layer", "head"])
    assert not published["exceeds_controls"].any()
    assert (example.layers[0], example.heads[0]) == published["weight"].idxmax()
    layer, head = example.layers[0] - 1, example.heads[0] - 1
    scores = [loop(store, idx, "element_to_predicate", layer, head) for idx in range(len(LINKS))]
    assert example.idx == int(np.argmax(scores))
    assert example.tokens.tolist() == ["[CLS]", *SENTENCES[example.idx], "[SEP]"]
    assert np.array_equal(example.maps[0], maps_of(store, example.idx)[layer, head])
    shown = example.maps[0][np.ix_(example.element, example.predicate)].max()
    assert shown == pytest.approx(max(scores), abs=1e-12)


def test_the_papers_example_is_shown_if_the_links_contain_it(tmp_path):
    sentences = [*SENTENCES, ["he", "was", "becoming", "ag", "##itated", "."]]
    links = [*LINKS, annotate(sentences[4], "agitated", "he")]
    store = make_store(tmp_path / "store", sentences)
    example, _ = chosen(store, links)
    assert example.idx == 4
    assert (example.element.tolist(), example.predicate.tolist()) == ([1], [4, 5])


def test_the_two_heads_shown_exceed_controls_or_have_the_greatest_weights():
    rows = [
        (direction, layer, head, weight)
        for direction in heads.DIRECTIONS
        for (layer, head), weight in {(1, 1): 0.2, (1, 2): 0.9, (2, 1): 0.5, (2, 3): 0.4}.items()
    ]
    table = pd.DataFrame(rows, columns=["direction", "layer", "head", "weight"])
    table = table.assign(exceeds_controls=False, above_percentile=False)
    other = table["direction"] != heads.DIRECTIONS[0]
    table.loc[other & (table["weight"] == 0.2), "exceeds_controls"] = True
    assert np.transpose(shown_heads(table)).tolist() == [[1, 2], [2, 1]]
    table.loc[~other & (table["weight"] == 0.4), "above_percentile"] = True
    assert np.transpose(shown_heads(table)).tolist() == [[2, 3], [1, 2]]
    table.loc[~other & (table["weight"] == 0.2), "exceeds_controls"] = True
    assert np.transpose(shown_heads(table)).tolist() == [[1, 1], [2, 3]]


def test_a_real_model_and_a_loop_over_its_own_attention(tmp_path, root):
    """From sentences to weights, against transformers and the tokenizer's own offsets."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from darksecrets.core.attention.extraction import extract_maps

    folder = RESOURCES / "tiny-bert"
    texts = ["Zoë sat still and then unbelievably chuckled .", "Kim was not at all tired ."]
    links = [
        Annotation(text, (text.index(word), text.index(word) + len(word)), (Element((0, 3)),))
        for text, word in zip(texts, ("chuckled", "tired"), strict=True)
    ]
    columns = {"idx": [0, 1], "sentence1": texts}
    output = tmp_path / "store"
    extract_maps(folder, columns, output, max_length=128, batch_size=2)
    store = AttentionStore.open(output)
    table = table_of(store, links)
    table = table.set_index(["direction", "layer", "head"])["weight"]

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    totals = np.zeros((2, store.layers, store.heads))
    for text, link in zip(texts, links, strict=True):
        encoded = tokenizer(text, return_offsets_mapping=True, return_tensors="pt")
        offsets = encoded.pop("offset_mapping")[0].tolist()

        def pieces(span, offsets=offsets):
            return [i for i, (a, b) in enumerate(offsets) if a < span[1] and b > span[0]]

        with torch.no_grad():
            maps = torch.cat(model(**encoded, output_attentions=True).attentions).double().numpy()
        for layer, head in np.ndindex(store.layers, store.heads):
            pairs = list(itertools.product(pieces(link.elements[0].span), pieces(link.predicate)))
            totals[0, layer, head] += max(maps[layer, head, i, j] for i, j in pairs)
            totals[1, layer, head] += max(maps[layer, head, j, i] for i, j in pairs)
    for (number, layer, head), total in np.ndenumerate(totals):
        found = table[heads.DIRECTIONS[number], layer + 1, head + 1]
        assert found == pytest.approx(total / 2, abs=2.0**-11)  # half precision


def _with_windows(folder, *windows):
    metadata = folder / "store.json"
    metadata.write_text(json.dumps(json.loads(metadata.read_text()) | {"windows": windows}))
    return AttentionStore.open(folder)


def test_sentences_that_local_attention_does_not_reach_are_left_out(tmp_path, store):
    """The second is of 13 tokens, the others of at most 8."""
    make_store(tmp_path / "store", SENTENCES)
    local = _with_windows(tmp_path / "store", None, 7)
    left = [SENTENCES[i] for i in (0, 2, 3)]
    assert Linked(local, LINKS).measured() == [0, 2, 3]
    assert Linked(store, LINKS).measured() == [0, 1, 2, 3]
    weights, whole = (heads.measure(Linked(maps, LINKS)) for maps in (local, store))
    assert np.array_equal(weights.linked, whole.linked[[0, 2, 3]])
    assert np.allclose(weights.uniform, [1 / (len(sentence) + 2) for sentence in left])
    table, _ = heads.tables(weights, draws=20, seed=1)
    assert set(table["sentences"]) == {3}
    example = choose(local, LINKS, weights.linked, table)
    assert "".join(example.tokens[1:-1]) in map("".join, left)
    assert example.tokens.tolist() == local.tokens(local.idx.tolist().index(example.idx))


def test_a_store_whose_sentences_are_all_left_out_is_refused(tmp_path):
    make_store(tmp_path / "store", SENTENCES)
    local = _with_windows(tmp_path / "store", None, 2)
    with pytest.raises(InputError, match=r"4 sentences have 6 tokens or more.*windows \[None, 2\]"):
        list(Linked(local, LINKS))


def test_heads_stand_out_by_the_family_of_all_heads_not_by_a_rate_of_false_ones():
    """Among many heads that stand out, a p-value of .04 has a q-value below .05."""
    p = np.full((2, 3, 4), 0.001)
    p[0, 0, 0] = 0.04
    family = np.full((2, 3, 4), 0.01)
    family[0, 0, 0] = 0.3
    zeros = np.zeros((5, 2, 3, 4))
    groups = {"elements": np.arange(5), "predicates": np.arange(5)}
    weights = heads.Weights(*[zeros] * 7, uniform=np.ones(5), **groups)
    columns = heads._heads(weights, p, family)
    assert columns["q_value"][0, 0, 0] < 0.05
    assert columns["exceeds_controls"].tolist() == (family < 0.05).tolist()
    assert not columns["exceeds_controls"][0, 0, 0]
