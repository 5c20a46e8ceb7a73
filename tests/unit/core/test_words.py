"""Words of sentences."""

import pytest

from darksecrets.core.words import listed


@pytest.mark.parametrize(
    ("names", "said"),
    [([], ""), (["A"], "A"), (["A", "B"], "A and B"), (["A", "B", "C"], "A, B and C")],
)
def test_the_last_name_of_several_follows_an_and(names, said):
    assert listed(names) == said
