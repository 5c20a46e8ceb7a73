"""The statistic of section 4.2, its controls and its test, against plain loops."""

import itertools
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from darksecrets.attention.store import AttentionStore, write_store
from darksecrets.framenet import heads
from darksecrets.framenet.example import Example, choose
from darksecrets.framenet.links import Annotation, Element
from darksecrets.run.errors import InputError
from darksecrets.run.files import RESOURCES
from darksecrets.stats.permutation import upper_p_values

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
POSITIONS = [
    ([[1]], [4, 5]),
    ([[2, 3, 4]], [8]),
    ([[1, 2], [3]], [6]),
    ([[1]], [4]),
]


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


def test_links_become_word_pieces(store) -> None:
    for idx, (elements, predicate) in enumerate(POSITIONS):
        example = list(store.idx).index(idx)
        links = heads.links_in(store, example, LINKS[idx])
        assert [link[0].tolist() for link in links] == elements
        assert all(link[1].tolist() == predicate for link in links)


def test_a_link_that_was_cut_off_is_an_error(store) -> None:
    longer = Annotation("he is not dim at all", (3, 5), (Element((17, 20)),))
    with pytest.raises(InputError, match=r"he is not dim at all.*fine_tuning\.max_length"):
        heads.links_in(store, list(store.idx).index(3), longer)


def test_by_hand_on_one_short_sentence() -> None:
    # he sat and snored = [CLS] he sat and snor ##ed [SEP]; he attends to snor 0.3 and ##ed 0.4,
    # snor attends to he 0.2 and ##ed to he 0.1: 0.4 one way, 0.2 the other.
    maps = np.zeros((1, 1, 7, 7), dtype=np.float16)
    maps[0, 0, 1, 4], maps[0, 0, 1, 5], maps[0, 0, 4, 1], maps[0, 0, 5, 1] = 0.3, 0.4, 0.2, 0.1
    found = heads.greatest(maps, [(np.array([1]), np.array([4, 5]))])
    assert found.ravel() == pytest.approx([0.4, 0.2], abs=5e-4)  # half precision
    # In the place of "he" stand "sat" and "and", which give snor ##ed 0.5 and 0.1: 0.3 on average.
    maps[0, 0, 2, 5], maps[0, 0, 3, 4] = 0.5, 0.1
    usable = np.array([0, 1, 1, 1, 1, 1, 0], dtype=bool)
    others = heads.unlinked(maps, [(np.array([1]), np.array([4, 5]))], usable)
    assert others[0, 0, 0] == pytest.approx(0.3, abs=5e-4)
    assert others[1, 0, 0] == 0


def test_weights_agree_with_a_loop_over_the_definition(store) -> None:
    table = heads.table(heads.measure(store, LINKS, draws=99, seed=3))
    assert len(table) == 2 * LAYERS * HEADS
    assert (table["sentences"] == len(LINKS)).all()
    for row in table.itertuples():
        args = (row.direction, row.layer - 1, row.head - 1)
        expected = sum(loop(store, idx, *args) for idx in range(len(LINKS))) / len(LINKS)
        assert row.weight == pytest.approx(expected, abs=1e-12)


def test_control_is_the_mean_over_all_places_of_the_links(store) -> None:
    draws = 4000
    table = heads.table(heads.measure(store, LINKS, draws=draws, seed=4))
    for row in table.itertuples():
        args = (row.direction, row.layer - 1, row.head - 1)
        values = [
            [loop(store, idx, *args, shifts) for shifts in places(idx)] for idx in range(len(LINKS))
        ]
        expected = np.mean([np.mean(part) for part in values])
        # of a mean of draws: five standard errors
        error = np.sqrt(sum(np.var(part) for part in values)) / len(LINKS) / np.sqrt(draws)
        assert row.control == pytest.approx(expected, abs=5 * error + 1e-12)


