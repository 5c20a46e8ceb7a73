import itertools

import pytest

from darksecrets.core.run.errors import InputError
from darksecrets.paper.patterns.classes import KINDS, PATTERNS, Answers, kinds, strict_reading


@pytest.mark.parametrize(
    ("given", "strict"),
    [
        (("vertical", "s", 2, 0), "vertical"),
        (("vertical", "sp", 2, 0), "heterogeneous"),
        (("vertical", "w", 1, 0), "heterogeneous"),
        (("vertical+diagonal", "s", 1, 1), "vertical+diagonal"),
        (("vertical+diagonal", "sw", 2, 2), "diagonal"),
        (("vertical+diagonal", "ws", 2, 1), "heterogeneous"),
        (("diagonal", "w", 1, 2), "diagonal"),
        (("block", "-", 0, 0), "block"),
        (("heterogeneous", "w", 1, 0), "heterogeneous"),
        (("vertical", "", None, None), ""),
        (("vertical+diagonal", "", None, None), ""),
        (("block", "", None, None), "block"),
    ],
)
def test_vertical_is_strictly_of_special_tokens_only(given, strict):
    answers = Answers(*given)
    answers.check()
    assert answers.strict == strict


def test_answers_are_accepted_if_and_only_if_they_fit_together():
    texts = ["-", *("".join(some) for n in (1, 2, 3) for some in itertools.permutations(KINDS, n))]
    accepted = set()
    for given in itertools.product(PATTERNS, texts, (0, 1, 2), (0, 1, 2)):
        try:
            Answers(*given).check()
        except InputError:
            continue
        accepted.add(given)
    expected = {
        (label, columns, number, diagonal)
        for label, columns, number, diagonal in itertools.product(
            PATTERNS, texts, range(3), range(3)
        )
        if (number == 0) == (columns == "-")
        and not (number == 1 and len(columns) > 1)
        and not ("vertical" in label and number == 0)
        and not ("diagonal" in label and diagonal == 0)
    }
    assert accepted == expected
    assert len(expected) > 100


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("stripes", "-", 0, 0), "'stripes'. Use vertical"),
        (("block", "ss", 2, 0), "expected columns such as s"),
        (("block", "x", 1, 0), "expected columns such as s"),
        (("block", "", 0, 0), "expected columns such as s"),
        (("block", "-", 3, 0), "expected 0, 1 or 2"),
        (("block", "-", 0, None), "expected 0, 1 or 2"),
        (("block", "s", 0, 0), "the columns - if, and only if"),
        (("diagonal", "-", 0, 0), "diagonal needs a diagonal"),
    ],
)
def test_answers_that_cannot_be_are_refused(given, message):
    with pytest.raises(InputError, match=message):
        Answers(*given).check()


def test_kinds_of_tokens():
    tokens = ["<s>", "I", "'", "##m", "▁5", "%", "Ġ,", "##…", "▁", "$", "</s>"]
    assert kinds(tokens, "10000000001") == "swpwwppp" + "wps"
    assert strict_reading("diagonal", "", None) == "diagonal"
