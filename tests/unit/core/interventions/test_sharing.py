"""What sets of heads share, against counting by hand."""

import itertools

import numpy as np
import pytest

from darksecrets.core.interventions.sharing import Sharing


@pytest.mark.parametrize("seed", range(5))
def test_nodes_are_what_differs_so_far(seed):
    """Against sets of tuples, for random sets of which some are equal in lower layers."""
    rng = np.random.default_rng(seed)
    layers, heads, inputs = 4, 3, 3
    selected = rng.random((12, layers, heads)) < 0.3
    for number in range(1, 12):
        selected[number, : rng.integers(layers)] = selected[number - 1, :1]
    sharing = Sharing(selected)
    own = selected & ~selected.all(axis=0)
    pairs = [pair for pair in itertools.product(range(12), range(inputs)) if rng.random() < 0.7]
    pairs.sort(key=lambda pair: (sharing.rank[pair[0]], pair[1]))
    ranks, rows = (
        np.array([sharing.rank[of] for of, _ in pairs]),
        np.array([row for _, row in pairs]),
    )
    for layer in range(layers):
        lower = [(own[of, : layer + 1].tobytes(), row) for of, row in pairs]
        left = [own[of, : layer + 1].any() or layer == layers - 1 for of, _ in pairs]
        chosen, nodes = sharing.nodes(layer, ranks, rows)
        assert left == sorted(left, reverse=True), "those that have left come first"
        assert len(nodes) == sum(left)
        assert len(chosen) == len({key for key, has in zip(lower, left, strict=True) if has})
        assert [lower[chosen[node]] for node in nodes] == lower[: len(nodes)]
        firsts = sharing.first[ranks[chosen]]
        assert (np.diff(firsts) >= 0).all(), "those that leave here come last"
