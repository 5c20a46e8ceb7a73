"""What the heads of an encoder attend to in text, and what cannot be measured on it."""

from __future__ import annotations

import importlib.util
import logging
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

import pandas as pd

from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify
from darksecrets.pages.inspect import texts
from darksecrets.pages.inspect.texts import MODEL, Example
from darksecrets.paper.features.measuring import known_without_words, measure
from darksecrets.paper.features.parser import load_pipeline, parse
from darksecrets.paper.features.tokens import Described

if TYPE_CHECKING:
    from spacy.language import Language

SEED = 2019
"""Seed of the controls, as in a run."""

_log = logging.getLogger(__name__)


def load_parser(parse: str, pipeline: str) -> Language | None:
    """Load a pipeline as the configuration says; a warning tells if there is none.

    Args:
        parse: ``on``, ``off``, or ``auto`` for a pipeline only if it can be loaded.
        pipeline: A spaCy pipeline, by name or folder.

    Returns:
        The pipeline, or None.

    Raises:
        InputError: It is ``on`` but cannot be used, see `parser.load_pipeline`.
    """
    if parse == "off":
        return None
    if parse == "auto" and importlib.util.find_spec("spacy") is None:
        _log.warning("Measures that need words are left out: spaCy is not installed.")
        return None
    try:
        return load_pipeline(pipeline)
    except InputError as error:
        if parse == "on":
            raise
        _log.warning("Measures that need words are left out. %s", error)
        return None


def annotate(examples: Sequence[Example], nlp: Language | None) -> dict[int, dict[str, Any]]:
    """Annotation of each example by its number; without a pipeline, it has no words."""
    numbers = range(len(examples))
    if nlp is None:
        return {number: {"idx": number} for number in numbers}
    parsed = parse(numbers, texts.columns(examples), nlp)
    return {example["idx"]: example for example in parsed}


def measure_heads(
    store: AttentionStore,
    annotation: Mapping[int, Mapping[str, Any]],
    examples: Sequence[Example],
    seed: int = SEED,
) -> dict[str, pd.DataFrame]:
    """All measures of heads, `darksecrets.paper.features.measures`, by the name of their tables.

    Without words in the annotation, features of words and pairs of tokens have no rows.
    """
    tokens = Described(store, annotation)
    measures = measure(store, tokens, seed)
    if not tokens.has_words:
        measures = known_without_words(measures)
    name = texts.digest(examples)
    return {table: identify(rows, name, MODEL) for table, rows in measures.items()}


def left_out(examples: Sequence[Example], unparsed: str = "") -> dict[str, str]:
    """What is not measured on a text, and why.

    Args:
        examples: The examples.
        unparsed: Why their words are not annotated; empty if they are.
    """
    found = {"framenet_heads, framenet_controls": "the text has no annotation of frames"}
    if len(examples[0]) == 1:
        found["equal_words"] = "examples have one sentence, and two are compared"
    if unparsed:
        words = f"words have no tags and relations, because {unparsed}"
        found["stripes, cls_attention: all but special tokens"] = words
        found["head_statistics: punctuation"] = words
        found["token_pairs"] = found["equal_words"] = found["equal_word_controls"] = words
    return found
