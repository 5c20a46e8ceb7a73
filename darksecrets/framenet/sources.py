"""Where frame-semantic links come from: FrameNet itself, a file of them, or the built-in corpus.

All sources pass through the same selection, see `darksecrets.framenet.links`.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.data import files
from darksecrets.framenet.folder import INDEXES, allow, locate
from darksecrets.framenet.links import (
    LEAST_BETWEEN,
    Annotation,
    Element,
    Span,
    between,
    require_some,
    selected,
    words_of,
)
from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from nltk.corpus.reader.framenet import FramenetCorpusReader

    from darksecrets.data.builtin.grammar import Sentence

_log = logging.getLogger(__name__)

HEADER = ("sentence", "target", "core_elements")
BUILTIN_EXAMPLES = 2000
"""Examples of each task that the built-in corpus generates."""


def check(source: Mapping[str, Any]) -> None:
    """Check the configured source before any job, as far as it is on this machine.

    Args:
        source: Section ``framenet`` of a configuration.

    Raises:
        InputError: A file is missing, a line of the links is malformed, a span is not in its
            sentence, or no sentence passes the selection.
    """
    if source["source"] == "tsv":
        from_tsv(Path(source["path"]))
    elif source["source"] == "nltk" and source["path"]:
        locate(Path(source["path"]))


def describe(source: Mapping[str, Any]) -> str:
    """The source in a few words, for figures."""
    if source["source"] == "tsv":
        return Path(source["path"]).name
    return {"nltk": "FrameNet 1.7", "builtin": "built-in corpus"}[source["source"]]


def collect(source: Mapping[str, Any], downloaded: Path | None = None) -> list[Annotation]:
    """Sentences of the configured source that pass the paper's selection, in the source's order.

    Args:
        source: Section ``framenet`` of a configuration.
        downloaded: Folder that `darksecrets.framenet.folder.download` filled, for source ``nltk``
            without a folder.

    Raises:
        InputError: See `check`.
    """
    if source["source"] == "tsv":
        return from_tsv(Path(source["path"]))
    if source["source"] == "builtin":
        return from_builtin(source["seed"])
    return from_nltk(locate(downloaded or Path(source["path"])))


# --- FrameNet ---------------------------------------------------------------------------------


def from_nltk(folder: Path) -> list[Annotation]:
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


def from_tsv(path: Path) -> list[Annotation]:
    """Read sentences, targets and core elements (separated by ``|``), and find them in the text.

    Only whole words match. If a target or an element occurs more than once, the occurrences nearest
    to each other that keep the selection's distance are chosen.

    Args:
        path: Tab-separated, with the header ``sentence``, ``target``, ``core_elements``.

    Raises:
        InputError: The file is missing or malformed, a target or an element is not in its sentence
            or has two equally near occurrences, or no sentence passes the selection.
    """
    if not path.is_file():
        raise InputError(f"{path}: no such file. Set framenet.path to a file of links.")
    lines = files.text_of(path).split("\n")
    lines = [line.removesuffix("\r") for line in lines]
    if tuple(lines[0].split("\t")) != HEADER:
        raise InputError(
            f"{path}: the first line is {lines[0]!r}, expected the tab-separated header "
            f"{', '.join(HEADER)}."
        )
    kept = []
    for number, line in enumerate(lines[1:], start=2):
        fields = line.split("\t")
        where = f"{path}, line {number}"
        if len(fields) != len(HEADER) or not all(fields):
            raise InputError(
                f"{where}: found {line!r}, expected {', '.join(HEADER)} with a tab between."
            )
        sentence, target, elements = fields
        annotation = _find(sentence, target, elements.split("|"), where)
        if annotation and selected(annotation, words_of(sentence)):
            kept.append(annotation)
    _log.info("%s: %d of %d sentences selected", path, len(kept), len(lines) - 1)
    require_some(kept, str(path))
    return kept


def _find(sentence: str, target: str, elements: Sequence[str], where: str) -> Annotation | None:
    """Find a target and its elements in a sentence; None if they are too near each other."""
    words = words_of(sentence)
    if repeated := sorted({element for element in elements if elements.count(element) > 1}):
        raise InputError(
            f"{where}: found the element {repeated[0]!r} more than once, expected each once. "
            "Remove one of them, or lengthen both until they differ."
        )
    runs = [_occurrences(element, sentence, words, where) for element in elements]
    # Given an occurrence of the target, the choices of the elements are independent.
    found: dict[Span, list[list[Span]]] = {}
    for place in _occurrences(target, sentence, words, where):
        choices = [_nearest(place, element_runs) for element_runs in runs]
        if all(choices):
            found[place] = choices
    if not found:
        return None
    totals = {place: sum(between(place, some[0]) for some in found[place]) for place in found}
    nearest = [place for place, total in totals.items() if total == min(totals.values())]
    if len(nearest) > 1 or any(len(some) > 1 for some in found[nearest[0]]):
        raise InputError(
            f"{where}: found {target!r} and {', '.join(map(repr, elements))} more than once and "
            f"equally near each other in {sentence!r}, expected a unique choice. Lengthen "
            "an element until it is unique, or leave the line out."
        )
    chosen = [nearest[0], *(some[0] for some in found[nearest[0]])]
    spans = [(words[first][0], words[last - 1][1]) for first, last in chosen]
    return Annotation(sentence, spans[0], tuple(Element(span) for span in spans[1:]))


def _nearest(target: Span, elements: Sequence[Span]) -> list[Span]:
    """The occurrences of an element that are nearest to a target at the selection's distance."""
    gaps = {run: gap for run in elements if (gap := between(target, run)) >= LEAST_BETWEEN}
    return [run for run, gap in gaps.items() if gap == min(gaps.values())]


