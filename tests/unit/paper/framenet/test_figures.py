"""Figures 3 and 4: heads and their controls, and which sentence is shown."""

import numpy as np
import pandas as pd
import pytest
from drawn import axes_named, cells_of, draw_with, headline_of

from darksecrets.core.run.errors import InputError
from darksecrets.paper.framenet.example import Example
from darksecrets.paper.framenet.figures import figure3, figure3_controls
from darksecrets.paper.framenet.figures.figure4 import choose
from darksecrets.paper.framenet.links import Annotation, Element


def annotate(sentence: str, predicate: str, *elements: str, frame: str = "") -> Annotation:
    def span(text: str) -> tuple[int, int]:
        return sentence.index(text), sentence.index(text) + len(text)

    roles = [Element(span(text), f"Role {i}" if frame else "") for i, text in enumerate(elements)]
    return Annotation(sentence, span(predicate), tuple(roles), frame)


LONG = annotate(
    "Anything else that you had ever wanted to tell them, you confessed.",
    "confessed",
    "Anything else",
    "that",
    "them",
    frame="Statement",
)
SHORT = annotate("The book is no mess.", "mess", "The book")


def test_figure4_takes_a_plain_sentence_with_most_elements_and_of_these_the_longest():
    twice = annotate("She slept there and he slept and so did we .", "slept", "She", "he", "we")
    longer = annotate("The heavy old book is no mess.", "mess", "The heavy old book")
    assert choose([SHORT, LONG, twice]) is LONG
    assert choose([twice, SHORT, longer]) is longer
    with pytest.raises(InputError, match="no sentence"):
        choose([])


LAYERS, HEADS = 3, 4


def heads_and_controls(exceeding=((2, 1),), by_chance=()):
    """Heads in both directions, of a pre-trained encoder and of one with random weights."""
    rng = np.random.default_rng(8)
    heads, controls = [], []
    for state, chosen in (("pretrained", exceeding), ("random", by_chance)):
        for direction in ("element_to_predicate", "predicate_to_element"):
            for layer, head in np.ndindex(LAYERS, HEADS):
                place = {"state": state, "seed": 1, "direction": direction}
                place |= {"layer": layer + 1, "head": head + 1}
                flag = (layer + 1, head + 1) in chosen and direction == "element_to_predicate"
                weight = rng.random() / 2
                heads.append(
                    place
                    | {"weight": weight, "uniform": 0.1, "sentences": 20}
                    | {"exceeds_controls": flag}
                    | {"above_percentile": (layer, head) == (0, 2)}
                )
                controls += [
                    place | {"control": name, "difference": rng.normal()}
                    for name in figure3_controls.NAMES
                ]
    return pd.DataFrame(heads), pd.DataFrame(controls)


@pytest.fixture
def example(tmp_path):
    tokens = np.array(["[CLS]", "she", "told", "him", "all", "[SEP]"])
    maps = np.random.default_rng(9).dirichlet(np.ones(6), size=(2, 6)).astype(np.float16)
    layers, heads = np.array([2, 3]), np.array([1, 2])
    found = Example(7, tokens, layers, heads, maps, np.array([1]), np.array([2]))
    found.save(tmp_path / "example.npz")
    return tmp_path / "example.npz", found


def test_figure3_has_the_published_direction_with_two_maps_and_their_distributions(example):
    path, shown = example
    table, _ = heads_and_controls()
    figure = draw_with(figure3.draw, ["RTE"], {"framenet_example": path}, framenet_heads=table)
    rows = table[table["state"] == "pretrained"]
    rows = rows[rows["direction"] == "element_to_predicate"]
    weights = rows.sort_values(["layer", "head"])["weight"].to_numpy().reshape(LAYERS, HEADS)
    np.testing.assert_allclose(cells_of(figure, figure3.GRID), weights)
    assert headline_of(figure).replace("\n", " ") == (
        "Above the paper's threshold: 1 of 12 heads; above all controls: 1"
    )
    for number, name in enumerate(("Layer 2, head 1", "Layer 3, head 2")):
        drawn = axes_named(figure, name).images[0].get_array()
        np.testing.assert_array_equal(drawn, shown.maps[number].astype(np.float32))
        bars = axes_named(figure, f"{name} attention").patches
        lengths = [bar.get_width() for bar in bars]
        np.testing.assert_allclose(lengths, shown.maps[number][1].astype(np.float64))


def test_the_supplement_has_every_control_in_both_directions_and_counts_untrained_heads():
    table, controls = heads_and_controls(exceeding=((2, 1), (3, 4)), by_chance=((1, 1),))
    figure = draw_with(
        figure3_controls.draw, ["RTE"], framenet_heads=table, framenet_controls=controls
    )
    own = controls[controls["state"] == "pretrained"]
    for (name, direction), rows in own.groupby(["control", "direction"]):
        cells = cells_of(figure, f"{name} {direction}")
        ordered = rows.sort_values(["layer", "head"])["difference"].to_numpy()
        np.testing.assert_allclose(cells.ravel(), ordered)
    said = " ".join(headline_of(figure).split())
    assert said == "2 of 12 heads exceed all controls in one direction, untrained 1 of 12"
