"""Linear probes against scikit-learn, and what they say of planted, memorised and random labels."""

import math

import numpy as np
import pytest
import torch
from made_up_layers import planted, training_of
from sklearn.linear_model import LogisticRegression

from darksecrets.beyond.layers.measure import linear, probing
from darksecrets.beyond.layers.measure.properties import leave_out_rare_classes


@pytest.mark.parametrize("classes", [2, 5])
def test_a_probe_is_at_the_optimum_of_scikit_learn(classes):
    found = planted(classes, strength=2.0)
    features, training = found.features(2), training_of(found)
    probe = linear.fit(features[training], found.labels[training], classes)
    scaled = probe.scale(features).numpy().astype(np.float64)
    weight = 2 if classes == 2 else 1  # of two classes, it has the difference of the weights
    slow = LogisticRegression(C=weight / linear.PENALTY, tol=1e-8, max_iter=5000)
    slow.fit(scaled[training], found.labels[training])
    expected = slow.predict_log_proba(scaled[~training])
    np.testing.assert_allclose(
        probe.log_probabilities(features[~training]), expected, rtol=0, atol=0.02
    )


def test_constant_states_say_nothing_and_do_no_harm():
    features, labels = np.ones((90, 5), dtype=np.float32), np.arange(90) % 3
    probe = linear.fit(features, labels, 3)
    np.testing.assert_allclose(probe.log_probabilities(features), math.log(1 / 3), atol=1e-3)


def test_a_label_is_found_in_the_layer_in_which_it_is_written_and_only_there():
    found = planted(layer=2)
    rows = probing.probe_rows(found, training_of(found), seed=3).set_index("layer")
    assert rows.loc[2, "accuracy"] > 0.9
    assert rows.loc[2, "over_majority_low"] > 0.4
    assert rows.loc[2, "compression"] > 2
    others = rows.drop(index=2)
    assert (others["over_majority_low"] < 0.03).all()
    assert others["accuracy"].max() < 0.42
    order = probing.order_row(found, training_of(found), seed=3)
    assert order["expected_layer"] == pytest.approx(2, abs=0.1)
    assert order["expected_layer_low"] <= 2 <= order["expected_layer_high"] + 0.1


def test_word_types_alone_do_not_pass_as_more():
    found = planted(layer=None, by_type=True)
    rows = probing.probe_rows(found, training_of(found), seed=3)
    assert (rows["accuracy"] > 0.7).all(), "the type is in every layer"
    assert (rows["over_majority_low"] <= 0).all()
    assert (rows["accuracy"] - rows["control"]).abs().max() < 0.1, "random classes are as easy"
    order = probing.order_row(found, training_of(found), seed=3)
    assert math.isnan(order["expected_layer"])


def test_random_labels_cannot_be_compressed():
    found = planted(layer=None)
    rows = probing.probe_rows(found, training_of(found), seed=3)
    assert rows["compression"].between(0.9, 1.005).all()
    assert (rows["accuracy"] - rows["control"]).abs().max() < 0.1
    assert math.isnan(probing.order_row(found, training_of(found), seed=3)["expected_layer"])


def test_the_online_code_is_that_of_a_plain_loop():
    found = planted(3, 600, strength=3.0)
    training, features = training_of(found), found.features(2)
    short = probing.compression(features, found.labels, 3, training, found.groups, 5)
    places = np.random.default_rng(5).permutation(found.groups.max() + 1)
    items = sorted(np.flatnonzero(training), key=lambda item: (places[found.groups[item]], item))
    ends = [n for share in probing.PORTIONS if (n := round(share * len(items))) >= 3]
    bits = ends[0] * math.log2(3)
    for number, item in enumerate(items):
        if number < ends[0]:
            continue
        end = max(n for n in ends if n <= number)
        probe = linear.fit(features[items[:end]], found.labels[items[:end]], 3)
        bits -= probe.log_probabilities(features[[item]])[0, found.labels[item]] / math.log(2)
    assert short == pytest.approx(len(items) * math.log2(3) / bits, rel=1e-4)


def test_the_expected_layer_is_that_of_the_formula():
    scores = np.array([[0.5, 0.6, 0.6, 0.9]])
    assert probing.expected_layers(scores)[0] == pytest.approx((1 * 0.1 + 3 * 0.3) / 0.4)


def test_a_mix_of_one_layer_is_a_probe():
    found = planted()
    training, features = training_of(found), found.features(2)
    scale = linear.Scale.of(features[training])
    mix = probing.fit_mix(scale(features[training])[None], found.labels[training], 3)
    probe = linear.fit(features[training], found.labels[training], 3)
    torch.testing.assert_close(mix.weights, probe.weights, rtol=0, atol=2e-3)


def test_word_types_have_their_most_frequent_class_of_training():
    found = planted(words=500)
    training = training_of(found)
    found_classes = probing.most_frequent(found, training)
    for item in range(0, 500, 37):
        own = [
            label
            for label, kind, learn in zip(found.labels, found.types, training, strict=True)
            if learn and kind == found.types[item]
        ]
        assert own.count(found_classes[item]) == max(own.count(label) for label in set(own))


def test_random_classes_are_the_same_wherever_a_type_stands_and_as_frequent():
    found = planted(layer=None, words=20_000)
    some = leave_out_rare_classes(found, training_of(found))
    drawn = probing.random_classes(some, training_of(some), 4)
    assert all(len(set(drawn[some.types == kind])) == 1 for kind in range(60))
    assert len(set(drawn)) == 3


def test_rare_classes_are_left_out_and_named():
    found = planted(4, 400)
    labels = np.where(np.arange(400) < 15, 3, found.labels % 3)
    rare = leave_out_rare_classes(
        found.__class__(**{**found.__dict__, "labels": labels}), training_of(found)
    )
    assert rare is not None
    assert rare.classes == ("a", "b", "c")
    assert rare.left_out == ("d",)
    assert len(rare.labels) == 385
    few = found.of(np.arange(400) < 30)
    assert leave_out_rare_classes(few, training_of(few)) is None
