"""Whether verbs attend to their subjects, or to any noun before them (Lin et al. 2019).

For every verb that follows its subject, the weights from the verb to the nouns and pronouns before
it are divided by their sum. What the subject gets is compared with equal parts, and with what the
nearest noun gets: a head that attends by distance gives that one the most.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.stats.ratios import ratio
from darksecrets.stats.resampling import group_sums
from darksecrets.syntax.guesses import Read
from darksecrets.syntax.pairs import Flags, Floats
from darksecrets.syntax.tables import ANY, DISTRACTORS, MANY
from darksecrets.syntax.treebank import ROOT, Sentence
from darksecrets.syntax.words import WordMaps

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "nsubj:pass", "nsubj:outer"})
_NOUNS = frozenset({"NN", "NNS", "NNP", "NNPS", "PRP", "NOUN", "PROPN", "PRON"})
_VERBS = frozenset({"VB", "VBD", "VBG", "VBN", "VBP", "VBZ", "VERB", "AUX"})
_PARTS_OF_NAMES = frozenset({"compound", "flat", "flat:name"})
_LEAST = 1e-12
"""Weights whose sum is less are rounding; they count as equal parts."""


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
        if label not in _SUBJECTS or verb == ROOT or sentence.tags[verb] not in _VERBS:
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


def of_subjects(batch: WordMaps, sentences: Sequence[Sentence]) -> list[Floats]:
    """Shares of the weight from verbs to the nouns before them.

    Args:
        batch: Word maps.
        sentences: The treebank.

    Returns:
        For each sentence of the batch, [choices, layer, 2] what the subject gets and what the
        nearest noun gets, means over the heads of a layer.
    """
    maps, apart = batch.maps.double().cpu().numpy(), batch.apart.cpu().numpy()
    found = []
    for number, own, flags in zip(batch.numbers, maps, apart, strict=True):
        rows = [_shares(own, choice) for choice in choices(sentences[number], flags)]
        found.append(np.array(rows).reshape(len(rows), own.shape[0], 2))
    return found


def _shares(maps: Floats, choice: Choice) -> Floats:
    """[layer, 2] for one verb, from [layer, head, word, word]."""
    weights = maps[:, :, choice.verb, choice.nouns]
    total = weights.sum(axis=-1, keepdims=True)
    equal = 1 / len(choice.nouns)
    parts = np.where(total > _LEAST, weights / np.maximum(total, _LEAST), equal).mean(axis=1)
    both: Floats = np.stack([parts[:, choice.nouns.index(choice.subject)], parts[:, -1]], axis=-1)
    return both


def table(read: Sequence[Read], subjects: Sequence[Floats]) -> pd.DataFrame:
    """The table `distractors` of a model, without the columns that name it or random weights.

    Args:
        read: The sentences that it read.
        subjects: For each, from `of_subjects`.

    Returns:
        Rows for any number of distractors, and for each; for all layers together, and each.
        Without verbs that have distractors, there are none.
    """
    own = [choices(each.sentence, each.apart) for each in read]
    counts = np.array([len(choice.nouns) - 1 for each in own for choice in each], dtype=np.int64)
    unit = np.repeat(np.arange(len(own)), [len(each) for each in own])
    values = np.concatenate(subjects) if len(counts) else np.zeros((0, 1, 2))
    values = np.concatenate([values.mean(axis=1, keepdims=True), values], axis=1)
    parts = [
        _rows(values[chosen], counts[chosen], unit[chosen], name)
        for name, chosen in _by_number(counts).items()
        if chosen.any()
    ]
    columns = [name for name in DISTRACTORS.names if name not in ("state", "seed", "random")]
    return pd.concat(parts, ignore_index=True) if parts else pd.DataFrame(columns=columns)


def _by_number(counts: npt.NDArray[np.int64]) -> dict[str, Flags]:
    return {ANY: counts > 0, "1": counts == 1, "2": counts == 2, MANY: counts > 2}


def _rows(
    values: Floats, counts: npt.NDArray[np.int64], unit: npt.NDArray[np.int64], name: str
) -> pd.DataFrame:
    """Rows of verbs with so many distractors, a row per layer.

    Args:
        values: [verbs, layers + 1, 2] shares, at first of all layers.
        counts: [verbs] numbers of distractors.
        unit: [verbs] number of the sentence.
        name: What the table calls their number.
    """
    _, place = np.unique(unit, return_inverse=True)
    sizes = np.bincount(place).astype(np.float64)[:, None]
    uniform = 1 / (counts + 1.0)
    shares = values[..., 0]
    subject, over = (
        ratio(group_sums(each, place), sizes) for each in (shares, shares - uniform[:, None])
    )
    layers = values.shape[1]
    return pd.DataFrame(
        {
            "distractors": name,
            "layer": pd.array([None, *range(1, layers)], dtype="Int64"),
            **{"verbs": len(counts), "sentences": len(sizes)},
            **subject.columns("share", 0, 1),
            "uniform": uniform.mean(),
            **over.columns("over_uniform", -1, 1),
            "nearest": values[..., 1].mean(axis=0),
        }
    )
