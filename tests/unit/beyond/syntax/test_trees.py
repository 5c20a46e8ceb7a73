"""Trees from attention: planted trees, chains, and loops with networkx."""

import networkx
import numpy as np
import pandas as pd
import pytest
import torch
from made_up_syntax import read
from shipped_sentences import draw_sentences

from darksecrets.beyond.syntax.declared import ATTENTION_TREES
from darksecrets.beyond.syntax.measure import trees
from darksecrets.beyond.syntax.measure.guesses import Read
from darksecrets.beyond.syntax.measure.pairs import halves
from darksecrets.beyond.syntax.measure.words import WordMaps
from darksecrets.core.data.arcs import gold_arcs
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.run.tables import identify

SENTENCES = draw_sentences(60, 4)
GOLD, NEIGHBOURS, RANDOM = range(3)


def batch(rng: np.random.Generator, sentences: list[Sentence]) -> WordMaps:
    """Three heads: weight from dependents to heads; to both neighbours; random weights."""
    size = max(map(len, sentences))
    maps = np.zeros((len(sentences), 1, 3, size, size))
    apart = np.zeros((len(sentences), size, size), dtype=bool)
    for own, flags, sentence in zip(maps[:, 0], apart, sentences, strict=True):
        words = len(sentence)
        flags[:words, :words] = ~np.eye(words, dtype=bool)
        own[:, :words, :words] = 0.1 * rng.random((3, words, words))
        own[RANDOM, :words, :words] *= 10
        for word, head in enumerate(sentence.heads):
            if head != ROOT:
                own[GOLD, word, head] = 1
            if word + 1 < words:
                own[NEIGHBOURS, word, word + 1] = own[NEIGHBOURS, word + 1, word] = 1
    return WordMaps(
        [*range(len(sentences))], torch.from_numpy(maps).float(), torch.from_numpy(apart)
    )


@pytest.fixture(scope="module")
def maps() -> WordMaps:
    return batch(np.random.default_rng(0), SENTENCES)


@pytest.fixture(scope="module")
def found(maps: WordMaps) -> list[trees.Counts]:
    return trees.count_gold_arcs(maps, SENTENCES)


def test_counts_are_those_of_trees_of_networkx(maps, found):
    for number in range(0, 60, 4):
        sentence, counts = SENTENCES[number], found[number]
        root = sentence.heads.index(ROOT)
        gold = {
            (word, head)
            for word, (head, label) in enumerate(zip(sentence.heads, sentence.labels, strict=True))
            if head != ROOT and label != "punct"
        }
        for head in range(3):
            for direction in range(2):
                graph = networkx.DiGraph()
                weights = maps.maps[number, 0, head].double().numpy()
                weights = weights.T if direction else weights
                for word in set(range(len(sentence))) - {root}:
                    for above in set(range(len(sentence))) - {word}:
                        graph.add_edge(above, word, weight=weights[word, above])
                tree = networkx.maximum_spanning_arborescence(graph)
                arcs = {(word, above) for above, word in tree.edges}
                either = arcs | {(above, word) for word, above in arcs}
                expected = [len(gold & either), len(gold & arcs)]
                assert counts[0, head, direction].tolist() == expected


def test_a_planted_tree_is_found_and_a_chain_is_a_chain(found):
    own = [Read(each, ~np.eye(len(each), dtype=bool)) for each in SENTENCES]
    table = trees.table(own, found, 1)
    ATTENTION_TREES.check(identify(table, None, "pretrained"), "here", "")
    forwards = table[table["direction"] == "dependent_to_head"].set_index("head")
    gold = forwards.loc[GOLD + 1]
    assert gold["uuas"] == gold["uas"] == gold["selecting"] == 1
    assert gold["selected"]
    assert table["selected"].sum() == 1
    assert gold["q_value"] < 0.01
    assert forwards.loc[NEIGHBOURS + 1, "uuas"] == pytest.approx(gold["chain"])
    assert forwards.loc[RANDOM + 1, "over_chain_high"] < 0
    assert gold["right_chain"] + gold["left_chain"] == pytest.approx(gold["chain"])


def test_chains_are_those_of_a_loop():
    own = read(30, 2)
    seed = 3
    scoring = np.flatnonzero(halves(own, seed) == 1)
    arcs = [
        head - word
        for number in scoring
        for word, head in gold_arcs(own[number].sentence, own[number].apart).tolist()
    ]
    counts = [np.zeros((1, 1, 2, 2), dtype=np.int16) for _ in own]
    table: pd.DataFrame = trees.table(own, counts, seed)
    assert table["arcs"].iloc[0] == len(arcs)
    assert table["chain"].iloc[0] == pytest.approx(np.mean([abs(arc) == 1 for arc in arcs]))
    assert table["right_chain"].iloc[0] == pytest.approx(np.mean([arc == -1 for arc in arcs]))
    assert (table["uuas"] == 0).all()


def test_words_that_share_a_piece_are_joined_only_if_they_must_be():
    sentence = next(each for each in SENTENCES if len(each) == 5)
    maps = batch(np.random.default_rng(1), [sentence])
    word = next(w for w, head in enumerate(sentence.heads) if head != ROOT)
    head = sentence.heads[word]
    maps.apart[0, word, head] = maps.apart[0, head, word] = False
    (counts,) = trees.count_gold_arcs(maps, [sentence])
    assert counts[0, GOLD, 0, 1] == len(gold_arcs(sentence, maps.apart[0].numpy()))
    assert [word, head] not in gold_arcs(sentence, maps.apart[0].numpy()).tolist()
