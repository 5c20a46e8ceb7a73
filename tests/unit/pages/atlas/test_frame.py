"""Mean maps on a common frame, and profiles of distances, against plain loops."""

import numpy as np
import pytest
from atlas_run import store

from darksecrets.pages.atlas.frame import (
    BINS,
    OFFSETS,
    REACH,
    SPECIAL,
    Run,
    frame_of,
    place,
    profile,
    projection,
    runs,
)
from darksecrets.pages.atlas.maps import means_of

PARTS = (Run(SPECIAL, 1), Run(0, 3), Run(SPECIAL, 2), Run(1, 17), Run(SPECIAL, 1))


def random_map(tokens, seed=0):
    return np.random.default_rng(seed).dirichlet(np.full(tokens, 0.3), tokens)


def placed_by_loops(own, parts, fine=1020):
    """Sample each bin at many points; what a point attends to is spread over the key's bins."""
    owners, ends = [], []
    start = 0
    for part in parts:
        for k in range(part.bins):
            points = [(k + (n + 0.5) / fine) / part.bins for n in range(fine)]
            owners.append([start + int(point * part.length) for point in points])
        start += part.length
        ends.append(start)
    result = np.zeros((len(owners), len(owners)))
    share = np.zeros((len(owners), own.shape[1]))
    for row, points in enumerate(owners):
        for token in points:
            share[row, token] += 1
    keys = share / share.sum(axis=0)
    for row, points in enumerate(owners):
        for token in points:
            result[row] += keys @ own[token] / fine
    return result


def test_a_map_on_the_frame_is_that_of_plain_loops():
    own = random_map(24)
    found = place(own, PARTS)
    assert found.shape == (3 + 2 * BINS,) * 2
    assert found == pytest.approx(placed_by_loops(own, PARTS), abs=2e-3)
    assert found.sum(axis=1) == pytest.approx(1, abs=1e-5)


def test_bins_take_whole_tokens_where_they_fit():
    queries, keys = projection((Run(0, BINS), Run(SPECIAL, 3)))
    assert queries[:BINS, :BINS] == pytest.approx(np.eye(BINS))
    assert keys[:BINS, :BINS] == pytest.approx(np.eye(BINS))
    assert queries[BINS, BINS:] == pytest.approx(1 / 3), "the mean of queries"
    assert keys[BINS, BINS:] == pytest.approx(1), "the sum of the attention to them"


def test_a_profile_is_that_of_plain_loops():
    tokens = 2 * REACH + 5
    own = random_map(tokens)
    expected = np.zeros(OFFSETS)
    for query in range(tokens):
        for key in range(tokens):
            distance = max(-REACH - 1, min(REACH + 1, key - query))
            expected[distance + REACH + 1] += own[query, key] / tokens
    assert profile(own) == pytest.approx(expected, abs=1e-6)


def test_means_are_over_the_examples_with_the_frames_parts(tmp_path):
    made = store(tmp_path / "store", (2, 3), seed=1)
    frame = frame_of(made)
    assert frame.parts == (SPECIAL, 0, SPECIAL, 1, SPECIAL)
    assert frame.names == ("[CLS]", "first sentence", "[SEP]", "second sentence", "[SEP]")
    means = means_of(made, frame)
    each = [runs(made.special(i), made.segments(i)) for i in range(made.examples)]
    maps = [place(made.maps(i)[1, 2], parts) for i, parts in enumerate(each)]
    assert means.placed == made.examples
    assert means.maps[1, 2] == pytest.approx(np.mean(maps, axis=0), abs=1e-5)
    assert means.profiles.sum(axis=-1) == pytest.approx(1, abs=2e-3)
