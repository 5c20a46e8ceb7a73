"""Shares of patterns against loops, and how often their intervals cover what is true."""

import numpy as np
import pandas as pd
import pytest
from labelled import NAMES, predictions
from scipy import stats
from sklearn.metrics import confusion_matrix

from darksecrets.core.stats.resampling import multinomial_weights
from darksecrets.paper.patterns.shares import estimates, heads
from darksecrets.paper.patterns.tables import CNN, FEATURES, MODEL

COUNT = len(NAMES)
GROUPS = {**{name: [name] for name in NAMES}, "vertical or diagonal": NAMES[:3]}


def classified(examples=9, layers=2, heads_of_a_layer=3, seed=0):
    """Maps with a class under each definition."""
    rng = np.random.default_rng(seed)
    e, layer, h = np.indices((examples, layers, heads_of_a_layer)).reshape(3, -1)
    strict, lenient = (
        rng.choice(NAMES, size=len(e), p=chances)
        for chances in ([0.3, 0.2, 0.1, 0.0, 0.4], [0.4, 0.3, 0.1, 0.0, 0.2])
    )
    return pd.DataFrame(
        {
            "idx": 50 - 2 * e,
            "layer": layer + 1,
            "head": h + 1,
            "pattern": strict,
            "lenient": lenient,
        }
    )


def left_out(names, definition="strict", state="finetuned", classifier=CNN, seed=0):
    """Predictions on the maps of encoders that training left out."""
    parts = [
        predictions(
            60, seed + place, definition=definition, left_out=MODEL, classifier=classifier
        ).assign(encoder=name, state=state)
        for place, name in enumerate(names)
    ]
    return pd.concat(parts, ignore_index=True)


def count(known):
    """Confusions of pre-trained encoders under both definitions."""
    return {
        name: estimates.count_confusions(known, name, pretrained=True)
        for name in ("strict", "lenient")
    }


def test_shares_and_their_intervals_are_those_of_loops():
    """Group by group, draw by draw, encoder by encoder."""
    maps, draws = classified(), 24
    strict, lenient = left_out(["a", "b", "c"]), left_out(["a", "b"], "lenient", seed=9)
    known = pd.concat([strict, lenient], ignore_index=True)
    confusions = {
        name: estimates.count_confusions(known, name, pretrained=True)
        for name in ("strict", "lenient")
    }
    found = estimates.table(maps, confusions, draws, seed=5).set_index(["definition", "pattern"])
    assert len(found) == 2 * len(GROUPS)
    examples = sorted(set(maps["idx"]))
    once = np.ones(len(examples), dtype=np.int64)
    weights = multinomial_weights(draws, once, np.random.default_rng(5))
    for definition, column, labelled in (
        ("strict", "pattern", strict),
        ("lenient", "lenient", lenient),
    ):
        encoders = [rows for _, rows in labelled.groupby("encoder")]
        for group, classes in GROUPS.items():
            share = maps[column].isin(classes).mean()
            drawn = []
            for weight in weights:
                rows = [maps[maps["idx"] == idx] for idx in np.repeat(examples, weight)]
                drawn.append(pd.concat(rows)[column].isin(classes).mean())
            off = [
                rows["label"].isin(classes).mean() - rows["predicted"].isin(classes).mean()
                for rows in encoders
            ]
            count = len(off)
            seen = [(maps[column] == name).mean() for name in NAMES]
            would = []
            for rates in rates_by_loops(encoders):
                after = [sum(s * r[j] for s, r in zip(seen, rates, strict=True)) for j in range(5)]
                would.append(sum(seen[NAMES.index(n)] - after[NAMES.index(n)] for n in classes))
            between = max(sum(x**2 for x in each) for each in (off, would)) / (count - 1)
            spread = np.sqrt(np.var(drawn) + (1 + 1 / count) * between)
            low, high = stats.t.interval(0.95, count - 1, share, spread)
            row = found.loc[definition, group]
            assert row["share"] == pytest.approx(share)
            assert row["ci_low"] == pytest.approx(max(low, 0))
            assert row["ci_high"] == pytest.approx(min(high, 1))


def rates_by_loops(encoders):
    """Of every encoder, how often each class is taken for each; with ten maps of all of them."""
    together = np.ones((COUNT, COUNT))
    for rows in encoders:
        for label, predicted in zip(rows["label"], rows["predicted"], strict=True):
            together[NAMES.index(label), NAMES.index(predicted)] += 1
    rates = []
    for rows in encoders:
        own = 10 * together / together.sum(axis=1, keepdims=True)
        for label, predicted in zip(rows["label"], rows["predicted"], strict=True):
            own[NAMES.index(label), NAMES.index(predicted)] += 1
        rates.append(own / own.sum(axis=1, keepdims=True))
    return rates


