"""Whether verbs attend to their subjects, or to any noun before them (Lin et al. 2019).

For every verb that follows its subject, the weights from the verb to the nouns and pronouns before
it are divided by their sum. What the subject gets is compared with equal parts, and with what two
kinds of ignorant heads would give it:

- *places*: in the same sentence, the places of the verb, subject and nouns of other sentences with
  as many words and nouns. A head that attends by place or distance gives these as much.
- *rank*: of the same nouns, the one that is the subject in other sentences with the same parts of
  speech before the verb. A head that attends to the nearest noun, or to pronouns, gives these as
  much.

Added up over sentences, what such heads give their subjects and the others is exactly the same.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Hashable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.beyond.syntax.declared import ANY, DISTRACTORS, MANY
from darksecrets.beyond.syntax.measure.guesses import Read
from darksecrets.beyond.syntax.measure.pairs import Flags, Floats
from darksecrets.beyond.syntax.measure.words import WordMaps
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.data.treebank import word_class
from darksecrets.core.stats.ratios import Ratio, ratio
from darksecrets.core.stats.resampling import group_sums
from darksecrets.paper.features.labels import universal

_SUBJECTS = frozenset({"nsubj", "nsubjpass"})
"""Of Universal Dependencies, with every subtype, and of ClearNLP."""
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP", "NOUN", "PROPN", "PRON"})
_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "VERB", "AUX"})
_PARTS_OF_NAMES = frozenset({"compound", "flat", "flat:name"})
_LEAST = 1e-12
"""Weights whose sum is less are rounding; they count as equal parts."""
_NEAREST, *_CONTROLS = _BESIDE = ("nearest", "places", "rank")
"""What is compared with the subject's share."""


@dataclass(frozen=True)
class Choice:
    """A verb, its subject, and the other nouns before it.

    Attributes:
        verb: The verb.
        subject: Its subject.
        nouns: All nouns before it, the subject among them, from left to right.
    """

    verb: int
    subject: int
    nouns: tuple[int, ...]

    @property
    def rank(self) -> int:
        """Place of the subject among the nouns."""
        return self.nouns.index(self.subject)


def choices(sentence: Sentence, apart: Flags) -> list[Choice]:
    """The verbs of a sentence that have a subject and other nouns before them.

    Names of several words count once.

    Args:
        sentence: The sentence.
        apart: [words, words] see `words.WordMaps`; words that share a piece with the verb are left
            out.
    """
    found = []
    for subject, (verb, label) in enumerate(zip(sentence.heads, sentence.labels, strict=True)):
        if universal(label) not in _SUBJECTS or verb == ROOT or sentence.tags[verb] not in _VERBS:
            continue
        nouns = tuple(
            word
            for word in range(verb)
            if apart[verb, word]
            and (word == subject or sentence.tags[word] in _NOUNS)
            and (word == subject or sentence.labels[word] not in _PARTS_OF_NAMES)
        )
        if subject in nouns and len(nouns) > 1:
            found.append(Choice(verb, subject, nouns))
    return found


@dataclass(frozen=True)
class ComparableChoices:
    """The choices of a treebank that controls compare, each with the number of its sentence.

    Attributes:
        places: By the number of words and of nouns.
        classes: By the parts of speech of the nouns.
    """

    places: Mapping[Hashable, list[tuple[int, Choice]]] = field(
        default_factory=lambda: defaultdict(list)
    )
    classes: Mapping[Hashable, list[tuple[int, Choice]]] = field(
        default_factory=lambda: defaultdict(list)
    )

    @classmethod
    def of(cls, sentences: Sequence[Sentence]) -> ComparableChoices:
        """All choices of a treebank whose words share no piece."""
        found = cls()
        for number, sentence in enumerate(sentences):
            for choice in choices(sentence, ~np.eye(len(sentence), dtype=np.bool_)):
                places, classes = _kinds(sentence, choice)
                found.places[places].append((number, choice))
                found.classes[classes].append((number, choice))
        return found

    def others(self, number: int, sentence: Sentence, choice: Choice) -> Iterator[list[Choice]]:
        """Choices of other sentences to compare one with, for each control."""
        for of, kind in zip((self.places, self.classes), _kinds(sentence, choice), strict=True):
            yield [other for at, other in of.get(kind, ()) if at != number]


def _kinds(sentence: Sentence, choice: Choice) -> tuple[Hashable, Hashable]:
    """What choices that are compared have in common."""
    classes = tuple(word_class(sentence.tags[noun]) for noun in choice.nouns)
    return (len(sentence), len(choice.nouns)), classes


