"""Treebanks of Universal Dependencies: files in the format CoNLL-U.

Words are syntactic words: the parts of *du* are *de* and *le*, and share its place in the text.
Empty nodes, which only enhanced dependencies use, are no words. The text is that of the forms, with
spaces where the file does not deny them. Parts of speech are the universal ones, or those of the
language where the file lacks these. Mentions are those of `entities`, if the file marks any. Files
may be compressed (``.conllu.gz``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.core.data import entities, files
from darksecrets.core.data.sentences import ROOT, Mention, Sentence
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from conllu.models import Token, TokenList

_NOTHING = "_"
"""What CoNLL-U writes where a word has no such attribute."""

_CORRECT = "Correct the file, or leave the sentence out."


@dataclass(frozen=True)
class Block:
    """The lines of a sentence.

    Attributes:
        path: The file.
        first: Number of the first line, from 1.
        lines: Its lines.
    """

    path: Path
    first: int
    lines: Sequence[str]

    def where(self, token: int) -> str:
        """File and line of a token; comments are not tokens."""
        numbers = [n for n, line in enumerate(self.lines) if not line.startswith("#")]
        return f"{self.path}, line {self.first + numbers[token]}"


def part_of_speech(word: Token) -> str:
    """The universal part of speech of a word, or the language's own where there is none."""
    tags = (word["upos"], word["xpos"], "X")
    return next(tag for tag in tags if tag not in (None, _NOTHING))


def read(path: Path, tag_of: Callable[[Token], str] = part_of_speech) -> list[Sentence]:
    """Read all sentences of a file.

    Args:
        path: The file.
        tag_of: Which tag each word has.

    Raises:
        InputError: The file is missing, empty, not in UTF-8 or not CoNLL-U, the dependencies of a
            sentence are not one tree, or its mentions are malformed; the message names the line.
    """
    sentences: list[Sentence] = []
    reader = entities.Reader()
    document = -1
    for block in _blocks(path):
        tokens = _parsed(block)
        if not sentences or any(key.startswith("newdoc") for key in tokens.metadata):
            document += 1
        if named := tokens.metadata.get("global.Entity"):
            reader.fields = named.split("-")
        sentences.append(_sentence(block, tokens, document, reader, tag_of))
    if not sentences:
        raise InputError(f"{path} has no sentence in CoNLL-U. Give a treebank.")
    if not any(sentence.mentions for sentence in sentences):
        return [replace(sentence, mentions=None) for sentence in sentences]
    return sentences


def _blocks(path: Path) -> Iterator[Block]:
    """Sentences end with an empty line."""
    lines: list[str] = []
    first = 1
    for number, line in enumerate([*files.text_of(path).split("\n"), ""], start=1):
        if line.strip():
            lines.append(line.removesuffix("\r"))
            continue
        if any(not each.startswith("#") for each in lines):
            yield Block(path, first, lines)
        lines, first = [], number + 1


def _parsed(block: Block) -> TokenList:
    """The tokens of a sentence, as the library reads them."""
    import conllu
    from conllu.exceptions import ParseException

    for number, line in enumerate(block.lines):
        fields = 1 if line.startswith("#") else len(line.split("\t"))
        if fields not in (1, 10) or (fields == 1 and not line.startswith("#")):
            raise InputError(
                f"{block.path}, line {block.first + number}: {fields} columns instead of the 10 of "
                f"CoNLL-U, with a tab between. {_CORRECT}"
            )
    try:
        (tokens,) = conllu.parse("\n".join(block.lines) + "\n\n")
    except (ParseException, ValueError) as error:
        raise InputError(
            f"{block.path}, sentence from line {block.first}: this is not CoNLL-U "
            f"({str(error).splitlines()[0]}), which has 10 columns, described by Universal "
            f"Dependencies. {_CORRECT}"
        ) from error
    return tokens


def _sentence(
    block: Block,
    tokens: TokenList,
    document: int,
    reader: entities.Reader,
    tag_of: Callable[[Token], str],
) -> Sentence:
    places = [place for place, token in enumerate(tokens) if isinstance(token["id"], int)]
    words = [tokens[place] for place in places]
    numbers = [word["id"] for word in words]
    if not words or numbers != list(range(1, len(words) + 1)):
        raise InputError(
            f"{block.path}, sentence from line {block.first}: the words are numbered "
            f"{', '.join(map(str, numbers)) or 'not at all'} instead of 1 to {len(words)} in "
            f"order. {_CORRECT}"
        )
    _check_forms(block, tokens, len(words))
    _check_tree(block, words, places)
    text, spans = _text(tokens)
    heads = tuple(word["head"] - 1 if word["head"] else ROOT for word in words)
    return Sentence(
        name=str(tokens.metadata.get("sent_id") or f"line {block.first}"),
        document=document,
        text=text,
        words=tuple(word["form"] for word in words),
        starts=tuple(start for start, _ in spans),
        ends=tuple(end for _, end in spans),
        heads=heads,
        labels=tuple((word["deprel"] or "dep").lower() for word in words),
        tags=tuple(map(tag_of, words)),
        mentions=_mentions(block, tokens, document, heads, reader),
        features=_features(words),
    )