def test_shares_of_the_classes_add_up_and_the_first_three_are_their_sum():
    confusions = dict.fromkeys(("strict", "lenient"), np.ones((4, COUNT, COUNT)))
    found = estimates.table(classified(), confusions, 10, seed=0)
    by_pattern = found.pivot_table(index="definition", columns="pattern", values="share")
    np.testing.assert_allclose(by_pattern[NAMES].sum(axis=1), 1)
    first_three = by_pattern[NAMES[:3]].sum(axis=1)
    np.testing.assert_allclose(by_pattern["vertical or diagonal"], first_three)


def test_confusions_are_of_the_network_on_encoders_of_one_kind_that_were_left_out():
    own = left_out(["a", "b", "c"])
    untrained = [
        left_out(["a, random"], state="random", seed=7),
        left_out(["a, normal"], state="finetuned-from-normal", seed=8),
    ]
    others = [
        left_out(["a", "b", "c"], classifier=FEATURES, seed=3),
        left_out(["a", "b", "c"], seed=4).assign(left_out="example"),
        left_out(["a", "b", "c"], "lenient", seed=5),
    ]
    known = pd.concat([own, *untrained, *others])
    for pretrained, rows in ((True, own), (False, pd.concat(untrained))):
        found = estimates.count_confusions(known, "strict", pretrained=pretrained)
        by_encoder = [part for _, part in rows.groupby("encoder")]
        for part, counts in zip(by_encoder, found, strict=True):
            expected = confusion_matrix(part["label"], part["predicted"], labels=NAMES)
            np.testing.assert_array_equal(counts, expected)


@pytest.mark.parametrize("encoders", [[], ["one"]])
def test_nothing_is_known_of_other_encoders_when_fewer_than_two_were_left_out(encoders):
    known = left_out([*encoders, "x"])
    known = known[known["encoder"] != "x"]
    confusions = {
        name: estimates.count_confusions(known, name, pretrained=True)
        for name in ("strict", "lenient")
    }
    found = estimates.table(classified(), confusions, 20, seed=2)
    assert (found["ci_low"] == 0).all()
    assert (found["ci_high"] == 1).all()


def simulated_maps(rng, count, confusion, concentration):
    """Classes and predictions of the maps of an encoder with its own shares and confusions."""
    own = np.stack([rng.dirichlet(40 * row + 1e-3) for row in confusion])
    classes = rng.choice(COUNT, size=count, p=rng.dirichlet(concentration))
    predicted = (rng.random((count, 1)) > own.cumsum(axis=1)[classes, :-1]).sum(axis=1)
    return classes, predicted


GOOD = 0.8 * np.eye(COUNT) + 0.2 / COUNT
BIASED = 0.7 * np.eye(COUNT) + 0.3 * (np.arange(COUNT) == COUNT - 1)
RARE = 0.98 * np.eye(COUNT) + 0.02 / COUNT
EVERY, SOME, ONE = np.full(COUNT, 2.0), np.full(COUNT, 0.2), np.array([0.05, 0.05, 0.05, 0.05, 5])
ENCODERS = {
    "even errors": (GOOD, EVERY),
    "even errors, some encoders lack classes": (GOOD, SOME),
    "all errors towards one class": (BIASED, EVERY),
    "all errors towards one class, some encoders lack classes": (BIASED, SOME),
    "rare errors, nearly all maps of one class": (RARE, ONE),
}
MEMBERS = np.array([[name in some for some in GROUPS.values()] for name in NAMES])


@pytest.mark.parametrize("which", ENCODERS)
def test_intervals_cover_the_shares_of_encoders_that_were_not_labelled(which):
    """Four encoders are labelled, a fifth is the run's; the classes of its maps are known.

    Taking the classifier to be right, as a bootstrap over examples does, covers far fewer.
    """
    how = ENCODERS[which]
    rng = np.random.default_rng(11)
    right = np.stack([40.0 * np.eye(COUNT)] * 4)
    hits, blind = [], []
    for _ in range(500):
        confusions = np.zeros((4, COUNT, COUNT))
        for counts in confusions:
            np.add.at(counts, simulated_maps(rng, 150, *how), 1)
        classes, predicted = simulated_maps(rng, 40 * 36, *how)
        truth = np.bincount(classes, minlength=COUNT) / len(classes) @ MEMBERS
        seen = np.eye(COUNT)[predicted].reshape(40, 36, COUNT).mean(axis=1)
        for counted, known in ((hits, confusions), (blind, right)):
            found = estimates.estimate(seen, known, 50, rng)
            counted.append((found["ci_low"] <= truth) & (truth <= found["ci_high"]))
    covered = np.mean(hits, axis=0)
    assert covered.min() >= 0.93
    assert covered.mean() >= 0.96
    assert np.mean(blind) < 0.9


def test_shares_of_heads_are_counted():
    maps = classified()
    found = heads.shares_by_head(maps).set_index(["layer", "head", "pattern"])["share"]
    assert len(found) == 2 * 3 * COUNT
    for (layer, head, pattern), share in found.items():
        rows = maps[(maps["layer"] == layer) & (maps["head"] == head)]
        assert share == pytest.approx((rows["pattern"] == pattern).mean())
