"""Sentences changed so that no person could answer: shuffled, cut, without subjects or names."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from darksecrets.beyond.inputs.declared import (
    FIRST_ALONE,
    HALVED,
    NO_SUBJECT,
    OTHER_NAMES,
    SHUFFLED,
)
from darksecrets.core.arrays import Flags
from darksecrets.core.data.words import spans_of

Columns = dict[str, list[str]]
Annotations = Sequence[Mapping[str, Any]]
"""For each example, its annotated sentences by column; see the rule `annotate_examples`."""

_SUBJECTS = frozenset({"nsubj", "nsubjpass", "csubj", "csubjpass"})
_NAMES = frozenset({"NNP", "NNPS", "PROPN"})
_TRIES = 10


@dataclass(frozen=True)
class Changed:
    """Examples after a change.

    Attributes:
        columns: Their sentences.
        examples: [all examples] which of these they are: those that the change applies to.
    """

    columns: Columns
    examples: Flags


def change_all(
    columns: Mapping[str, Sequence[str]], annotations: Annotations | None, seed: int
) -> dict[str, Changed]:
    """All changes of examples that leave them words.

    Args:
        columns: Sentences of the examples, by column.
        annotations: Their words with tags and dependencies; None if the run has none. Subjects and
            names are not known then.
        seed: Seed of orders and names; an example is changed alike in every run.
    """
    found: dict[str, Changed] = {}

    def change_texts(change: Callable[[str, np.random.Generator], str]) -> Changed:
        rngs = [np.random.default_rng([seed, row]) for row in range(len(columns["sentence1"]))]
        rows = [
            {name: change(texts[row], rng) for name, texts in columns.items()}
            for row, rng in enumerate(rngs)
        ]
        return _kept(columns, rows)

    found[SHUFFLED] = change_texts(shuffle)
    found[HALVED] = change_texts(lambda text, _: halve(text))
    if len(columns) > 1:
        every = np.ones(len(columns["sentence1"]), dtype=bool)
        found[FIRST_ALONE] = Changed({"sentence1": list(columns["sentence1"])}, every)
    if annotations is not None:
        rows = [{name: remove_subjects(each[name]) for name in columns} for each in annotations]
        found[NO_SUBJECT] = _kept(columns, rows)
        found[OTHER_NAMES] = _kept(columns, exchange_names(annotations, list(columns), seed))
    return found


def _kept(columns: Mapping[str, Sequence[str]], rows: Sequence[Mapping[str, str]]) -> Changed:
    """Examples that are different afterwards, and whose sentences all have words."""
    examples = np.array(
        [
            any(row[name] != texts[number] for name, texts in columns.items())
            and all(any(map(str.isalnum, text)) for text in row.values())
            for number, row in enumerate(rows)
        ],
        dtype=bool,
    )
    chosen = [row for row, kept in zip(rows, examples, strict=True) if kept]
    return Changed({name: [row[name] for row in chosen] for name in columns}, examples)


def shuffle(text: str, rng: np.random.Generator) -> str:
    """The words of a text in another order; in scripts without spaces, its characters."""
    words, between = text.split(), " "
    if len(words) == 1:
        words, between = [text[start:end] for start, end in spans_of(text)], ""
    if len(set(words)) < 2:
        return text
    for _ in range(_TRIES):
        shuffled = [words[place] for place in rng.permutation(len(words))]
        if shuffled != words:
            return between.join(shuffled)
    return text


def halve(text: str) -> str:
    """The first half of the words of a text; of an odd number, with the middle one."""
    spans = spans_of(text)
    return text[: spans[math.ceil(len(spans) / 2) - 1][1]] if spans else text


def remove_subjects(text: Mapping[str, Any]) -> str:
    """A text without its subjects, and all that depends on them.

    Args:
        text: ``text`` and ``tokens``, with ``start``, ``end``, ``head`` and ``dep``.
    """
    tokens = text["tokens"]
    gone = {
        place
        for place, token in enumerate(tokens)
        if token["dep"].lower().replace(":pass", "pass") in _SUBJECTS
    }
    before = -1
    while len(gone) != before:
        before = len(gone)
        gone |= {place for place, token in enumerate(tokens) if token["head"] in gone}
    return replace_tokens(text, dict.fromkeys(gone, ""))


def exchange_names(
    annotations: Annotations, columns: Sequence[str], seed: int
) -> list[dict[str, str]]:
    """Every name of an example becomes another name of the task, the same in both sentences.

    Args:
        annotations: The annotated examples.
        columns: Names of the columns with sentences.
        seed: Seed of the choice.
    """
    names = sorted(
        {
            token["text"]
            for each in annotations
            for column in columns
            for token in each[column]["tokens"]
            if token["tag"] in _NAMES
        }
    )
    rows = []
    for number, each in enumerate(annotations):
        rng, chosen = np.random.default_rng([seed, number]), dict[str, str]()
        row = {}
        for column in columns:
            changes = {}
            for place, token in enumerate(each[column]["tokens"]):
                if token["tag"] in _NAMES:
                    others = [name for name in names if name != token["text"]]
                    if token["text"] not in chosen and others:
                        chosen[token["text"]] = others[rng.integers(len(others))]
                    changes[place] = chosen.get(token["text"], token["text"])
            row[column] = replace_tokens(each[column], changes)
        rows.append(row)
    return rows


def replace_tokens(text: Mapping[str, Any], changes: Mapping[int, str]) -> str:
    """A text with other words in the place of some tokens; without them, where they are empty."""
    written, parts, end = text["text"], [], 0
    for place, token in enumerate(text["tokens"]):
        word = written[token["start"] : token["end"]]
        parts += [written[end : token["start"]], changes.get(place, word)]
        end = token["end"]
    return " ".join("".join([*parts, written[end:]]).split())
