"""Coreference: the texts, methods without a model, and what heads choose."""

import math
from collections.abc import Mapping
from dataclasses import replace

import numpy as np
import pytest
from made_up_syntax import story_texts

from darksecrets.beyond.syntax.declared import EXPRESSIONS, NOMINAL, PRONOUN, PROPER
from darksecrets.beyond.syntax.measure import antecedents, coreference
from darksecrets.beyond.syntax.measure.antecedents import FURTHEST, counted, resolve
from darksecrets.beyond.syntax.measure.coreference import Expression, Text, anaphors
from darksecrets.core.data.sentences import Mention, Sentence
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES

LAYERS, HEADS = 2, 3


def expression(head: str, entity: int, word: int, tag: str = "NN", phrase: str = "") -> Expression:
    kind = PRONOUN if tag == "PRP" else PROPER if tag == "NNP" else NOMINAL
    features = coreference._features(head, tag)
    return Expression(0, 1, head, phrase or head, kind, features, word, entity)


ANNA, TOM = expression("anna", 0, 0, "NNP"), expression("tom", 1, 2, "NNP")
CARS = expression("cars", 2, 5, "NNS", "two cars")
SHE, THEY = expression("she", 0, 7, "PRP"), expression("they", 2, 9, "PRP")
SHE_AGAIN = expression("she", 0, 12, "PRP")
STORY = [ANNA, TOM, CARS, SHE, THEY, SHE_AGAIN]


@pytest.fixture(scope="module")
def texts() -> list[Text]:
    return story_texts(60, 7)


# ----------------------------------------------------------------------------------------- texts


def test_expressions_are_where_the_text_says(texts):
    for text in texts:
        words = [each.word for each in text.expressions]
        assert words == sorted(words)
        for each in text.expressions:
            assert text.text[each.start : each.end].lower() == each.head
            assert each.head in each.phrase


def test_a_document_is_joined_with_its_places():
    one = Sentence(
        "1",
        0,
        "Anna ran.",
        ("Anna", "ran", "."),
        (0, 5, 8),
        (4, 8, 9),
        (1, -1, 1),
        (),
        ("NNP",) * 3,
    )
    one = Sentence(**{**vars(one), "mentions": (Mention(0, 1, 0, 4),)})
    two = Sentence(**{**vars(one), "text": "She ran.", "words": ("She", "ran", ".")})
    two = Sentence(**{**vars(two), "starts": (0, 4, 7), "ends": (3, 7, 8), "tags": ("PRP",) * 3})
    (text,) = coreference.texts_of([one, two])
    assert text.text == "Anna ran. She ran."
    places = [(text.text[e.start : e.end], e.word, e.kind, e.entity) for e in text.expressions]
    assert places == [("Anna", 0, PROPER, 4), ("She", 3, PRONOUN, 4)]


# ------------------------------------------------------------------------------------- resolution


def test_only_expressions_with_a_choice_are_resolved():
    assert anaphors(STORY) == [3, 4, 5]
    assert anaphors([ANNA, SHE]) == [], "nothing else was mentioned"


@pytest.mark.parametrize(
    ("method", "chosen"),
    [
        (coreference.nearest, [2, 3, 4]),
        (coreference.head_match, [2, 3, 3]),
        (coreference.rules, [1, 2, 3]),
    ],
)
def test_methods_choose_as_they_say(method, chosen):  # type: ignore[no-untyped-def]
    assert [method(STORY, place) for place in (3, 4, 5)] == chosen


def test_rules_prefer_all_words_to_the_head_word():
    red, old = (
        expression("car", n, n, phrase=f"the {word} car") for n, word in enumerate(("red", "old"))
    )
    again = expression("car", 0, 5, phrase="the red car")
    assert coreference.rules([red, old, again], 2) == 0
    assert coreference.head_match([red, old, again], 2) == 1


def test_the_nearest_to_every_distance_is_found_as_a_loop_does(texts):
    for text in texts[:10]:
        for place in anaphors(text.expressions):
            found = coreference.nearest_to_distances(text.expressions, place, FURTHEST)
            own = text.expressions[place].word
            for far in range(1, FURTHEST + 1):
                misses = [abs(own - each.word - far) for each in text.expressions[:place]]
                assert found[far - 1] == max(n for n, m in enumerate(misses) if m == min(misses))


