"""Maximum spanning arborescences, against all trees of small graphs and against networkx."""

import itertools

import networkx
import numpy as np
import numpy.typing as npt
import pytest

from darksecrets.core.stats.arborescence import arborescences

Floats = npt.NDArray[np.float64]
RNG = np.random.default_rng(0)


def total(scores: Floats, heads: npt.NDArray[np.int64], root: int) -> float:
    """Sum of the scores of a tree's arcs; it is checked to be a tree."""
    for start in range(len(heads)):
        node, steps = start, 0
        while node != root:
            node, steps = int(heads[node]), steps + 1
            assert steps <= len(heads), "a circle"
    return sum(float(scores[node, heads[node]]) for node in range(len(heads)) if node != root)


def by_force(scores: Floats, root: int) -> float:
    """Greatest sum of all choices of heads that are trees."""
    size, best = len(scores), -np.inf
    others = [node for node in range(size) if node != root]
    for choice in itertools.product(range(size), repeat=len(others)):
        heads = dict(zip(others, choice, strict=True))
        node_is_fine = all(_reaches(heads, node, root) for node in others)
        if node_is_fine:
            best = max(best, sum(scores[node, head] for node, head in heads.items()))
    return float(best)


def _reaches(heads: dict[int, int], node: int, root: int) -> bool:
    for _ in range(len(heads) + 1):
        if node == root:
            return True
        node = heads[node]
    return False


@pytest.mark.parametrize("size", [1, 2, 3, 4, 5, 6])
def test_no_tree_is_better(size):
    count = 60 if size < 6 else 8
    scores = RNG.normal(size=(count, size, size))
    roots = RNG.integers(size, size=count)
    for own, heads, root in zip(scores, arborescences(scores, roots), roots, strict=True):
        assert total(own, heads, root) == pytest.approx(by_force(own, root))


@pytest.mark.parametrize("size", [8, 13, 24])
def test_trees_are_as_good_as_those_of_networkx(size):
    """Attention-like rows, of which many have the same best head, and integers, which tie."""
    softmax = np.exp(3 * RNG.normal(size=(5, size, size)))
    stripes = np.exp(3 * RNG.normal(size=(5, 1, size))) + 0.1 * softmax
    scores = np.concatenate([softmax, stripes, RNG.integers(3, size=(5, size, size))])
    roots = RNG.integers(size, size=len(scores))
    for own, heads, root in zip(scores, arborescences(scores, roots), roots, strict=True):
        graph = networkx.DiGraph()
        for node, head in itertools.permutations(range(size), 2):
            if node != root:
                graph.add_edge(head, node, weight=own[node, head])
        tree = networkx.maximum_spanning_arborescence(graph)
        expected = sum(own[node, head] for head, node in tree.edges)
        assert total(own, heads, root) == pytest.approx(expected)


def test_arcs_that_no_tree_may_have_are_in_none():
    """Padding: nodes whose only head is the root, and which are nobody's head."""
    scores = RNG.normal(size=(30, 7, 7))
    roots = RNG.integers(5, size=30)
    small = arborescences(scores[:, :5, :5], roots)
    scores[:, :, 5:] = -np.inf
    scores[:, 5:] = -np.inf
    scores[np.arange(30), 5:, roots] = 0
    found = arborescences(scores, roots)
    np.testing.assert_array_equal(found[:, :5], small)
    assert (found[:, 5:] == roots[:, None]).all()
