"""Words of a task's texts from CoNLL-U files (sections 4.4 and 4.5).

So a language without a spaCy pipeline has word features, and so has text with gold annotation. A
text is one sentence of the files, or several that follow each other; white space does not matter,
nor whether accents are composed. In other languages than English, the files say which words negate
(Polarity) and what a pronoun agrees with (Person, Number), since the paper's lists are English.
"""

from __future__ import annotations

import bisect
import logging
import unicodedata
from collections.abc import Iterable, Mapping, Sequence, Set
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.core.data import conllu_files
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.data.words import letters_of
from darksecrets.core.run.errors import InputError
from darksecrets.paper.features.labels import (
    NOUNS,
    PLURAL_NOUNS,
    PRONOUNS,
    SINGULAR_NOUNS,
    antecedent,
    is_english,
    unknown_dependencies,
    unknown_tags,
)

if TYPE_CHECKING:
    from conllu.models import Token

_PENN = {
    "ADJ": "JJ",
    "ADP": "IN",
    "ADV": "RB",
    "AUX": "VB",
    "CCONJ": "CC",
    "DET": "DT",
    "INTJ": "UH",
    "NOUN": "NN",
    "NUM": "CD",
    "PART": "RP",
    "PRON": "PRP",
    "PROPN": "NNP",
    "PUNCT": ".",
    "SCONJ": "IN",
    "SYM": "SYM",
    "VERB": "VB",
    "X": "FW",
}
"""Penn tags of universal parts of speech, as far as the paper's features tell them apart."""


def penn_tag(word: Token) -> str:
    """The Penn tag of a word, from its universal part of speech and its morphological features.

    Personal and possessive pronouns are *PRP* and *PRP$*, whether they are annotated as pronouns or
    as determiners; other pronouns (demonstrative, relative, interrogative) are *DT*.
    """
    features = word["feats"] or {}
    part = str(word["upos"])
    if part in ("PRON", "DET"):
        if features.get("Poss") == "Yes":
            return "PRP$"
        is_personal = part == "PRON" and features.get("PronType", "Prs") == "Prs"
        return "PRP" if is_personal else "DT"
    tag = _PENN.get(part, "FW")
    is_plural = features.get("Number") == "Plur"
    return f"{tag}S" if part in ("NOUN", "PROPN") and is_plural else tag


_FEATURES = ("Polarity", "Person", "Number")
"""Morphological features of Universal Dependencies that word features follow from."""
_AGREEING = {"Sing": SINGULAR_NOUNS, "Plur": PLURAL_NOUNS}
"""Tags of the nouns that a pronoun agrees with, by its number."""

_log = logging.getLogger(__name__)


def features_of(word: Token) -> str:
    """The features of a word that matter here, as files write them: ``Person=3|Number=Sing``."""
    found = word["feats"] or {}
    return "|".join(f"{name}={found[name]}" for name in _FEATURES if name in found)


def own_tag(word: Token) -> str:
    """The language's own tag of a word."""
    return str(word["xpos"] or "_")


def read(paths: Iterable[Path]) -> Corpus:
    """Read the sentences of some files, with Penn tags.

    The tags are those of the fifth column in files in which all of these are Penn's, and otherwise
    those of `penn_tag`.

    Raises:
        InputError: See `darksecrets.core.data.conllu_files.read`.
    """
    sentences: list[Sentence] = []
    marked: list[tuple[str, ...] | None] = []
    for path in paths:
        found = conllu_files.read(path, own_tag)
        if unknown_tags(_tags(found)):
            if foreign := sorted(_tags(conllu_files.read(path)) - _PENN.keys()):
                raise InputError(
                    f"{path} has the parts of speech {', '.join(foreign[:8])}, which are not "
                    "Universal Dependencies'. Use these in the fourth column, or Penn's tags in "
                    "the fifth."
                )
            found = conllu_files.read(path, penn_tag)
        labels = {label for sentence in found for label in sentence.labels}
        if foreign := unknown_dependencies(labels):
            raise InputError(
                f"{path} has the dependency labels {', '.join(foreign[:8])}. Use those of "
                "Universal Dependencies or ClearNLP."
            )
        sentences += found
        marked += _marked(path, found)
    return Corpus(sentences, marked)


def _marked(path: Path, sentences: Sequence[Sentence]) -> list[tuple[str, ...] | None]:
    """The features of the words of each sentence; None in English, which has the paper's lists."""
    english = is_english(sentence.text for sentence in sentences)
    if english:
        return [None] * len(sentences)
    found = [sentence.tags for sentence in conllu_files.read(path, features_of)]
    every = {feature for words in found for word in words for feature in word.split("|")}
    says_more = any(feature.startswith(("Polarity", "Person")) for feature in every)
    if english is None and not says_more:  # too few words to tell, and nothing but the lists
        return [None] * len(sentences)
    for feature, lost in (("Polarity=Neg", "negations"), ("Person=3", "nouns of pronouns")):
        if feature not in every:
            _log.warning(
                "%s: the texts are not English, and no word has the feature %s: there are no %s. "
                "Add the feature in the sixth column.",
                *(path, feature, lost),
            )
    return list(found)


def _tags(sentences: Iterable[Sentence]) -> set[str]:
    return {tag for sentence in sentences for tag in sentence.tags}


