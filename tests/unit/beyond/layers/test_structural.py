"""Structural probes on states whose trees are known, against plain loops."""

import itertools

import numpy as np
import pytest
import torch
from made_up_layers import random_tree, sentence, states_of, trees
from scipy.stats import spearmanr

from darksecrets.beyond.layers.measure import structural
from darksecrets.beyond.layers.measure.structural import Maps, Tree
from darksecrets.core.data.sentences import ROOT

SENTENCES = trees(60, 12)
SIZE = 64


def embedded(sentences, size=SIZE, seed=0):
    """States whose squared distances are those in the tree: arcs are orthonormal."""
    rng = np.random.default_rng(seed)
    axes = np.linalg.qr(rng.standard_normal((size, size)))[0]
    found = []
    for one in sentences:
        own = np.zeros((len(one), size))
        done = {one.heads.index(ROOT)}
        while len(done) < len(one):
            for word, head in enumerate(one.heads):
                if word not in done and head in done:
                    own[word] = own[head] + axes[len(done)]
                    done.add(word)
        found.append(own)
    return np.concatenate(found)


def test_orthonormal_arcs_have_no_loss_and_all_gold_arcs():
    states = states_of(SENTENCES, [embedded(SENTENCES)])
    gold = [Tree.of(one) for one in SENTENCES]
    whole = torch.eye(SIZE)[None]
    maps = Maps(whole, whole, torch.ones(1, 1, 1))
    loss = structural._loss(maps, states, gold, range(8))
    assert float(loss) == pytest.approx(0, abs=0.01)  # states are in half precision
    scores = structural.score(states, gold, range(8), maps)
    np.testing.assert_array_equal(scores.found, scores.arcs)
    assert scores.root.all()
    assert scores.distances.min() > 0.8, "but for ties, which rounding breaks"


def test_a_map_finds_trees_that_are_there_in_new_sentences_and_not_others():
    found, random = embedded(SENTENCES), np.random.default_rng(1).standard_normal((2000, SIZE))
    states = states_of(SENTENCES, [random[: len(found)], found])
    training = np.arange(60) < 45
    rows = structural.structural_rows(states, SENTENCES, training, 32, 0).set_index("layer")
    assert rows.loc[1, "uuas"] > 0.95
    assert rows.loc[1, "over_chain_low"] > 0.3
    assert rows.loc[1, "distance_correlation"] > 0.9
    assert rows.loc[1, "root_accuracy"] > 0.9
    assert rows.loc[1, "depth_correlation"] > 0.9
    assert rows.loc[0, "over_chain_low"] < 0.1
    assert rows.loc[0, "uuas"] < 0.4
    assert rows.loc[0, "distance_correlation_low"] < 0.1
    assert rows["sentences"].tolist() == [15, 15]
    assert rows["selected"].tolist() == [False, True]


def test_sentences_that_score_do_not_select_the_layer():
    """A layer that has only the trees of the scored sentences is not selected."""
    found, random = embedded(SENTENCES), np.random.default_rng(1).standard_normal((2000, SIZE))
    first_scored = sum(len(one) for one in SENTENCES[:45])
    learned, scored = (random[: len(found)].copy() for _ in range(2))
    learned[:first_scored], scored[first_scored:] = found[:first_scored], found[first_scored:]
    states, gold = states_of(SENTENCES, [scored, learned]), [Tree.of(one) for one in SENTENCES]
    rows = structural.structural_rows(states, SENTENCES, np.arange(60) < 45, 32, 0)
    assert rows["selected"].tolist() == [False, True]
    whole = torch.eye(SIZE).repeat(2, 1, 1)
    maps = Maps(whole, whole, torch.ones(2, 1, 1))
    counts = structural.count_found(states, gold, range(45, 60), maps)
    np.testing.assert_array_equal(counts, structural.score(states, gold, range(45, 60), maps).found)


