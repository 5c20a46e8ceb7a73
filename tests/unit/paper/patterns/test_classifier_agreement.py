"""Agreement of both classifiers, against scikit-learn and a bootstrap in a loop."""

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from darksecrets.paper.patterns.classes import PATTERNS, TRAINED
from darksecrets.paper.patterns.classifier_agreement import compare_classifiers

NAMES = np.array(list(PATTERNS))
EXAMPLES, HEADS = 30, 8


def classified(seed=0, agree=0.6, names=NAMES):
    """Maps of two classifiers in different orders, whose patterns often agree."""
    rng = np.random.default_rng(seed)
    size = EXAMPLES * HEADS
    place = {"idx": np.repeat(np.arange(EXAMPLES), HEADS) * 3, "layer": 1}
    place["head"] = np.tile(np.arange(HEADS) + 1, EXAMPLES)
    first = {column: rng.choice(names, size) for column in ("pattern", "lenient")}
    second = {
        column: np.where(rng.random(size) < agree, values, rng.choice(names, size))
        for column, values in first.items()
    }
    tables = [
        pd.DataFrame({"classifier": name, **place, **values})
        for name, values in zip(TRAINED, (first, second), strict=True)
    ]
    return pd.concat([tables[0], tables[1].sample(frac=1, random_state=0)], ignore_index=True)


@pytest.mark.parametrize(("definition", "column"), [("strict", "pattern"), ("lenient", "lenient")])
def test_kappa_and_its_interval_are_those_of_a_loop(definition, column):
    maps = classified()
    found = compare_classifiers(maps, 400, seed=1).set_index("definition").loc[definition]
    cnn, features = (
        maps[maps["classifier"] == name].sort_values(["idx", "head"])[column].to_numpy()
        for name in TRAINED
    )
    assert found["maps"] == EXAMPLES * HEADS
    assert found["agreement"] == pytest.approx(np.mean(cnn == features))
    assert found["kappa"] == pytest.approx(cohen_kappa_score(cnn, features))
    rng = np.random.default_rng(7)
    blocks = np.arange(EXAMPLES * HEADS).reshape(EXAMPLES, HEADS)
    drawn = []
    for _ in range(1000):
        rows = blocks[rng.integers(EXAMPLES, size=EXAMPLES)].ravel()
        drawn.append(cohen_kappa_score(cnn[rows], features[rows]))
    low, high = np.quantile(drawn, [0.025, 0.975])
    assert [found["ci_low"], found["ci_high"]] == pytest.approx([low, high], abs=0.03)


def test_classifiers_that_choose_at_random_do_not_agree():
    found = compare_classifiers(classified(agree=0.0), 400, seed=1)
    assert (found["ci_low"] < 0).all()
    assert (found["ci_high"] > 0).all()


def test_one_pattern_everywhere_has_no_kappa():
    found = compare_classifiers(classified(names=NAMES[:1]), 20, seed=1)
    assert (found["agreement"] == 1).all()
    assert found["kappa"].isna().all()
