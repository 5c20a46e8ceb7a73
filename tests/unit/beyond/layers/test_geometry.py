"""Cosines of states against plain loops, and where their mean is known."""

import numpy as np
import pytest
from made_up_layers import states_of, trees

from darksecrets.beyond.layers.measure import geometry
from darksecrets.beyond.layers.measure.properties import word_types

SENTENCES = trees(40, 10)
WORDS = sum(map(len, SENTENCES))


def test_a_common_mean_makes_states_as_anisotropic_as_the_formula_says():
    rng = np.random.default_rng(0)
    many, size, length = trees(150, 30, seed=1), 400, 1.0
    common = np.zeros(size)
    common[0] = length * size**0.5
    states = [rng.standard_normal((sum(map(len, many)), size)) + part for part in (0, common)]
    rows = geometry.geometry_rows(
        states_of(many, states), word_types(states_of(many, states), many), 0
    )
    assert rows.loc[0, "anisotropy_low"] < 0 < rows.loc[0, "anisotropy_high"]
    expected = length**2 / (length**2 + 1)
    assert rows.loc[1, "anisotropy"] == pytest.approx(expected, abs=0.01)
    assert rows.loc[1, "outlier"] == 1
    assert rows.loc[1, "outlier_share"] == pytest.approx(0.5, abs=0.02)
    assert rows.loc[0, "self_similarity_low"] < 0 < rows.loc[0, "self_similarity_high"]


def test_cosines_are_those_of_loops():
    rng = np.random.default_rng(1)
    states = states_of(SENTENCES, [rng.standard_normal((WORDS, 6)) + 1])
    rows = geometry.geometry_rows(states, word_types(states, SENTENCES), 0)
    own = states.states[0].astype(float)
    unit = own / np.linalg.norm(own, axis=1, keepdims=True)
    sentence, words = states.sentence, [word for one in SENTENCES for word in one.words]
    apart = [
        unit[a] @ unit[b] for a in range(WORDS) for b in range(a) if sentence[a] != sentence[b]
    ]
    assert rows.loc[0, "anisotropy"] == pytest.approx(np.mean(apart))
    assert rows.loc[0, "even_share"] == pytest.approx(1 / 6)
    alike = []
    for word in sorted(set(words)):
        places = {}
        for place in range(WORDS):
            if words[place] == word:
                places.setdefault(sentence[place], place)
        chosen = list(places.values())
        if len(chosen) >= geometry.FEWEST:
            alike.append(np.mean([unit[a] @ unit[b] for a in chosen for b in chosen if a < b]))
    assert rows.loc[0, "self_similarity"] == pytest.approx(np.mean(alike) - np.mean(apart))


def test_a_state_that_is_0_has_no_direction():
    states = states_of(SENTENCES, [np.zeros((WORDS, 6)), np.ones((WORDS, 6))])
    rows = geometry.geometry_rows(states, word_types(states, SENTENCES), 0)
    assert rows.loc[0, "anisotropy"] == 0
    assert rows.loc[1, "anisotropy"] == pytest.approx(1)