def test_the_loss_is_that_of_a_plain_loop():
    """Equation 3 of the paper for distances, and the same for depths."""
    rng = np.random.default_rng(4)
    states = states_of(SENTENCES, [embedded(SENTENCES, seed=n) for n in range(2)])
    gold = [Tree.of(one) for one in SENTENCES]
    distance, depth = (torch.from_numpy(rng.standard_normal((2, SIZE, 5))) for _ in range(2))
    scale = torch.tensor([0.5, 2.0])[:, None, None]
    maps = Maps(distance.float(), depth.float(), scale)
    expected = 0.0
    for layer, number in itertools.product(range(2), range(6)):
        own = states.states[layer, states.starts[number] : states.starts[number + 1]]
        own, words = own.astype(float) / float(scale[layer, 0, 0]), len(own)
        apart, deep = (own @ one[layer].numpy() for one in (distance, depth))
        between = sum(
            abs(((apart[a] - apart[b]) ** 2).sum() - gold[number].distances[a, b])
            for a, b in itertools.product(range(words), repeat=2)
        )
        above = sum(abs((deep[a] ** 2).sum() - gold[number].depths[a]) for a in range(words))
        expected += (between / words**2 + above / words) / 6
    assert float(structural._loss(maps, states, gold, range(6))) == pytest.approx(
        expected, rel=1e-4
    )


@pytest.mark.parametrize("training", [0, 59, 60])
def test_too_few_sentences_to_learn_or_to_score_give_no_rows(training):
    states = states_of(SENTENCES, [embedded(SENTENCES)])
    rows = structural.structural_rows(states, SENTENCES, np.arange(60) < training, 32, 0)
    assert rows.empty
    rows = structural.structural_rows(states, SENTENCES, np.arange(60) < 58, 32, 0)
    assert rows["sentences"].tolist() == [2], "two that score are enough"


def test_distances_and_arcs_are_those_of_the_sentence():
    one = sentence(["a", "b", "c", "d"], (1, ROOT, 1, 2))
    tree = Tree.of(one)
    expected = [[0, 1, 2, 3], [1, 0, 1, 2], [2, 1, 0, 1], [3, 2, 1, 0]]
    np.testing.assert_array_equal(tree.distances, expected)
    np.testing.assert_array_equal(tree.depths, [1, 0, 1, 2])
    assert tree.arcs.tolist() == [[0, 1], [1, 2], [2, 3]]
    marked = Tree.of(one.__class__(**{**one.__dict__, "labels": ("dep", "root", "dep", "punct")}))
    assert marked.arcs.tolist() == [[0, 1], [1, 2]], "punctuation does not count"


def test_spanning_trees_are_the_least_of_all_trees():
    rng = np.random.default_rng(2)
    for _ in range(10):
        distances = rng.random((5, 5)) * 3
        distances = distances + distances.T
        counted = np.array([True, True, False, True, True])
        found = structural.spanning_tree(distances, counted)
        words = np.flatnonzero(counted).tolist()
        pairs = list(itertools.combinations(words, 2))
        least = min(
            (some for some in itertools.combinations(pairs, 3) if _connects(some, words)),
            key=lambda some: sum(distances[pair] for pair in some),
        )
        assert found == set(least)


def _connects(arcs, words):
    reached = {words[0]}
    for _ in words:
        reached |= {b for a, b in arcs if a in reached} | {a for a, b in arcs if b in reached}
    return reached == set(words)


def test_correlations_are_those_of_scipy():
    rng = np.random.default_rng(3)
    heads = random_tree(9, rng)
    tree = Tree.of(sentence([str(n) for n in range(9)], heads))
    distances, depths = rng.random((9, 9)), rng.random(9)
    found, deep = structural._correlations(tree, distances, depths)
    others = [[other for other in range(9) if other != word] for word in range(9)]
    expected = [
        spearmanr(tree.distances[word, own], distances[word, own]).statistic
        for word, own in enumerate(others)
    ]
    assert found == pytest.approx(np.mean(expected))
    assert deep == pytest.approx(spearmanr(tree.depths, depths).statistic)
    assert structural.spearman(np.ones(4), np.arange(4.0)) == 0


def test_padding_changes_no_loss():
    states = states_of(SENTENCES, [embedded(SENTENCES)])
    gold = [Tree.of(one) for one in SENTENCES]
    generator = torch.Generator().manual_seed(0)
    whole = torch.randn((1, SIZE, 5), generator=generator)
    maps = Maps(whole, whole, torch.ones(1, 1, 1))
    alone = [float(structural._loss(maps, states, gold, [number])) for number in range(6)]
    together = float(structural._loss(maps, states, gold, range(6)))
    assert together == pytest.approx(np.mean(alone), rel=1e-5)
