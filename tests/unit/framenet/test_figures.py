"""Which heads Figure 3 marks, and which sentence Figure 4 shows."""

import numpy as np
import pandas as pd
import pytest

from darksecrets.framenet.figure3 import exceeds_both
from darksecrets.framenet.figure4 import choose
from darksecrets.framenet.links import Annotation, Element
from darksecrets.run.errors import InputError


def test_heads_exceed_both_controls_if_the_greater_p_value_does_after_correction():
    rng, controls = np.random.default_rng(1), ("over_control", "over_unlinked")
    weights = pd.DataFrame({f"{name}_p": rng.random(72) ** 12 for name in controls})
    weights["over_unlinked"] = rng.uniform(-0.1, 0.1, 72)
    greater = [max(r.over_control_p, r.over_unlinked_p) for r in weights.itertuples()]
    order = sorted(range(len(greater)), key=greater.__getitem__)
    ranks = [n for n, i in enumerate(order, start=1) if greater[i] < 0.05 * n / len(greater)]
    expected = {order[n] for n in range(max(ranks, default=0))}
    assert 0 < len(expected) < len(greater)
    assert set(np.flatnonzero(exceeds_both(weights))) == expected
    assert not exceeds_both(weights.assign(over_unlinked=np.nan)).any()


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
