"""The page of an inspection: its numbers are those of the maps, its words those of the text."""

import base64
import html
import json
import re

import numpy as np
import pandas as pd
import pytest
from tiny_models import inspected

from darksecrets.pages.inspect.html import Heads, content, words_of, written

TEXT = [["the dogs </script> bark .", "the naive dog ."], ["bark .", "<b>the dog"]]


@pytest.fixture(scope="module")
def seen(tmp_path_factory):
    return inspected(tmp_path_factory.mktemp("model"), TEXT)


def heads(seen):
    statistics = seen.measures["head_statistics"]
    return Heads(seen.examples, seen.pieces, seen.maps, seen.patterns, statistics)


def test_weights_patterns_and_strongest_heads_are_those_of_the_inspection(seen):
    made = content(heads(seen), "a label")
    for number, example in enumerate(made["examples"]):
        levels = np.frombuffer(base64.b64decode(example["maps"]), np.uint8).astype(float) / 255
        expected = seen.maps[number].astype(float)
        error = np.abs(levels.reshape(expected.shape) ** 2 - expected)
        assert (error <= np.sqrt(expected) / 255 + 1 / 510**2 + 1e-7).all()
        own = seen.patterns[seen.patterns["idx"] == number].set_index(["layer", "head"])
        across = expected.shape[1]
        for place, (pattern, certain) in enumerate(example["patterns"]):
            row = own.loc[(place // across + 1, place % across + 1)]
            assert (row["pattern"], round(row["probability"], 3)) == (pattern, certain)
    table = seen.measures["head_statistics"]
    for kind, most in made["strongest"].items():
        rows = table[table["statistic"] == kind].set_index(["layer", "head"])["value"]
        values = [rows[(layer, head)] for layer, head, _ in most]
        assert values == sorted(rows, reverse=True)[:3]
        assert [float(shown.split()[0]) for _, _, shown in most] == pytest.approx(values, abs=6e-3)
    lengths = [len(tokens) for tokens in seen.tokens]
    alike = {"self": np.mean([1 / n for n in lengths]), "entropy": np.mean(np.log(lengths))}
    for kind, expected in alike.items():
        assert float(made["uniform"][kind]) == pytest.approx(expected, abs=6e-3)


def test_only_so_many_examples_are_shown_and_the_page_says_so(seen):
    made = content(heads(seen), "bert", most=1)
    assert [example["text"] for example in made["examples"]] == [" ||| ".join(TEXT[0])]
    assert made["label"] == "bert · The first 1 of 2 examples are shown."


def test_examples_that_do_not_fit_are_left_out_and_the_first_is_shown(seen, monkeypatch):
    sizes = [len(example["maps"]) for example in content(heads(seen), "bert")["examples"]]
    for limit, count in ((1, 1), (sizes[0], 1), (sum(sizes), 2)):
        monkeypatch.setattr("darksecrets.pages.inspect.html._LIMIT", limit)
        assert len(content(heads(seen), "bert")["examples"]) == count


def test_no_text_ends_the_script_or_becomes_markup(seen):
    page = seen.page()
    assert page.count("</script>") == 2
    assert "<b>" not in page
    (data,) = re.findall(r'<script type="application/json"[^>]*>(.*?)</script>', page, re.DOTALL)
    assert json.loads(data)["examples"][0]["text"] == " ||| ".join(TEXT[0])
    assert not re.search(r'(src|href)="', page)


def test_a_notebook_shows_the_page_in_a_frame(seen):
    (page,) = re.findall(r'<iframe srcdoc="([^"]*)"', seen._repr_html_())
    assert html.unescape(page) == seen.page()


def pieces(text: str, *spans: tuple[int, int]) -> pd.Series:
    """A text with [CLS] and [SEP], in pieces at these characters."""
    starts, ends = zip((0, 0), *spans, (0, 0), strict=True)
    count = len(starts)
    return pd.Series(
        {
            "tokens": ["[CLS]", *["##"] * len(spans), "[SEP]"],
            "segments": [0] * count,
            "special": [True, *[False] * len(spans), True],
            "starts": starts,
            "ends": ends,
        }
    )


@pytest.mark.parametrize(
    ("text", "spans", "words"),
    [
        ("boys bark.", [(0, 2), (2, 4), (5, 9), (9, 10)], [0, 1, 1, 2, 3, 4]),
        ("isn't", [(0, 3), (3, 4), (4, 5)], [0, 1, 2, 3, 4]),
        ("x2 日本", [(0, 1), (1, 2), (3, 4), (4, 5)], [0, 1, 1, 2, 3, 4]),
        (" a b", [(0, 2), (2, 4)], [0, 1, 2, 3]),  # byte-level pieces begin with the space
    ],
    ids=["letters", "apostrophe", "signs", "spaces"],
)
def test_pieces_that_touch_within_letters_are_one_word(text, spans, words):
    own = pieces(text, *spans)
    assert words_of(own, [text]) == words
    assert written(own, [text]) == ["[CLS]", *[text[a:b] for a, b in spans], "[SEP]"]