def test_unlinked_by_hand_on_a_sentence_of_two_links() -> None:
    # [CLS] he met her but I slept [SEP]: he and her are linked to slept; met, but and I are free
    # for either of them. They give slept 0.2, 0.5 and 0.1; he and her, which are not free, 0.9.
    maps = np.zeros((1, 1, 8, 8), dtype=np.float16)
    maps[0, 0, 1:6, 6] = 0.9, 0.2, 0.9, 0.5, 0.1
    links = [(np.array([place]), np.array([6])) for place in (1, 3)]
    usable = np.array([0, 1, 1, 1, 1, 1, 1, 0], dtype=bool)
    # Of nine pairs of places five have a 0.5, three of the others a 0.2, and one only 0.1.
    found = heads.unlinked(maps, links, usable)
    assert found[0, 0, 0] == pytest.approx((5 * 0.5 + 3 * 0.2 + 0.1) / 9, abs=5e-4)
    assert found[1, 0, 0] == 0
    links[1] = (np.array([3, 4]), np.array([6]))
    assert np.isnan(heads.unlinked(maps, links, usable)).all(), "met and I stand apart"


def test_unlinked_is_the_mean_over_other_words_in_the_elements_places(store) -> None:
    weights = heads.measure(store, LINKS, draws=99, seed=4)
    for idx, (elements, predicate) in enumerate(POSITIONS):
        maps, words = maps_of(store, idx), set(range(1, len(SENTENCES[idx]) + 1))
        free = words - {*predicate, *itertools.chain(*elements)}
        elsewhere = [
            [place for start in words if set(place := range(start, start + len(element))) <= free]
            for element in elements
        ]
        for number, layer, head in np.ndindex(2, LAYERS, HEADS):
            values = [
                max(
                    maps[layer, head, p[number], p[1 - number]]
                    for place in places
                    for p in itertools.product(place, predicate)
                )
                for places in itertools.product(*elsewhere)
            ]
            expected = np.mean(values) if values else np.nan
            found = weights.unlinked[idx, number, layer, head]
            assert found == pytest.approx(expected, abs=1e-12, nan_ok=True)


def test_linked_and_unlinked_are_means_over_the_same_sentences(tmp_path) -> None:
    sentences = [*SENTENCES, ["kim", "is", "dim"]]  # where no element of two words fits
    links = [*LINKS, annotate(sentences[4], "dim", "kim is")]
    store = make_store(tmp_path / "store", sentences)
    weights = heads.measure(store, links, draws=99, seed=4)
    table = heads.table(weights)
    assert np.isnan(weights.unlinked[4]).all()
    assert (table["sentences"] == 5).all()
    assert (table["unlinked_sentences"] == 4).all()
    for row in table.itertuples():
        head = heads.DIRECTIONS.index(row.direction), row.layer - 1, row.head - 1
        assert row.unlinked == pytest.approx(np.mean([weights.unlinked[i][head] for i in range(4)]))
        assert row.linked == pytest.approx(np.mean([weights.sentences[i][head] for i in range(4)]))
    none = heads.table(heads.measure(make_store(tmp_path / "one", sentences[4:]), links[4:], 99, 4))
    assert none[["linked", "unlinked"]].isna().all(axis=None)
    assert (none["unlinked_sentences"] == 0).all()


def test_p_values_agree_with_all_possible_places(store) -> None:
    draws = 4000
    table = heads.table(heads.measure(store, LINKS, draws=draws, seed=5))
    for row in table.itertuples():
        args = (row.direction, row.layer - 1, row.head - 1)
        totals = [
            sum(loop(store, idx, *args, shifts) for idx, shifts in enumerate(combination))
            for combination in itertools.product(*(places(idx) for idx in range(len(LINKS))))
        ]
        real = sum(loop(store, idx, *args) for idx in range(len(LINKS)))
        exact = np.mean(np.array(totals) >= real - 1e-12)
        tolerance = 5 * np.sqrt(exact * (1 - exact) / draws) + 1 / draws
        assert row.p_value == pytest.approx(exact, abs=tolerance)


def test_p_values_are_uniform_when_links_lie_at_random(tmp_path) -> None:
    rng = np.random.default_rng(9)
    found = []
    for trial in range(60):
        sentences = [[f"w{i}" for i in range(8)] for _ in range(6)]
        links = []
        for pieces in sentences:
            first = int(rng.integers(0, 5))
            links.append(annotate(pieces, pieces[first + 3], pieces[first]))
        random = make_store(tmp_path / str(trial), sentences, seed=100 + trial)
        weights = heads.measure(random, links, draws=199, seed=trial)
        for number in range(2):
            found.extend(upper_p_values(weights.drawn[:, number]).ravel())
    # 720 p values, those of one trial nearly independent
    assert stats.kstest(found, "uniform").pvalue > 1e-3
    assert np.mean(np.array(found) <= 0.05) < 0.05 + 4 * np.sqrt(0.05 * 0.95 / len(found))


