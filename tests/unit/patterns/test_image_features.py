import math

import numpy as np
import pytest

from darksecrets.patterns.features import NAMES, features


def by_loops(weights, special, segments):
    """The same features, cell by cell."""
    n = len(weights)
    rows = [[float(x) for x in row] for row in weights]
    mean = lambda values: sum(values) / len(values) if values else 0.0  # noqa: E731
    columns = [mean([rows[i][j] for i in range(n)]) for j in range(n)]
    order = sorted(range(n), key=lambda j: (-columns[j], j))
    text = own = 0.0
    for i in range(n):
        for j in range(n):
            if not special[i] and not special[j]:
                text += rows[i][j]
                own += rows[i][j] * (segments[i] == segments[j])
    entropy = [-sum(x * math.log(x) for x in row if x > 0) for row in rows]
    return [
        mean([sum(row[j] for j in range(n) if special[j]) for row in rows]),
        *(mean([rows[i][i + k] for i in range(n) if 0 <= i + k < n]) for k in (-2, -1, 0, 1, 2)),
        own / n,
        own / text if text else 0.0,
        mean(entropy) / math.log(max(n, 2)),
        columns[order[0]],
        columns[order[min(1, n - 1)]],
        mean([float(row[order[0]] >= columns[order[0]] / 2) for row in rows]),
        mean([max(row) for row in rows]),
    ]


@pytest.mark.parametrize("length", [1, 2, 3, 9, 40])
def test_features_are_those_of_plain_loops(length):
    rng = np.random.default_rng(length)
    weights = rng.dirichlet(np.full(length, 0.3), size=length).astype(np.float16)
    special = np.isin(np.arange(length), (0, length // 2, length - 1))
    segments = (np.arange(length) > length // 2).astype(np.int64)
    found = features(weights, special, segments)
    assert len(found) == len(NAMES)
    np.testing.assert_allclose(found, by_loops(weights, special, segments), atol=1e-12)


def test_pure_patterns_have_the_features_that_define_them():
    marks = np.array([True, False, False, True]), np.array([0, 0, 1, 1])
    column = np.tile([1.0, 0, 0, 0], (4, 1))
    named = dict(zip(NAMES, features(column, *marks), strict=True))
    assert named["special tokens"] == named["column 1"] == named["column 1, rows"] == 1
    assert named["column 2"] == named["entropy"] == 0
    named = dict(zip(NAMES, features(np.eye(4), *marks), strict=True))
    assert named["diagonal +0"] == 1
    assert named["own sentence, part"] == 1
    assert named["column 1"] == 0.25
