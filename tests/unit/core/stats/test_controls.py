import itertools

import numpy as np

from darksecrets.core.stats.controls import pairs_at_the_same_distance


def test_drawn_pairs_keep_distance_and_order_and_use_every_place_equally():
    usable = np.array([0, 1, 1, 1, 1, 0, 1, 1, 1, 0], dtype=bool)
    pairs = np.array([[1, 3], [8, 6], [4, 7]])
    drawn = pairs_at_the_same_distance(pairs, usable, 6000, np.random.default_rng(0))
    assert drawn.shape == (6000, 3, 2)
    for number, (query, key) in enumerate(pairs):
        places = [
            (i, j)
            for i, j in itertools.product(np.flatnonzero(usable), repeat=2)
            if j - i == key - query
        ]
        found, counts = np.unique(drawn[:, number], axis=0, return_counts=True)
        assert [tuple(row) for row in found] == places
        # 6000 draws over n places: five standard deviations of the count
        expected = 6000 / len(places)
        assert np.all(np.abs(counts - expected) < 5 * np.sqrt(expected))