def _occurrences(phrase: str, sentence: str, words: Sequence[Span], where: str) -> list[Span]:
    """Occurrences of a phrase in a sentence, as whole words."""
    texts = [sentence[start:end] for start, end in words]
    wanted = phrase.split()
    size = len(wanted)
    runs = [(i, i + size) for i in range(len(texts) - size + 1) if texts[i : i + size] == wanted]
    if not (wanted and runs):
        raise InputError(
            f"{where}: {phrase!r} was not found among the words of {sentence!r}; expected it as "
            "whole words between spaces, in the same case. Correct the line."
        )
    return runs


# --- The built-in corpus ----------------------------------------------------------------------


def from_builtin(seed: int) -> list[Annotation]:
    """Generate sentences of the built-in corpus and select from them by their gold annotation.

    Every task's generator makes ``BUILTIN_EXAMPLES`` examples; each predicate of each distinct
    sentence is one annotation. Elements have FrameNet's names.

    Args:
        seed: Seed of the sentences.
    """
    from darksecrets.data.builtin.tasks import NAMES, generate

    sentences: dict[str, Sentence] = {}
    for task in NAMES:
        for example in generate(task, {"framenet": BUILTIN_EXAMPLES}, seed)["framenet"]:
            for sentence in (example.sentence1, example.sentence2):
                if sentence is not None:
                    sentences.setdefault(sentence.text, sentence)
    kept = [
        annotation
        for sentence in sentences.values()
        for whole in _annotations(sentence)
        if (annotation := selected(whole, [(t.start, t.end) for t in sentence.tokens]))
    ]
    _log.info("built-in corpus: %d of %d sentences selected", len(kept), len(sentences))
    return kept


def _annotations(sentence: Sentence) -> Iterator[Annotation]:
    """One annotation per predicate of a sentence of the built-in corpus."""
    tokens = sentence.tokens
    for predicate in sorted({link.predicate for link in sentence.links}):
        elements = tuple(
            Element((tokens[link.start].start, tokens[link.end - 1].end), link.role)
            for link in sentence.links
            if link.predicate == predicate
        )
        yield Annotation(sentence.text, (tokens[predicate].start, tokens[predicate].end), elements)