def _features(words: Sequence[Token]) -> tuple[str, ...]:
    """The morphological features of each word; none at all if no word has any."""
    found = [
        "|".join(f"{name}={value}" for name, value in (word["feats"] or {}).items())
        for word in words
    ]
    return tuple(found) if any(found) else ()


def _mentions(
    block: Block,
    tokens: TokenList,
    document: int,
    heads: Sequence[int],
    reader: entities.Reader,
) -> tuple[Mention, ...]:
    """The mentions of a sentence; the line of a token of several words has none."""
    places, nodes, words = [], [], 0
    for place, token in enumerate(tokens):
        number, marked = token["id"], (token["misc"] or {}).get("Entity")
        if isinstance(number, tuple) and number[1] == "-":
            if marked:
                raise InputError(
                    f"{block.where(place)}: Entity={marked} stands on a token of several words; it "
                    f"belongs on one of these words. {_CORRECT}"
                )
            continue
        empty = isinstance(number, tuple)
        nodes.append(entities.Node(None if empty else words, marked or "", token["feats"] or {}))
        places.append(place)
        words += not empty
    try:
        return reader.mentions(document, nodes, heads)
    except entities.Malformed as error:
        raise InputError(f"{block.where(places[error.node])}: {error}. {_CORRECT}") from None


def _check_forms(block: Block, tokens: TokenList, words: int) -> None:
    """Check that every word can be seen, and that a token of several words stands before them.

    Raises:
        InputError: A form is blank or has a NUL, or the range of a token does not fit its words.
    """
    ended = before = 0  # the last word of the last range, and the last word
    for place, token in enumerate(tokens):
        number, form = token["id"], token["form"]
        if files.is_blank(form) or "\0" in form:
            raise InputError(
                f"{block.where(place)}: the form {form!r} has no visible character, or has a NUL. "
                f"{_CORRECT}"
            )
        if isinstance(number, int):
            before = number
        elif number[1] == "-":
            first, _, last = number
            if first != before + 1 or first <= ended or not first < last <= words:
                raise InputError(
                    f"{block.where(place)}: the token {first}-{last} must stand before word "
                    f"{first}, after other tokens of several words have ended, and end with one "
                    f"of the {words} words. {_CORRECT}"
                )
            ended = last


def _check_tree(block: Block, words: Sequence[Token], places: Sequence[int]) -> None:
    """Check that the heads of a sentence are one tree.

    Raises:
        InputError: A head is missing or no word of the sentence, there is not one root, or a word
            depends on itself, maybe by way of others.
    """
    for word, place in zip(words, places, strict=True):
        head = word["head"]
        if not isinstance(head, int) or not 0 <= head <= len(words):
            raise InputError(
                f"{block.where(place)}: the head of {word['form']!r} is "
                f"{'_' if head is None else head}; it must be 0 or a word from "
                f"1 to {len(words)}. {_CORRECT}"
            )
    roots = [place for word, place in zip(words, places, strict=True) if word["head"] == 0]
    if len(roots) != 1:
        place = roots[1] if roots else places[0]
        raise InputError(
            f"{block.where(place)}: {len(roots)} words of the sentence have the head 0; exactly "
            f"one, the root, must have it. {_CORRECT}"
        )
    heads = [word["head"] for word in words]
    for word, place in zip(words, places, strict=True):
        above = word["head"]
        for _ in words:
            above = heads[above - 1] if above else 0
        if above:
            raise InputError(
                f"{block.where(place)}: this is no tree: {word['form']!r} depends on itself, or on "
                f"words that depend on it. {_CORRECT}"
            )


def _text(tokens: TokenList) -> tuple[str, list[tuple[int, int]]]:
    """The text of a sentence, and the place of every word in it.

    A token of several words has a line of its own before them, with an id such as 3-4.
    """
    text = ""
    spans: list[tuple[int, int]] = []
    shared, last = (0, 0), 0
    for token in tokens:
        number = token["id"]
        if isinstance(number, tuple) and number[1] == ".":
            continue
        if isinstance(number, int) and number <= last:  # part of a token of several words
            spans.append(shared)
            continue
        span = (len(text), len(text) + len(token["form"]))
        text += token["form"]
        if (token["misc"] or {}).get("SpaceAfter") != "No":
            text += " "
        if isinstance(number, int):
            spans.append(span)
        else:
            shared, last = span, number[2]
    return text.rstrip(), spans
