"""Where frame-semantic links come from: FrameNet itself, or a file of them.

Both pass through the same selection, see `darksecrets.paper.framenet.links`.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.core.data import files
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import spoken_file
from darksecrets.paper.framenet.folder import INDEXES, allow, locate
from darksecrets.paper.framenet.links import (
    LEAST_BETWEEN,
    Annotation,
    Element,
    Span,
    require_some,
    selected,
    tokens_between,
    words_of,
)

if TYPE_CHECKING:
    from nltk.corpus.reader.framenet import FramenetCorpusReader

_log = logging.getLogger(__name__)

HEADER = ("sentence", "target", "core_elements")
MOST_WORDS = 5000
"""Words of a sentence; the time to search it grows with their square."""
ROLES = "roles"
"""A fourth column that a file of links may have."""

_GLUED = re.compile(r"[,;:!?.]$|n't$|'(?:s|re|ve|ll|d|m)$", re.IGNORECASE)
"""Ends of words between spaces that are words of their own."""


def check(source: Mapping[str, Any]) -> None:
    """Check the configured source before any job, as far as it is on this machine.

    Args:
        source: Section ``framenet`` of a configuration.

    Raises:
        InputError: A file is missing, a line of the links is malformed, a span is not in its
            sentence, or no sentence passes the selection.
    """
    if source["source"] == "tsv":
        read_tsv(Path(source["path"]))
    elif source["source"] == "nltk" and source["path"]:
        locate(Path(source["path"]))


def describe(source: Mapping[str, Any]) -> str:
    """The source in a few words, for figures."""
    if source["source"] == "tsv":
        return spoken_file(Path(source["path"]))
    return "FrameNet 1.7"


def collect(source: Mapping[str, Any], downloaded: Path | None = None) -> list[Annotation]:
    """Sentences of the configured source that pass the paper's selection, in the source's order.

    Args:
        source: Section ``framenet`` of a configuration.
        downloaded: Folder that `paper.framenet.folder.download` filled, for source ``nltk``
            without a folder.

    Raises:
        InputError: See `check`.
    """
    if source["source"] == "tsv":
        return read_tsv(Path(source["path"]))
    return read_nltk(locate(downloaded or Path(source["path"])))


# --- FrameNet ---------------------------------------------------------------------------------


def read_nltk(folder: Path) -> list[Annotation]:
    """Read FrameNet's annotated examples with NLTK's reader and apply the paper's selection.

    The examples are those of the lexical units; the full texts are not used. A sentence is read if
    its annotation has one contiguous target; elements are those of the first layer.

    Args:
        folder: From `locate`.

    Raises:
        InputError: A file cannot be read, or no sentence passes the selection.
    """
    from nltk.corpus.reader.framenet import FramenetCorpusReader, FramenetError

    allow(folder)
    reader = FramenetCorpusReader(str(folder.resolve()), list(INDEXES))
    try:
        annotations = [*_examples(reader)]
    except (AssertionError, FramenetError, OSError, SyntaxError) as error:
        raise InputError(
            f"{folder}: NLTK cannot read it as FrameNet 1.7 ({type(error).__name__}: {error}). "
            "Unpack it again."
        ) from error
    kept = [*filter(None, (selected(a, words_of(a.sentence)) for a in annotations))]
    _log.info("%s: %d of %d annotated examples selected", folder, len(kept), len(annotations))
    require_some(kept, str(folder))
    return kept


def _examples(reader: FramenetCorpusReader) -> Iterator[Annotation]:
    """Every annotated example with one target, with all of its elements."""
    for frame in reader.frames():
        kinds = {name: element.coreType for name, element in frame.FE.items()}
        for unit in frame.lexUnit.values():
            for example in unit.exemplars:
                targets = example.get("Target", ())
                if len(targets) == 1:
                    elements = tuple(
                        Element((start, end), role, kinds.get(role) == "Core")
                        for start, end, role in example["FE"][0]
                    )
                    yield Annotation(example.text, tuple(targets[0]), elements, frame.name)


# --- A file of links --------------------------------------------------------------------------


def read_tsv(path: Path) -> list[Annotation]:
    """Read sentences, targets and core elements (separated by ``|``), and find them in the text.

    Only whole words match: those between spaces, without punctuation and English contractions at
    their ends, which are words of their own. If a target or an element occurs more than once, the
    occurrences nearest to each other that keep the selection's distance are chosen.

    Args:
        path: Tab-separated, with the header ``sentence``, ``target``, ``core_elements``, and maybe
            ``roles``, the names of the elements, separated in the same way.

    Raises:
        InputError: The file is missing or malformed, a target or an element is not in its sentence
            or has two equally near occurrences, or no sentence passes the selection.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file. Set framenet.path to a file of links.")
    lines = files.text_of(path).split("\n")
    lines = [line.removesuffix("\r") for line in lines]
    header = tuple(lines[0].split("\t"))
    if header not in (HEADER, (*HEADER, ROLES)):
        raise InputError(
            f"{path}: the first line is {lines[0]!r}, expected the tab-separated header "
            f"{', '.join(HEADER)}, with or without {ROLES} after it."
        )
    kept = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        where = f"{path}, line {number}"
        if len(fields) != len(header) or not all(fields):
            raise InputError(f"{where}: {line!r} is not {', '.join(header)} with a tab between.")
        sentence, target, written = fields[: len(HEADER)]
        elements = written.split("|")
        roles = fields[-1].split("|") if ROLES in header else [""] * len(elements)
        if len(roles) != len(elements):
            raise InputError(
                f"{where}: {len(elements)} core elements but {len(roles)} roles. Give "
                "a role for each element."
            )
        if repeated := sorted({each for each in elements if elements.count(each) > 1}):
            raise InputError(
                f"{where}: the element {repeated[0]!r} stands there more than once. "
                "Remove one of them, or lengthen both until they differ."
            )
        words = _words(sentence)
        if len(words) > MOST_WORDS:
            raise InputError(
                f"{where}: {len(words)} words, more than {MOST_WORDS}, are not one sentence. "
                "Split the text, or leave the line out."
            )
        annotation = _find(sentence, words, target, dict(zip(elements, roles, strict=True)), where)
        if annotation and selected(annotation, words):
            kept.append(annotation)
    _log.info("%s: %d of %d sentences selected", path, len(kept), len(lines) - 1)
    require_some(kept, str(path))
    return kept


