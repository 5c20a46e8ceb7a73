"""What heads attend to, against a loop over pairs of tokens."""

import math

import numpy as np
import pandas as pd
import pytest

from tools.pretraining.head_table import MEASURES, kind, measure

CLS, SEP = 2, 3
IDS = np.array([2, 10, 11, 10, 3, 11, 12, 10, 3])
SEGMENTS = np.array([0, 0, 0, 0, 0, 1, 1, 1, 1])


def random_maps(layers: int = 2, heads: int = 3, tokens: int = len(IDS)) -> np.ndarray:
    logits = np.random.default_rng(0).normal(0, 2, (layers, heads, tokens, tokens))
    weights = np.exp(logits)
    return np.asarray(weights / weights.sum(-1, keepdims=True))


def loop(attention: np.ndarray) -> dict[str, float]:
    """The same measures of one map, a pair of tokens at a time."""
    sums = dict.fromkeys(MEASURES, 0.0)
    for i in range(len(IDS)):
        if IDS[i] in (CLS, SEP):
            continue
        entropy = 0.0
        for j in range(len(IDS)):
            weight = float(attention[i, j])
            entropy -= weight * math.log(weight)
            if IDS[j] == CLS:
                sums["cls"] += weight
            elif IDS[j] == SEP:
                sums["sep"] += weight
            elif j == i:
                sums["self"] += weight
            elif j == i - 1:
                sums["previous"] += weight
            elif j == i + 1:
                sums["next"] += weight
            elif SEGMENTS[i] == SEGMENTS[j]:
                sums["same_segment"] += weight
            else:
                sums["other_segment"] += weight
            if j != i and IDS[i] == IDS[j]:
                sums["same_piece"] += weight
        sums["entropy"] += entropy
        sums["relative_entropy"] += entropy / math.log(len(IDS))
    return sums


def test_measures_agree_with_a_loop_over_pairs_of_tokens():
    maps = random_maps()
    measured = measure(maps, IDS, SEGMENTS, CLS, SEP)
    for layer in range(2):
        for head in range(3):
            expected = loop(maps[layer, head])
            np.testing.assert_allclose(
                measured[layer, head], [expected[name] for name in MEASURES], rtol=1e-12
            )


@pytest.mark.parametrize(
    ("values", "expected"),
    [
        ({"previous": 0.6, "self": 0.3, "relative_entropy": 0.4}, "previous"),
        ({"sep": 0.51, "relative_entropy": 0.9}, "sep"),
        ({"same_segment": 0.9, "relative_entropy": 0.85}, "spread"),
        ({"same_segment": 0.9, "relative_entropy": 0.5}, "mixed"),
    ],
)
def test_a_head_is_named_after_what_it_mostly_does(values, expected):
    assert kind(pd.Series(dict.fromkeys(MEASURES, 0.0) | values)) == expected