def subject_shares(
    batch: WordMaps, sentences: Sequence[Sentence], alike: ComparableChoices
) -> list[Floats]:
    """Shares of the weight from verbs to the nouns before them.

    Args:
        batch: Word maps.
        sentences: The treebank.
        alike: Its choices.

    Returns:
        For each sentence of the batch, [choices, layer, 4] what the subject gets, the nearest noun,
        and the controls `places` and `rank`, means over the heads of a layer; NaN without others to
        compare with.
    """
    maps, apart = batch.maps.double().cpu().numpy(), batch.apart.cpu().numpy()
    found = []
    for number, own, flags in zip(batch.numbers, maps, apart, strict=True):
        sentence, rows = sentences[number], []
        for choice in choices(sentence, flags):
            parts = _parts(own, [choice])[..., 0, :]
            places, ranks = alike.others(number, sentence, choice)
            rows.append(
                [
                    parts[:, choice.rank],
                    parts[:, -1],
                    _share_at_places(own, places),
                    _share_at_ranks(parts, ranks),
                ]
            )
        shares = np.array(rows).reshape(len(rows), 1 + len(_BESIDE), own.shape[0])
        found.append(shares.transpose(0, 2, 1))
    return found


def _parts(maps: Floats, places: Sequence[Choice]) -> Floats:
    """[layer, choices, nouns] what nouns get, from [layer, head, word, word].

    Args:
        maps: Of one sentence.
        places: With equally many nouns.
    """
    verbs, nouns = (
        np.array([getattr(each, name) for each in places]) for name in ("verb", "nouns")
    )
    weights = maps[:, :, verbs[:, None], nouns]
    total = weights.sum(axis=-1, keepdims=True)
    equal = 1 / nouns.shape[1]
    parts: Floats = np.where(total > _LEAST, weights / np.maximum(total, _LEAST), equal).mean(
        axis=1
    )
    return parts


def _share_at_places(maps: Floats, others: Sequence[Choice]) -> Floats:
    """[layer] what is at the place of the subject, mean over the places of other sentences."""
    if not others:
        return np.full(len(maps), np.nan)
    ranks = [other.rank for other in others]
    found: Floats = _parts(maps, others)[:, np.arange(len(others)), ranks].mean(axis=-1)
    return found


def _share_at_ranks(parts: Floats, others: Sequence[Choice]) -> Floats:
    """[layer] what the nouns get that are subjects in other sentences, from [layer, nouns]."""
    if not others:
        return np.full(len(parts), np.nan)
    found: Floats = parts[:, [other.rank for other in others]].mean(axis=-1)
    return found


def table(read: Sequence[Read], subjects: Sequence[Floats]) -> pd.DataFrame:
    """The table `distractors` of a model, without the columns that name it or random weights.

    Args:
        read: The sentences that it read.
        subjects: For each, from `subject_shares`.

    Returns:
        Rows for any number of distractors, and for each; for all layers together, and each.
        Without verbs that have distractors, there are none.
    """
    own = [choices(each.sentence, each.apart) for each in read]
    counts = np.array([len(choice.nouns) - 1 for each in own for choice in each], dtype=np.int64)
    unit = np.repeat(np.arange(len(own)), [len(each) for each in own])
    values = np.concatenate(subjects) if len(counts) else np.zeros((0, 1, 1 + len(_BESIDE)))
    values = np.concatenate([values.mean(axis=1, keepdims=True), values], axis=1)
    parts = [
        _rows(values[chosen], counts[chosen], unit[chosen], name)
        for name, chosen in _group_by_number(counts).items()
        if chosen.any()
    ]
    columns = [name for name in DISTRACTORS.names if name not in ("state", "seed", "random")]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _group_by_number(counts: npt.NDArray[np.int64]) -> dict[str, Flags]:
    return {ANY: counts > 0, "1": counts == 1, "2": counts == 2, MANY: counts > 2}


def _rows(
    values: Floats, counts: npt.NDArray[np.int64], unit: npt.NDArray[np.int64], name: str
) -> pd.DataFrame:
    """Rows of verbs with so many distractors, a row per layer.

    Args:
        values: [verbs, layers + 1, 4] shares of `subject_shares`, at first of all layers.
        counts: [verbs] numbers of distractors.
        unit: [verbs] number of the sentence.
        name: What the table calls their number.
    """
    uniform = 1 / (counts + 1.0)
    shares, beside = values[..., 0], dict(zip(_BESIDE, np.moveaxis(values, 2, 0)[1:], strict=True))
    over = {"uniform": shares - uniform[:, None]}
    over |= {name: shares - beside[name] for name in _CONTROLS}
    layers = values.shape[1]
    return pd.DataFrame(
        {
            "distractors": name,
            "layer": pd.array([None, *range(1, layers)], dtype="Int64"),
            "verbs": len(counts),
            "sentences": len(np.unique(unit)),
            **_mean(shares, unit).columns("share", 0, 1),
            "uniform": uniform.mean(),
            **{
                column: values
                for control, each in over.items()
                for column, values in _mean(each, unit).columns(f"over_{control}", -1, 1).items()
            },
            "nearest": beside[_NEAREST].mean(axis=0),
        }
    )


def _mean(values: Floats, unit: npt.NDArray[np.int64]) -> Ratio:
    """[layers] means over verbs, with intervals over sentences; NaN without known ones."""
    known = ~np.isnan(values[:, 0])
    if not known.any():
        return Ratio(*np.full((3, values.shape[1]), np.nan))
    _, place = np.unique(unit[known], return_inverse=True)
    sizes = np.bincount(place).astype(np.float64)[:, None]
    return ratio(group_sums(values[known], place), sizes)
