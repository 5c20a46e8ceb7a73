"""Antecedents that heads choose: the earlier expression to which they attend most.

As in Clark et al. (2019, section 4.3), the head word of an expression stands for it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt

from darksecrets.beyond.syntax.declared import EXPRESSIONS, HEAD_MATCH, NEAREST, RULES
from darksecrets.beyond.syntax.measure import coreference
from darksecrets.beyond.syntax.measure.coreference import (
    Expression,
    Text,
    anaphors,
    nearest_to_distances,
)
from darksecrets.beyond.syntax.measure.words import WordMaps, word_maps
from darksecrets.core.data.encoding import encode
from darksecrets.core.data.sentences import Sentence
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.controls import frequency_classes

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

WITHOUT_MODEL: Mapping[str, Callable[[Sequence[Expression], int], int]] = {
    NEAREST: coreference.nearest,
    HEAD_MATCH: coreference.head_match,
    RULES: coreference.rules,
}
"""Ways to resolve that need no model; fixed distances are another."""
FURTHEST = 60
"""Greatest distance in words that is tried."""
_FORMS, _RULES = 4, 3


@dataclass(frozen=True)
class Resolved:
    """How the anaphors of texts are resolved; parts of 1 are means over what is drawn at random.

    Attributes:
        text: [anaphors] number of the text.
        kind: [anaphors] number of the kind in `EXPRESSIONS`.
        heads: [anaphors, layers, heads] 1 if the head chooses rightly.
        other_query: The same shape: what this head would choose if it attended as it does from
            another expression of the text, that refers to something else.
        same_kind: The same shape: any earlier expression of the kind that the head chooses.
        form: The same shape: whether the head word of the choice is as long as that of the anaphor
            (2 or 0), and as frequent (1 or 0), added.
        of_form: [anaphors, rules, layers, heads] the first, the last and any earlier expression of
            which that is the same.
        methods: [anaphors, methods] 1 if a method of `WITHOUT_MODEL` chooses rightly.
        distances: [anaphors, distances] the same of the expression nearest to a distance in words,
            from 1 to `FURTHEST`.
    """

    text: Integers
    kind: Integers
    heads: Floats
    other_query: Floats
    same_kind: Floats
    form: Integers
    of_form: Floats
    methods: Floats
    distances: Floats


def resolve(
    number: int, expressions: Sequence[Expression], weights: Floats, counts: Mapping[str, int]
) -> Resolved:
    """Resolve the anaphors of one text.

    Args:
        number: Number of the text.
        expressions: Its expressions.
        weights: [layer, head, expression, expression] attention of a head word to another.
        counts: How often each head word occurs, from `counted`.
    """
    places = anaphors(expressions)
    entities = np.array([each.entity for each in expressions])
    lengths = np.array([len(each.head) for each in expressions])
    frequencies = frequency_classes([counts[each.head] for each in expressions])
    kinds = np.array([EXPRESSIONS.index(each.kind) for each in expressions])
    found: dict[str, list[Any]] = {field.name: [] for field in fields(Resolved)}
    for place in places:
        right = (entities[:place] == entities[place]).astype(np.float64)
        choice = _most(weights[:, :, place, :place])
        kind_flags = kinds[:place, None] == np.arange(len(EXPRESSIONS))
        found["text"].append(number)
        found["kind"].append(kinds[place])
        found["heads"].append(right[choice])
        found["other_query"].append(_share_of_others(weights, entities, place, right))
        found["same_kind"].append(
            (right @ kind_flags / kind_flags.sum(axis=0).clip(1))[kinds[choice]]
        )
        alike = 2 * (lengths == lengths[place]) + (frequencies == frequencies[place])
        found["form"].append(alike[choice])
        found["of_form"].append(_score_by_form(alike[:place], right)[:, alike[choice]])
        found["methods"].append([right[way(expressions, place)] for way in WITHOUT_MODEL.values()])
        found["distances"].append(right[nearest_to_distances(expressions, place, FURTHEST)])
    return _arrays(found, weights.shape[:2])


def _arrays(found: Mapping[str, list[Any]], heads: tuple[int, ...]) -> Resolved:
    """Lists with an item per anaphor as arrays, also without any."""
    shapes = {
        "text": (),
        "kind": (),
        "methods": (len(WITHOUT_MODEL),),
        "distances": (FURTHEST,),
        **dict.fromkeys(("heads", "other_query", "same_kind", "form"), heads),
        "of_form": (_RULES, *heads),
    }
    kinds = dict.fromkeys(("text", "kind", "form"), np.int64)
    arrays: dict[str, Any] = {
        name: np.array(found[name], dtype=kinds.get(name, np.float64)).reshape(-1, *shape)
        for name, shape in shapes.items()
    }
    return Resolved(**arrays)


def _most(weights: Floats) -> Integers:
    """[...] the expression with the greatest weight; of several, the last."""
    last: Integers = weights.shape[-1] - 1 - weights[..., ::-1].argmax(axis=-1)
    return last


def counted(texts: Sequence[Text]) -> Mapping[str, int]:
    """How often each head word occurs in all texts."""
    return Counter(each.head for text in texts for each in text.expressions)


def _score_by_form(alike: Integers, right: Floats) -> Floats:
    """[rules, 4] whether the first and the last of each form are right, and the share that are."""
    form_flags = alike == np.arange(_FORMS)[:, None]
    first, last = form_flags.argmax(axis=1), len(alike) - 1 - form_flags[:, ::-1].argmax(axis=1)
    shares = form_flags @ right / form_flags.sum(axis=1).clip(1)
    found: Floats = np.stack([right[first], right[last], shares])
    return found


def _share_of_others(weights: Floats, entities: Integers, place: int, right: Floats) -> Floats:
    """[layer, head] the share of other queries from which a right expression is chosen."""
    others = np.flatnonzero(entities != entities[place])
    rows = weights[:, :, others, :place].copy()
    own = others < place
    rows[:, :, own, others[own]] = -1  # not the query itself
    chosen: Floats = right[_most(rows)].mean(axis=-1)
    return chosen


def resolve_all(reading: Reading, texts: Sequence[Text]) -> Resolved:
    """Resolve the anaphors of all texts by the heads of an encoder.

    Args:
        reading: The encoder.
        texts: What it reads, each as one input; longer ones are cut, as in the paper.

    Raises:
        InputError: Inputs are too short for any anaphor; or see
            `beyond.syntax.measure.words.word_maps`.
    """
    read = [text for text in cut(reading, texts) if anaphors(text.expressions)]
    if not read:
        raise InputError(
            f"There are no pronouns or nouns that refer to something mentioned before in the first "
            f"{reading.max_length} tokens of {len(texts)} texts. Raise fine_tuning.max_length."
        )
    counts = counted(read)
    words = [_head_words(text, number) for number, text in enumerate(read)]
    parts = [
        resolve(number, read[number].expressions, weights, counts)
        for batch in word_maps(reading, words)
        for number, weights in _batch_weights(batch, read)
    ]
    return join(sorted(parts, key=lambda part: part.text[:1].tolist()))


def join(parts: Sequence[Resolved]) -> Resolved:
    """The anaphors of several texts together."""
    names = [field.name for field in fields(Resolved)]
    return Resolved(
        **{name: np.concatenate([getattr(part, name) for part in parts]) for name in names}
    )


def cut(reading: Reading, texts: Sequence[Text]) -> list[Text]:
    """The beginnings of texts that an encoder can read, with the expressions in them."""
    written = {"sentence1": [text.text for text in texts]}
    encoded = encode(written, reading.tokenizer(), reading.max_length, layout=True)
    places = encoded["offset_mapping"]
    ends = [max(end for _, end in text_places) for text_places in places]
    return [
        Text(text.text[:end], tuple(each for each in text.expressions if each.end <= end))
        for text, end in zip(texts, ends, strict=True)
    ]


def _head_words(text: Text, number: int) -> Sentence:
    """The head words of a text's expressions, as words of a sentence without a tree."""
    found = text.expressions
    words, starts, ends = zip(*((each.head, each.start, each.end) for each in found), strict=True)
    return Sentence(str(number), number, text.text, words, starts, ends, (), (), ())


def _batch_weights(batch: WordMaps, texts: Sequence[Text]) -> Iterator[tuple[int, Floats]]:
    """[layer, head, expression, expression] weights of every text of a batch, with its number."""
    maps = batch.maps.double().cpu().numpy()
    for number, weights in zip(batch.numbers, maps, strict=True):
        own = len(texts[number].expressions)
        yield number, weights[..., :own, :own]
