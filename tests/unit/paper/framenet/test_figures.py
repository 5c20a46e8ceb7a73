"""Which sentence Figure 4 shows."""

import pytest

from darksecrets.core.run.errors import InputError
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
