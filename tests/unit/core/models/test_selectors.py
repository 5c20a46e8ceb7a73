"""Selectors, as described in the module's docstring."""

import numpy as np
import pandas as pd
import pytest

from darksecrets.core.interventions.sets import HeadSet, check, sweep_sets
from darksecrets.core.models.selectors import Shape
from darksecrets.core.run.errors import InputError

SHAPE = Shape(layers=6, heads=12)
EVERY = frozenset(range(1, 13))


def heads(**layers):
    return {int(name[1:]): frozenset(numbers) for name, numbers in layers.items()}


@pytest.mark.parametrize(
    ("selector", "expected"),
    [
        (3, {layer: frozenset({3}) for layer in range(1, 7)}),
        ([1, 4], {layer: frozenset({1, 4}) for layer in range(1, 7)}),
        ("2-4", {layer: frozenset({2, 3, 4}) for layer in range(1, 7)}),
        ({3: 5, 4: [1, 2]}, heads(l3={5}, l4={1, 2})),
        ({"3": 5, "5-6": "all"}, heads(l3={5}, l5=EVERY, l6=EVERY)),
        ({2: "1, 3-4"}, heads(l2={1, 3, 4})),
        ({2: {7}}, heads(l2={7})),
        ("all of layer 1", heads(l1=EVERY)),
        ("layer 1", heads(l1=EVERY)),
        ("Layer 3 heads 1, 4", heads(l3={1, 4})),
        ("heads 1, 4 of layer 3", heads(l3={1, 4})),
        ("head 3 of every layer", {layer: frozenset({3}) for layer in range(1, 7)}),
        ("layer 3 head 1 + all of layer 4 + layer 3 head 2", heads(l3={1, 2}, l4=EVERY)),
        ([(3, 1)], heads(l3={1})),
        ([(3, 1), (5, 2), (3, 4)], heads(l3={1, 4}, l5={2})),
        ({(3, 1), (5, 2)}, heads(l3={1}, l5={2})),
        (np.int64(3), {layer: frozenset({3}) for layer in range(1, 7)}),
        (range(1, 3), {layer: frozenset({1, 2}) for layer in range(1, 7)}),
        (np.array([1, 4]), {layer: frozenset({1, 4}) for layer in range(1, 7)}),
        (pd.Series([1, 4]), {layer: frozenset({1, 4}) for layer in range(1, 7)}),
        ({np.int64(3): np.array([1])}, heads(l3={1})),
        ([(np.int64(3), np.int64(1))], heads(l3={1})),
    ],
    ids=str,
)
def test_words_and_what_they_mean(selector, expected):
    chosen = SHAPE.parse(selector)
    assert chosen == expected
    assert SHAPE.parse(SHAPE.describe(chosen)) == expected, "a name can be read back"


@pytest.mark.parametrize(
    ("selector", "words"),
    [
        (13, ["13", "head 13", "6 layers of 12 heads", "from 1 to 12"]),
        ({2: [3, 14, 15]}, ["head 14, 15"]),
        ({1: 2, 3: []}, ["[]", "{1: 2, 3: []}", "names no head"]),
        ({"5-3": "all"}, ["'5-3'", "'3-5'"]),
        ({2: "1, 9-7"}, ["'9-7'", "'7-9'"]),
        ({1: 2.5}, ["2.5", "Expected a selector"]),
        ((3, 1), ["(3, 1)", "a tuple", "{3: [1]}", "[3, 1]"]),
        ((3,), ["a tuple"]),
        ([(3, 1), 5], ["5 in the selector", "pair (layer, head)"]),
        ([(3, 1, 2)], ["(3, 1, 2)", "pair (layer, head)"]),
        ([(0, 1)], ["layer 0", "counted from 1"]),
        ([(3, True)], ["(3, True)"]),
        (np.bool_(True), ["True"]),
        (np.array([1.5]), ["1.5"]),
        ([None], ["None", "Expected a selector"]),
    ],
    ids=str,
)
def test_invalid_selectors_are_named(selector, words):
    with pytest.raises(InputError) as caught:
        check([1, selector], SHAPE)
    for word in ["ablation.sets", *words]:
        assert word in str(caught.value)


@pytest.mark.parametrize(
    ("own", "words"),
    [
        ([3, 5, "head 3 of every layer"], ["3 and 'head 3 of every layer'"]),
        ([{1: "all"}, "all of layer 1"], ["{1: 'all'} and 'all of layer 1'"]),
        ([[4, 1], "1, 4"], ["[4, 1] and '1, 4'", "heads 1, 4 of every layer"]),
    ],
)
def test_two_selectors_that_mean_the_same_are_named(own, words):
    for refuse in (lambda: check(own, SHAPE), lambda: sweep_sets(SHAPE, own)):
        with pytest.raises(InputError) as caught:
            refuse()
        for word in ["ablation.sets", "mean the same heads", *words]:
            assert word in str(caught.value)


def test_a_set_of_ones_own_may_be_a_head_or_a_layer():
    own = [{2: 1}, "all of layer 1"]
    check(own, SHAPE)
    assert [s.kind for s in sweep_sets(SHAPE, own)][-2:] == ["set", "set"]


def test_a_sweep_has_nothing_every_head_every_layer_and_own_sets():
    sets = sweep_sets(Shape(2, 2), [{1: 2, 2: "all"}, 1])
    assert [(s.kind, s.layer, s.head, s.name) for s in sets] == [
        ("baseline", None, None, "nothing"),
        ("head", 1, 1, "layer 1 head 1"),
        ("head", 1, 2, "layer 1 head 2"),
        ("head", 2, 1, "layer 2 head 1"),
        ("head", 2, 2, "layer 2 head 2"),
        ("layer", 1, None, "all of layer 1"),
        ("layer", 2, None, "all of layer 2"),
        ("set", None, None, "layer 1 head 2 + all of layer 2"),
        ("set", None, None, "head 1 of every layer"),
    ]
    assert sets[0].heads == {}
    assert sets[5] == HeadSet("layer", {1: frozenset({1, 2})}, "all of layer 1")


def test_a_single_head_of_a_layer_that_has_one_is_a_head():
    assert [s.name for s in sweep_sets(Shape(1, 1))] == [
        "nothing",
        "layer 1 head 1",
        "all of layer 1",
    ]
