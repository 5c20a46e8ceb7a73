"""Write sentences with trees and mentions in CoNLL-U, as CorefUD marks mentions."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from darksecrets.core.data.sentences import ROOT, Mention, Sentence

FIELDS = "# global.Entity = eid-head"


def conllu(sentences: Iterable[Sentence]) -> str:
    """The text of a CoNLL-U file.

    The grammar has tags of Penn's set, which stand in the fifth column. A mention is written with
    the number of its head word among its words.

    Args:
        sentences: Those of a document follow each other.
    """
    blocks = []
    document = None
    for sentence in sentences:
        comments = []
        if document is None:
            comments.append(FIELDS)
        if sentence.document != document:
            document = sentence.document
            comments.append(f"# newdoc id = {document}")
        comments.append(f"# sent_id = {sentence.name}")
        comments.append(f"# text = {sentence.text}")
        blocks.append("\n".join([*comments, *_words(sentence)]) + "\n\n")
    return "".join(blocks)


def _words(sentence: Sentence) -> Iterator[str]:
    """A line for each word."""
    brackets = _brackets(sentence)
    for place, word in enumerate(sentence.words):
        head = sentence.heads[place]
        misc = []
        if brackets[place]:
            misc.append(f"Entity={brackets[place]}")
        is_last = place + 1 == len(sentence)
        if not is_last and sentence.starts[place + 1] == sentence.ends[place]:
            misc.append("SpaceAfter=No")
        columns = [
            str(place + 1),
            word,
            "_",
            "_",
            sentence.tags[place],
            "_",
            str(0 if head == ROOT else head + 1),
            sentence.labels[place],
            "_",
            "|".join(misc) or "_",
        ]
        yield "\t".join(columns)


def _brackets(sentence: Sentence) -> list[str]:
    """The brackets of the mentions at each word: closing ones, then opening ones, outer first."""
    opening: list[list[str]] = [[] for _ in sentence.words]
    closing: list[list[str]] = [[] for _ in sentence.words]
    outer_first = sorted(sentence.mentions or (), key=_outer_first)
    for mention in outer_first:
        written = f"(e{mention.entity + 1}-{mention.head - mention.start + 1}"
        if mention.end == mention.start + 1:
            opening[mention.start].append(f"{written})")
        else:
            opening[mention.start].append(written)
            closing[mention.end - 1].insert(0, f"e{mention.entity + 1})")
    return ["".join([*ends, *starts]) for ends, starts in zip(closing, opening, strict=True)]


def _outer_first(mention: Mention) -> tuple[int, int]:
    return mention.start, -mention.end