def test_a_seed_gives_the_same_table(store) -> None:
    first, again, other = (heads.table(heads.measure(store, LINKS, 99, s)) for s in (1, 1, 2))
    pd.testing.assert_frame_equal(first, again)
    assert (first["weight"] == other["weight"]).all()
    assert (first["control"] != other["control"]).any()


def test_correlation_with_the_published_weights() -> None:
    rng = np.random.default_rng(11)
    layer, head = np.indices((12, 12)) + 1
    columns = {"layer": layer.ravel(), "head": head.ravel()}
    released = pd.DataFrame({**columns, "weight": rng.uniform(size=144)})
    parts = []
    for direction in heads.DIRECTIONS:
        part = released.assign(direction=direction, weight=rng.uniform(size=144))
        parts.append(part.sample(frac=1, random_state=1))
    ours = pd.concat(parts)
    found = heads.compare(ours, released).set_index(["direction", "coefficient"])
    assert len(found) == 4
    for direction in heads.DIRECTIONS:
        x = ours[ours["direction"] == direction].sort_values(["layer", "head"])["weight"]
        y = released["weight"]
        pearson = np.corrcoef(x, y)[0, 1]
        spearman = np.corrcoef(stats.rankdata(x), stats.rankdata(y))[0, 1]
        assert found.loc[(direction, "pearson"), "value"] == pytest.approx(pearson)
        assert found.loc[(direction, "spearman"), "value"] == pytest.approx(spearman)
    with pytest.raises(InputError, match="published weights of 144 heads, but this run has 36"):
        heads.compare(ours[(ours["layer"] <= 6) & (ours["head"] <= 6)], released)


def test_the_example_is_the_sentence_that_shows_the_highest_heads_best(store, tmp_path) -> None:
    weights = heads.measure(store, LINKS, draws=99, seed=1)
    choose(store, LINKS, weights).save(tmp_path / "example.npz")
    example = Example.load(tmp_path / "example.npz")
    layer, head = np.unravel_index(weights.drawn[0, 0].argmax(), (LAYERS, HEADS))
    assert (example.layers.tolist(), example.heads.tolist()) == ([layer + 1], [head + 1])
    scores = [loop(store, idx, "element_to_predicate", layer, head) for idx in range(len(LINKS))]
    idx = int(np.argmax(scores))
    assert example.tokens.tolist() == ["[CLS]", *SENTENCES[idx], "[SEP]"]
    assert np.array_equal(example.maps[0], maps_of(store, idx)[layer, head])
    shown = example.maps[0][np.ix_(example.element, example.predicate)].max()
    assert shown == pytest.approx(max(scores), abs=1e-12)


def test_a_real_model_and_a_loop_over_its_own_attention(tmp_path, root) -> None:
    """From sentences to weights, against transformers and the tokenizer's own offsets."""
    import torch
    from transformers import AutoModel, AutoTokenizer

    from darksecrets.attention.extraction import extract

    folder = RESOURCES / "tiny-bert"
    texts = ["Zoë sat still and then unbelievably chuckled .", "Kim was not at all tired ."]
    links = [
        Annotation(text, (text.index(word), text.index(word) + len(word)), (Element((0, 3)),))
        for text, word in zip(texts, ("chuckled", "tired"), strict=True)
    ]
    columns = {"idx": [0, 1], "sentence1": texts}
    output = tmp_path / "store"
    extract(folder, columns, output, max_length=128, batch_size=2)
    store = AttentionStore.open(output)
    table = heads.table(heads.measure(store, links, draws=99, seed=0))
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


def test_sentences_that_local_attention_does_not_reach_are_refused(tmp_path):
    store = make_store(tmp_path / "store", SENTENCES)
    metadata = tmp_path / "store" / "store.json"
    metadata.write_text(json.dumps(json.loads(metadata.read_text()) | {"windows": [None, 4]}))
    with pytest.raises(InputError, match=r"a sentence of 13 tokens.*windows \[None, 4\]"):
        heads.measure(AttentionStore.open(tmp_path / "store"), LINKS, 9, 0)
    assert heads.measure(store, LINKS, 9, 0).drawn.shape[0] == 10