class Corpus:
    """Annotated sentences, in which texts are looked up."""

    def __init__(
        self, sentences: Sequence[Sentence], marked: Sequence[tuple[str, ...] | None]
    ) -> None:
        self._sentences = sentences
        self._marked = marked
        self._letters = [_letters(sentence.text) for sentence in sentences]
        self._places: dict[str, list[int]] = {}
        for place, letters in enumerate(self._letters):
            self._places.setdefault(letters, []).append(place)
        self._lengths = sorted({len(letters) for letters in self._letters})

    def lacks(self, texts: Iterable[str]) -> list[str]:
        """The texts that are not in the corpus."""
        return [text for text in texts if self._found(text) is None]

    def words(self, text: str) -> list[dict[str, Any]]:
        """The words of a text, in the form of `darksecrets.paper.features.annotation`.

        The parts of a contraction that the file writes as one, such as *du*, are one word: that of
        the part on which the others depend.

        Raises:
            InputError: The text is not in the corpus.
        """
        found = self._found(text)
        if found is None:
            raise InputError(refusal([text]))
        places = letters_of(text)
        words: list[dict[str, Any]] = []
        for number in found:
            sentence = self._sentences[number]
            own = _words(sentence, self._marked[number], len(words))
            known = letters_of(sentence.text)
            starts = [start for start, _ in known]
            for word in own:
                first = bisect.bisect_right(starts, word["start"]) - 1
                last = bisect.bisect_left(starts, word["end"]) - 1
                word["start"], word["end"] = places[first][0], places[last][1]
                word["text"] = text[word["start"] : word["end"]]
            places = places[len(known) :]
            words += own
        return words

    def _found(self, text: str) -> range | None:
        """The numbers of the sentences that a text consists of; of several runs, the first."""
        letters = _letters(text)
        for length in self._lengths:
            for first in self._places.get(letters[:length], ()) if length <= len(letters) else ():
                if (after := self._end(letters, first)) is not None:
                    return range(first, after)
        return None

    def _end(self, letters: str, first: int) -> int | None:
        """The sentence after the last one of a text that begins with a sentence, if it fits."""
        rest = letters
        for place in range(first, len(self._letters)):
            if not rest.startswith(self._letters[place]):
                return None
            rest = rest[len(self._letters[place]) :]
            if not rest:
                return place + 1
        return None


def refusal(missing: Sequence[str]) -> str:
    """What is wrong if texts are not in the files, and what to do."""
    return (
        f"annotation.conllu: the files lack {len(missing)} of the texts, such as {missing[0]!r}; "
        "expected every validation text as one sentence, or as several that follow each other. "
        "Add the sentences, or correct the paths."
    )


def _letters(text: str) -> str:
    """A text without white space, composed (NFC)."""
    return unicodedata.normalize("NFC", "".join(text.split()))


def _words(sentence: Sentence, marked: Sequence[str] | None, before: int) -> list[dict[str, Any]]:
    """The words of a sentence that follows some words; characters are those of the sentence."""
    groups: list[list[int]] = []  # parts of a contraction share their characters
    for place, span in enumerate(zip(sentence.starts, sentence.ends, strict=True)):
        last = groups[-1][0] if groups else None
        if last is not None and span == (sentence.starts[last], sentence.ends[last]):
            groups[-1].append(place)
        else:
            groups.append([place])
    group_of = {place: number for number, group in enumerate(groups) for place in group}
    words = []
    for number, group in enumerate(groups):
        main = next(each for each in group if _head_word(sentence, each, group_of) != number)
        above = _head_word(sentence, main, group_of)
        words.append(
            {
                "text": "",
                "start": sentence.starts[main],
                "end": sentence.ends[main],
                "tag": sentence.tags[main],
                "head": before + (number if above is None else above),
                "dep": sentence.labels[main],
            }
        )
    agreeing = None
    if marked is not None:
        features = [set("|".join(marked[part] for part in group).split("|")) for group in groups]
        agreeing = [_agreeing(each) for each in features]
        for word, each in zip(words, features, strict=True):
            word["negation"] = "Polarity=Neg" in each
    _add_antecedents(words, sentence, groups, before, agreeing)
    return words


def _agreeing(features: Set[str]) -> frozenset[str]:
    """Tags of the nouns that a pronoun of these features agrees with; none but in third person."""
    numbers = _AGREEING if "Person=3" in features else {}
    return frozenset().union(
        *(tags for number, tags in numbers.items() if f"Number={number}" in features)
    )


def _head_word(sentence: Sentence, place: int, group_of: Mapping[int, int]) -> int | None:
    """The word that a part depends on; None for a root."""
    head = sentence.heads[place]
    return None if head == ROOT else group_of[head]


def _add_antecedents(
    words: list[dict[str, Any]],
    sentence: Sentence,
    groups: Sequence[Sequence[int]],
    before: int,
    agreeing: Sequence[frozenset[str]] | None,
) -> None:
    """Say which noun each pronoun stands for: as annotated, or as `antecedent` guesses."""
    if sentence.mentions is None:
        forms = [sentence.words[group[0]] for group in groups]
        tagged = [{**word, "text": form} for word, form in zip(words, forms, strict=True)]
        if agreeing is not None:
            tagged = [{**word, "agrees": tags} for word, tags in zip(tagged, agreeing, strict=True)]
        for number, word in enumerate(words):
            found = antecedent(tagged, number, 0)
            word["antecedent"] = None if found is None else before + found
        return
    entity_of = {mention.head: mention.entity for mention in sentence.mentions}
    entities = [
        next((entity_of[place] for place in group if place in entity_of), None) for group in groups
    ]
    for number, word in enumerate(words):
        nouns = [
            earlier
            for earlier in range(number)
            if words[earlier]["tag"] in NOUNS and entities[earlier] == entities[number]
        ]
        is_known = word["tag"] in PRONOUNS and entities[number] is not None and bool(nouns)
        word["antecedent"] = before + nouns[-1] if is_known else None
