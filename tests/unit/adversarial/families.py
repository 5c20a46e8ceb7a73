"""The one registry of ignorant heads, `maps.ADVERSARIES`, as every family of tests reads it."""

from __future__ import annotations

import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from adversarial import frames, maps, pairs
from adversarial.maps import NOUN, OTHER, PRONOUN, PUNCTUATION, SPECIAL, VERB, Head, Text
from adversarial.trials import ROUNDING
from darksecrets.beyond.syntax.measure import antecedents, coreference, distractors, heads, trees
from darksecrets.beyond.syntax.measure.antecedents import Resolved, join, resolve
from darksecrets.beyond.syntax.measure.coreference_statistics import tables
from darksecrets.beyond.syntax.measure.guesses import Guess, Read
from darksecrets.beyond.syntax.measure.words import WordMaps
from darksecrets.paper.features.measuring import measure
from darksecrets.paper.features.tokens import Tokens
from darksecrets.paper.framenet.heads import Link, Sentence

Heads = Mapping[str, Head]
Knowing = Callable[[Sequence[coreference.Expression], np.random.Generator], npt.NDArray[np.float64]]
"""[expression, expression] weights of a head in a text."""
Flags = npt.NDArray[np.bool_]

_COARSE = {
    **dict.fromkeys(("PRP", "PRP$", "PRON", "WP"), PRONOUN),
    **dict.fromkeys(("NN", "NNS", "NNP", "NNPS", "PROPN"), NOUN),
    **dict.fromkeys(("VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "AUX", "MD"), VERB),
}
_TIES = 1e-9
"""Random weight that decides between equal ones."""


def coarse(tag: str) -> str:
    """The tag of `maps.TAGS` for one of the Penn Treebank or Universal Dependencies."""
    if tag and not any(letter.isalnum() for letter in tag.replace("PUNCT", "")):
        return PUNCTUATION
    return tag if tag in maps.TAGS else _COARSE.get(tag, OTHER)


def text_of(
    words: Sequence[str], tags: Sequence[str], counts: Mapping[str, int], second: int | None = None
) -> Text:
    """A text of words, with [CLS] and [SEP] around them, and before the second sentence."""
    own = [coarse(tag) for tag in tags]
    segments = [0] * (len(words) + 2)
    low = [word.lower() for word in words]
    if second is not None:
        low, own = [*low[:second], "", *low[second:]], [*own[:second], SPECIAL, *own[second:]]
        segments = [0] * (second + 2) + [1] * (len(words) - second + 1)
    return Text(["", *low, ""], [SPECIAL, *own, SPECIAL], counts, segments)


def counted(words: Iterable[Sequence[str]]) -> Counter[str]:
    """How often each word occurs, in lower case."""
    return Counter(word.lower() for one in words for word in one)


def of_links(
    every: Sequence[tuple[Text, list[Link]]], of: Heads, rng: np.random.Generator, draws: int
) -> pd.DataFrame:
    """`framenet_heads` of these heads, with their names."""
    made = []
    for text, links in every:
        own = np.array([head(text, rng) for head in of.values()])[None].astype(np.float16)
        made.append(Sentence(own, links, text.usable))
    return _named(frames.measured(made, draws, 0), of)


def of_pairs(
    every: Sequence[tuple[Text, Tokens]], of: Heads, rng: np.random.Generator
) -> dict[str, pd.DataFrame]:
    """`token_pairs` and `equal_words` of these heads."""
    longest = sorted(every, key=lambda one: -len(one[0].usable))
    found = [
        np.array([head(text, rng) for head in of.values()])[None].astype(np.float16)
        for text, _ in longest
    ]
    with tempfile.TemporaryDirectory() as folder:
        store = pairs.save(Path(folder) / "maps", found)
        found = measure(store, [tokens for _, tokens in longest], 0)
    return {name: _named(found[name], of) for name in ("token_pairs", "equal_words")}


def texts_of(read: Sequence[Read]) -> list[Text]:
    """Parsed sentences as texts."""
    counts = counted(each.sentence.words for each in read)
    return [text_of(each.sentence.words, each.sentence.tags, counts) for each in read]


def word_maps(
    read: Sequence[Read], texts: Sequence[Text], of: Heads, rng: np.random.Generator
) -> WordMaps:
    """Maps of the words of parsed sentences, without [CLS] and [SEP]."""
    size = max(len(each.sentence) for each in read)
    found = np.zeros((len(read), 1, len(of), size, size))
    apart = np.zeros((len(read), size, size), dtype=bool)
    for own, flags, each, text in zip(found[:, 0], apart, read, texts, strict=True):
        words = len(each.sentence)
        flags[:words, :words] = each.apart
        for into, head in zip(own, of.values(), strict=True):
            into[:words, :words] = head(text, rng)[1:-1, 1:-1]
            into[:words, :words] += _TIES * rng.random((words, words))
    return WordMaps([*range(len(read))], torch.from_numpy(found), torch.from_numpy(apart))


def of_relations(
    read: Sequence[Read], of: Heads, rng: np.random.Generator, seed: int
) -> pd.DataFrame:
    """`syntactic_heads` of these heads."""
    made = word_maps(read, texts_of(read), of, rng)
    return _named(heads.table(read, _guesses(read, made), seed), of)


def _guesses(read: Sequence[Read], made: WordMaps) -> list[Guess]:
    from darksecrets.beyond.syntax.measure.guesses import sentence_guesses

    return [guess for _, guess in sentence_guesses(made, [each.sentence for each in read])]


def of_trees(read: Sequence[Read], of: Heads, rng: np.random.Generator, seed: int) -> pd.DataFrame:
    """`attention_trees` of these heads."""
    made, sentences = word_maps(read, texts_of(read), of, rng), [each.sentence for each in read]
    return _named(trees.table(read, trees.count_gold_arcs(made, sentences), seed), of)


def of_subjects(
    read: Sequence[Read], texts: Sequence[Text], of: Heads, rng: np.random.Generator
) -> pd.DataFrame:
    """`distractors` of these heads, each a layer of its own, over all numbers of distractors."""
    made, sentences = word_maps(read, texts, of, rng), [each.sentence for each in read]
    layers = WordMaps(made.numbers, made.maps.transpose(1, 2), made.apart)
    shares = distractors.subject_shares(
        layers, sentences, distractors.ComparableChoices.of(sentences)
    )
    found = distractors.table(read, shares)
    own = found[(found["distractors"] == "any") & found["layer"].notna()]
    return _named(own.rename(columns={"layer": "head"}).astype({"head": int}), of)


def exceeds_controls(subjects: pd.DataFrame) -> npt.NDArray[np.bool_]:
    """[rows] whether subjects get more than from equal parts, places and ranks."""
    ends = subjects[["over_uniform_low", "over_places_low", "over_rank_low"]].to_numpy()
    return (ends > ROUNDING).all(axis=1)


def of_texts(
    texts: Sequence[coreference.Text], of: Heads, rng: np.random.Generator, seed: int
) -> pd.DataFrame:
    """`coreference_heads` of these heads, which read expressions and empty words between them."""
    return _named(tables(resolved(texts, of, rng), seed)[0], of)


_EXPRESSIONS = {"pronoun": PRONOUN}


def resolved(
    texts: Sequence[coreference.Text],
    of: Heads,
    rng: np.random.Generator,
    knowing: Sequence[Knowing] = (),
) -> Resolved:
    """What an encoder of one layer with these heads finds.

    Args:
        texts: Texts of expressions.
        of: Heads that know nothing of these.
        rng: Source of randomness.
        knowing: Further heads, which do.
    """
    counts, words_of = antecedents.counted(texts), []
    for text in texts:
        words = [""] * (text.expressions[-1].word + 1)
        tags = [OTHER] * len(words)
        for each in text.expressions:
            words[each.word], tags[each.word] = each.head, _EXPRESSIONS.get(each.kind, NOUN)
        words_of.append(text_of(words, tags, counts))
    parts = []
    for number, (text, whole) in enumerate(zip(texts, words_of, strict=True)):
        places = 1 + np.array([each.word for each in text.expressions])
        made = [head(whole, rng)[np.ix_(places, places)] for head in of.values()]
        made += [head(text.expressions, rng) for head in knowing]
        own = np.stack(made)[None]
        own += _TIES * rng.random(own.shape)
        parts.append(resolve(number, text.expressions, own, counts))
    return join(parts)


def _named(table: pd.DataFrame, of: Heads) -> pd.DataFrame:
    """The table with the name of each head, of which there is one layer."""
    if "kind" in table:
        table = table.rename(columns={"kind": "kind_of"})
    return table.assign(kind=np.array(list(of))[table["head"].to_numpy() - 1])