def _words(sentence: str) -> list[Span]:
    """Characters of the words of a sentence."""
    spans: list[Span] = []
    for start, end in words_of(sentence):
        ends: list[Span] = []
        while glued := _GLUED.search(sentence, start + 1, end):
            ends.append((glued.start(), end))
            end = glued.start()
        spans += [(start, end), *reversed(ends)]
    return spans


def _find(
    sentence: str, words: Sequence[Span], target: str, roles: Mapping[str, str], where: str
) -> Annotation | None:
    """Find a target and its elements in a sentence; None if they are too near each other."""
    runs = [_occurrences(element, sentence, words, where) for element in roles]
    # Given an occurrence of the target, the choices of the elements are independent.
    found: dict[Span, list[list[Span]]] = {}
    for place in _occurrences(target, sentence, words, where):
        choices = [_nearest(place, element_runs) for element_runs in runs]
        if all(choices):
            found[place] = choices
    if not found:
        return None
    totals = {
        place: sum(tokens_between(place, some[0]) for some in found[place]) for place in found
    }
    nearest = [place for place, total in totals.items() if total == min(totals.values())]
    if len(nearest) > 1 or any(len(some) > 1 for some in found[nearest[0]]):
        raise InputError(
            f"{where}: {target!r} and {', '.join(map(repr, roles))} are more than once, and "
            f"equally near each other, in {sentence!r}: it is not clear which are meant. Lengthen "
            "an element until it is unique, or leave the line out."
        )
    chosen = [nearest[0], *(some[0] for some in found[nearest[0]])]
    spans = [(words[first][0], words[last - 1][1]) for first, last in chosen]
    elements = zip(spans[1:], roles.values(), strict=True)
    return Annotation(sentence, spans[0], tuple(Element(span, role) for span, role in elements))


def _nearest(target: Span, elements: Sequence[Span]) -> list[Span]:
    """The occurrences of an element that are nearest to a target at the selection's distance."""
    gaps = {run: gap for run in elements if (gap := tokens_between(target, run)) >= LEAST_BETWEEN}
    least = min(gaps.values(), default=0)
    return [run for run, gap in gaps.items() if gap == least]


def _occurrences(phrase: str, sentence: str, words: Sequence[Span], where: str) -> list[Span]:
    """Occurrences of a phrase in a sentence, as whole words."""
    texts = [sentence[start:end] for start, end in words]
    wanted = [phrase[start:end] for start, end in _words(phrase)]
    size = len(wanted)
    runs = [(i, i + size) for i in range(len(texts) - size + 1) if texts[i : i + size] == wanted]
    if not (wanted and runs):
        raise InputError(
            f"{where}: {phrase!r} is not among the words of {sentence!r}. Write it as whole words "
            "between spaces, in the same case."
        )
    return runs
