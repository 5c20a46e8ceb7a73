"""Examples that are equal are one unit."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from darksecrets.core.stats.units import first_of_each, numbered, numbered_texts


@given(st.lists(st.sampled_from("abcd"), min_size=1))
def test_units_are_numbered_as_they_first_appear(keys):
    order = sorted(set(keys), key=keys.index)
    assert numbered(keys).tolist() == [order.index(key) for key in keys]
    assert first_of_each(numbered(keys)).tolist() == [keys.index(key) for key in order]


def test_case_and_spaces_make_no_other_text_but_the_second_sentence_does():
    first = ["A dog.", "a  DOG. ", "A dog.", "A cat."]
    second = ["It barks.", "It barks.", "It sleeps.", "It barks."]
    assert numbered_texts([first]).tolist() == [0, 0, 0, 1]
    assert numbered_texts([first, second]).tolist() == [0, 0, 1, 2]
    assert numbered_texts([np.array(first)]).tolist() == [0, 0, 0, 1]
