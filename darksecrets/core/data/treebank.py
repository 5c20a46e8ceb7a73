"""The treebank of a run: a file with a JSON object per line, a sentence each."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from pathlib import Path
from typing import Any

from darksecrets.core.data.sentences import Mention, Sentence
from darksecrets.core.run.files import atomic

_UNIVERSAL = frozenset(
    {"ADJ", "ADP", "ADV", "AUX", "CCONJ", "DET", "INTJ", "NOUN", "NUM", "PART", "PRON"}
) | {"PROPN", "PUNCT", "SCONJ", "SYM", "VERB", "X"}
"""Parts of speech of CoNLL-U files; other sources have Penn tags."""


def word_class(tag: str) -> str:
    """The class of words of a part of speech: NN, NNS, NNP and NNPS are one; so are names."""
    if tag in _UNIVERSAL:
        return "NOUN" if tag == "PROPN" else tag
    return tag[:2]


def write(sentences: Iterable[Sentence], path: Path) -> None:
    """Write a treebank, atomically."""
    with atomic(path) as temporary, temporary.open("w", encoding="utf-8") as stream:
        for sentence in sentences:
            stream.write(json.dumps(asdict(sentence), ensure_ascii=False) + "\n")


def read(path: Path) -> list[Sentence]:
    """Read a treebank that `write` wrote."""
    with path.open(encoding="utf-8") as stream:
        return [_sentence(json.loads(line)) for line in stream]


def _sentence(fields: Mapping[str, Any]) -> Sentence:
    found = fields["mentions"]
    mentions = None if found is None else tuple(Mention(**_tuples(each)) for each in found)
    return Sentence(**{**_tuples(fields), "mentions": mentions})


def _tuples(fields: Mapping[str, Any]) -> dict[str, Any]:
    """Values of JSON, whose lists are tuples."""
    return {
        name: tuple(value) if isinstance(value, list) else value for name, value in fields.items()
    }
