"""Sentences whose predicate is linked to its core frame elements, and their selection (§4.2).

The paper selects from FrameNet 1.7 sentences of at most 12 tokens with one target, whose frame
elements have at most 3 tokens, and whose core elements are at least two tokens from the target, so
that a link does not join adjacent words. "At least two tokens" is taken to mean two tokens in
between, as in all 473 sentences that the authors printed.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path

import pandas as pd

from darksecrets.core.run.errors import InputError
from darksecrets.paper.framenet.tables import LINKS

LONGEST_SENTENCE = 12
LONGEST_ELEMENT = 3
LEAST_BETWEEN = 2

Span = tuple[int, int]
"""First character, and the one after the last."""


@dataclass(frozen=True)
class Element:
    """A frame element in a sentence.

    Attributes:
        span: Its characters.
        role: Its name, such as Experiencer; empty if the source does not give it.
        core: Whether it is a core element, without which the frame is incomplete.
    """

    span: Span
    role: str = ""
    core: bool = True


@dataclass(frozen=True)
class Annotation:
    """A sentence with one predicate and its elements.

    Attributes:
        sentence: The text.
        predicate: Characters of the word that evokes the frame.
        elements: Its frame elements.
        frame: Name of the frame; empty if the source does not give it.
    """

    sentence: str
    predicate: Span
    elements: tuple[Element, ...]
    frame: str = ""


def words_of(text: str) -> list[Span]:
    """Characters of each word between spaces. These are FrameNet's tokens: it writes ``ca n't``."""
    spans, position = [], 0
    for word in text.split():
        start = text.index(word, position)
        position = start + len(word)
        spans.append((start, position))
    return spans


def tokens_between(one: Span, other: Span) -> int:
    """Tokens between two runs of tokens, (first, after the last); negative where they overlap."""
    return max(one[0], other[0]) - min(one[1], other[1])


def selected(annotation: Annotation, words: Sequence[Span]) -> Annotation | None:
    """Apply the paper's selection.

    Args:
        annotation: A sentence with all of its annotated elements.
        words: Characters of each token of the sentence.

    Returns:
        The annotation with its core elements. None if the sentence or an element (core or not) is
        too long, a core element is too near, or there is no core element.
    """
    if len(words) > LONGEST_SENTENCE:
        return None
    predicate = _run(annotation.predicate, words)
    runs = [_run(element.span, words) for element in annotation.elements]
    core = tuple(element for element in annotation.elements if element.core)
    near = [
        tokens_between(predicate, run) < LEAST_BETWEEN
        for element, run in zip(annotation.elements, runs, strict=True)
        if element.core
    ]
    too_long = any(end - start > LONGEST_ELEMENT for start, end in runs)
    if too_long or any(near) or not core:
        return None
    return Annotation(annotation.sentence, annotation.predicate, core, annotation.frame)


def _run(span: Span, words: Sequence[Span]) -> Span:
    """Tokens that share a character with a span: the first, and the one after the last."""
    touched = [i for i, (start, end) in enumerate(words) if start < span[1] and end > span[0]]
    return (touched[0], touched[-1] + 1) if touched else (0, 0)


def links_table(annotations: Iterable[Annotation]) -> pd.DataFrame:
    """The table `LINKS`: a row per link; ``idx`` numbers the sentences, spans count characters."""
    rows = [
        (idx, a.sentence, a.frame, *a.predicate, element.role, *element.span)
        for idx, a in enumerate(annotations)
        for element in a.elements
    ]
    return pd.DataFrame(rows, columns=list(LINKS.names))


def read_table(path: Path) -> list[Annotation]:
    """Read what `links_table` made, in the order of ``idx``."""
    table = LINKS.read(path)
    annotations = []
    for _, rows in table.groupby("idx"):
        first = rows.iloc[0]
        spans = zip(rows["element_start"], rows["element_end"], rows["role"], strict=True)
        elements = tuple(Element((int(start), int(end)), role) for start, end, role in spans)
        predicate = (int(first["predicate_start"]), int(first["predicate_end"]))
        annotations.append(Annotation(first["sentence"], predicate, elements, first["frame"]))
    return annotations


def require_some(annotations: Sequence[Annotation], where: str) -> None:
    """Check that a source has at least one sentence after the selection.

    Raises:
        InputError: No sentence is left.
    """
    if not annotations:
        raise InputError(
            f"{where}: no sentence passes the paper's selection, expected sentences of at most "
            f"{LONGEST_SENTENCE} tokens with elements of at most {LONGEST_ELEMENT} tokens, and at "
            f"least {LEAST_BETWEEN} tokens between an element and the predicate. "
            "Use another source of links (framenet.source)."
        )