# ------------------------------------------------------------------------------------------ heads


def by_loops(
    expressions: list[Expression], weights: np.ndarray, counts: Mapping[str, int]
) -> dict[str, list]:
    """What `resolve` finds, by plain loops over heads and expressions."""
    found: dict[str, list] = {name: [] for name in ("heads", "other_query", "same_kind", "form")}
    found["of_form"] = []
    for place in anaphors(expressions):
        for name, values in found.items():
            values.append(np.zeros((*[3] * (name == "of_form"), LAYERS, HEADS)))
        for layer, head in np.ndindex(LAYERS, HEADS):
            row = weights[layer, head]
            best = max(range(place), key=lambda j: (row[place, j], j))
            kind, entity = expressions[best].kind, expressions[place].entity
            found["heads"][-1][layer, head] = expressions[best].entity == entity
            same = [e.entity == entity for e in expressions[:place] if e.kind == kind]
            found["same_kind"][-1][layer, head] = sum(same) / len(same)
            own = expressions[place].head

            def form(word, own=own):
                """2 if it is as long, 1 if it is about as frequent."""
                often = [round(math.log2(counts[each] + 1)) for each in (own, word)]
                return 2 * (len(word) == len(own)) + (often[0] == often[1])

            found["form"][-1][layer, head] = form(expressions[best].head)
            alike = [e for e in expressions[:place] if form(e.head) == form(expressions[best].head)]
            rightly = [e.entity == entity for e in alike]
            rules = rightly[0], rightly[-1], sum(rightly) / len(rightly)
            found["of_form"][-1][:, layer, head] = rules
            others = []
            for query, other in enumerate(expressions):
                if other.entity != entity:
                    rest = [j for j in range(place) if j != query]
                    choice = max(rest, key=lambda j: (row[query, j], j))
                    others.append(expressions[choice].entity == entity)
            found["other_query"][-1][layer, head] = sum(others) / len(others)
    return found


def test_heads_and_controls_are_those_of_plain_loops(texts):
    rng = np.random.default_rng(0)
    for number, text in enumerate(texts[:8]):
        count = len(text.expressions)
        weights = rng.integers(0, 4, size=(LAYERS, HEADS, count, count)) / 4  # with ties
        counts = counted(texts)
        found = resolve(number, text.expressions, weights, counts)
        for name, values in by_loops(list(text.expressions), weights, counts).items():
            np.testing.assert_allclose(getattr(found, name), np.array(values), atol=1e-12)
        assert found.kind.tolist() == [
            EXPRESSIONS.index(text.expressions[place].kind) for place in anaphors(text.expressions)
        ]


def test_a_text_without_anaphors_has_none():
    found = resolve(0, [ANNA, TOM], np.zeros((LAYERS, HEADS, 2, 2)), {"anna": 1, "tom": 1})
    assert found.heads.shape == (0, LAYERS, HEADS)
    assert found.distances.shape == (0, FURTHEST)


def test_a_real_encoder_reads_beginnings_of_texts(texts):
    """Weights of a head word are those of its pieces; what was cut off is not resolved."""
    reading = Reading(RESOURCES / "tiny-bert", 128, 4)
    whole = antecedents.cut(reading, texts[:6])
    assert whole == texts[:6]
    short = antecedents.cut(replace(reading, max_length=20), texts[:6])
    for one, other in zip(short, whole, strict=True):
        assert other.text.startswith(one.text)
        assert one.expressions == other.expressions[: len(one.expressions)]
        assert len(one.expressions) < len(other.expressions)
    found = antecedents.resolve_all(reading, texts[:6])
    assert found.text.tolist() == [
        n for n, text in enumerate(whole) for _ in anaphors(text.expressions)
    ]
    with pytest.raises(InputError, match="Raise fine_tuning"):
        antecedents.resolve_all(replace(reading, max_length=5), texts[:6])
