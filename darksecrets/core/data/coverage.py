"""What a tokenizer leaves of texts: a model sees nothing of what is cut off or unknown."""

from __future__ import annotations

import json
import logging
import random
import unicodedata
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.core.data.files import short
from darksecrets.core.data.words import spans_of
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.learned import MUCH

if TYPE_CHECKING:
    from tokenizers import Encoding, Tokenizer

_NEARLY_ALL = 0.5
"""Share of words unknown, or of texts that become the same, above which a task is refused."""
_TRIED = 500
"""Examples whose words are looked at, drawn at random."""
_SHOWN = 3
"""Unknown words that a message shows."""

_log = logging.getLogger(__name__)


@dataclass(frozen=True)
class Coverage:
    """What a tokenizer leaves of some examples.

    Attributes:
        examples: Their number.
        cut: How many are longer than the longest sequence.
        words: Words and signs of the examples that were looked at, as far as they are not cut off.
        unknown: How many of these have a character without a word piece.
        shown: Some of the unknown words.
        lower: Whether these would be known in lower case.
        texts: Different texts among the examples that were looked at.
        seen: Different sequences of word pieces that these become.
        typed: Examples whose text has a special token, such as ``[SEP]``, in letters.
        max_length: Longest sequence, in tokens.
    """

    examples: int
    cut: int
    words: int
    unknown: int
    shown: tuple[str, ...]
    lower: bool
    texts: int
    seen: int
    typed: int
    max_length: int

    @property
    def share_cut(self) -> float:
        """Share of the examples that are longer than the longest sequence."""
        return self.cut / max(1, self.examples)

    @property
    def share_unknown(self) -> float:
        """Share of the words that are unknown."""
        return self.unknown / max(1, self.words)

    def remarks(self) -> Iterator[str]:
        """What is worth saying: texts that are cut, unknown words, special tokens in letters."""
        if self.share_cut >= MUCH:
            yield (
                f"{self.share_cut:.0%} of {self.examples} texts are cut after {self.max_length} "
                "tokens (`fine_tuning.max_length`)"
            )
        if self.share_unknown >= MUCH:
            yield f"{self.share_unknown:.0%} of the words are unknown{self._examples()}"
        if self.typed:
            yield (
                f"{self.typed} of {self.examples} texts have special tokens in letters (such as "
                "[SEP]), which become those tokens: put two texts into two columns"
            )

    def require_something(self, where: str) -> None:
        """Refuse examples of which nearly nothing is left.

        Args:
            where: What the examples are, for the message.

        Raises:
            InputError: Most words are unknown, or most texts become the same.
        """
        if self.share_unknown > _NEARLY_ALL:
            advice = "Use an encoder for this language and script."
            if self.lower:
                advice = (
                    "In lower case they are known: let the tokenizer read lower case "
                    '({"do_lower_case": true} in tokenizer_config.json, and "lowercase" in the '
                    "normalizer of tokenizer.json)."
                )
            raise InputError(
                f"{where}: the tokenizer does not know {self.share_unknown:.0%} of the words"
                f"{self._examples()}. {advice}"
            )
        if self.seen < (1 - _NEARLY_ALL) * self.texts:
            raise InputError(
                f"{where}: {self.texts} different texts become {self.seen} different sequences of "
                f"word pieces; {self.share_cut:.0%} of the texts are cut after {self.max_length} "
                f"tokens, {self.share_unknown:.0%} of the words are unknown. Raise "
                "fine_tuning.max_length, or shorten the texts to what decides."
            )

    def _examples(self) -> str:
        return f", such as {', '.join(map(repr, self.shown))}" if self.shown else ""


def measure(
    texts: Sequence[Sequence[str]],
    encodings: Sequence[Encoding],
    tokenizer: Tokenizer,
    unknown: int | None,
    max_length: int,
) -> Coverage:
    """Measure what a tokenizer leaves of examples.

    Args:
        texts: The text columns, one or two lists of the examples.
        encodings: What the tokenizer made of each example.
        tokenizer: The tokenizer.
        unknown: Id of its unknown token; None if it has none.
        max_length: Longest sequence, in tokens.
    """
    examples = len(encodings)
    # Drawn, since some files have a pattern in the order of their rows.
    tried = sorted(random.Random(0).sample(range(examples), min(_TRIED, examples)))
    count, strange = 0, []
    for number in tried:
        for place, column in enumerate(texts):
            for word, is_known in _words(column[number], encodings[number], place, unknown):
                count += 1
                if not is_known:
                    strange.append(word)
    shown = tuple(dict.fromkeys(strange))[:_SHOWN]
    return Coverage(
        examples=examples,
        cut=sum(bool(each.overflowing) for each in encodings),
        words=count,
        unknown=len(strange),
        shown=shown,
        lower=bool(shown) and all(_is_capital(word, tokenizer, unknown) for word in shown),
        texts=len({tuple(column[number] for column in texts) for number in tried}),
        seen=len({tuple(encodings[number].ids) for number in tried}),
        typed=len(find_special_tokens(texts, tokenizer)),
        max_length=max_length,
    )


def find_special_tokens(texts: Sequence[Sequence[str]], tokenizer: Tokenizer) -> list[int]:
    """The examples in whose text a special token is written in letters."""
    added = tokenizer.get_added_tokens_decoder().values()
    names = [token.content for token in added if token.special and token.content.strip()]
    return [
        number
        for number, example in enumerate(zip(*texts, strict=True))
        if any(name in text for text in example for name in names)
    ]


def read_tokenizer(folder: Path, max_length: int) -> tuple[Tokenizer, int | None]:
    """A tokenizer that was saved by this project, and its unknown token, without transformers.

    Args:
        folder: Has ``tokenizer.json`` and ``tokenizer_config.json``.
        max_length: Longest sequence, in tokens.
    """
    from tokenizers import Tokenizer

    tokenizer = Tokenizer.from_file(str(folder / "tokenizer.json"))
    tokenizer.no_padding()
    tokenizer.enable_truncation(max_length, strategy="longest_first")
    settings = json.loads((folder / "tokenizer_config.json").read_text(encoding="utf-8"))
    name = settings.get("unk_token")
    name = name.get("content") if isinstance(name, Mapping) else name
    return tokenizer, None if name is None else tokenizer.token_to_id(name)


def measure_with(folder: Path, texts: Sequence[Sequence[str]], max_length: int) -> Coverage:
    """Measure what the tokenizer of a folder leaves of examples, see `read_tokenizer`."""
    tokenizer, unknown = read_tokenizer(folder, max_length)
    return measure(texts, _encodings(texts, tokenizer), tokenizer, unknown, max_length)


def look_with(
    folder: Path, texts: Sequence[Sequence[str]], max_length: int, where: str
) -> Coverage:
    """The same as `look`, with the tokenizer of a folder, see `read_tokenizer`."""
    tokenizer, unknown = read_tokenizer(folder, max_length)
    encodings = _encodings(texts, tokenizer)
    return look(texts, encodings, tokenizer, unknown, max_length, where=where)


def _encodings(texts: Sequence[Sequence[str]], tokenizer: Tokenizer) -> list[Encoding]:
    given = list(texts[0]) if len(texts) == 1 else list(zip(*texts, strict=True))
    return tokenizer.encode_batch(given)


def look(
    texts: Sequence[Sequence[str]],
    encodings: Sequence[Encoding],
    tokenizer: Tokenizer,
    unknown: int | None,
    max_length: int,
    *,
    where: str,
    tolerant: bool = False,
) -> Coverage:
    """Measure what a tokenizer leaves of examples, log what is worth saying, refuse the worst.

    Args:
        texts: See `measure`, likewise the others.
        encodings: What the tokenizer made of each example.
        tokenizer: The tokenizer.
        unknown: Id of its unknown token; None if it has none.
        max_length: Longest sequence, in tokens.
        where: What the examples are, for messages.
        tolerant: Whether nothing is refused.

    Raises:
        InputError: A text has no word piece, or nearly nothing is left of all texts.
    """
    if not tolerant:
        _require_pieces(texts, encodings, where)
    found = measure(texts, encodings, tokenizer, unknown, max_length)
    if not tolerant:
        found.require_something(where)
    for remark in found.remarks():
        _log.warning("%s: %s.", where, remark)
    return found


def _require_pieces(
    texts: Sequence[Sequence[str]], encodings: Sequence[Encoding], where: str
) -> None:
    """Raise an error if a text has no word piece: its map would be that of [CLS] and [SEP]."""
    for number, encoding in enumerate(encodings):
        found = set(encoding.sequence_ids)
        for place, column in enumerate(texts):
            if place not in found:
                raise InputError(
                    f"{where}: the tokenizer makes no word piece of {short(column[number])}, which "
                    "the model would not see. Leave the example out."
                )


def _words(
    text: str, encoding: Encoding, place: int, unknown: int | None
) -> Iterator[tuple[str, bool]]:
    """The words of a text, and whether all their characters have a known word piece."""
    known, last = bytearray(len(text)), 0
    parts = zip(encoding.sequence_ids, encoding.offsets, encoding.ids, strict=True)
    for sequence, (start, end), number in parts:
        if sequence == place:
            last = max(last, end)
            if number != unknown:
                known[start:end] = b"\1" * (end - start)
    for start, end in spans_of(text):
        if encoding.overflowing and end > last:
            return
        lost = (text[at] for at in range(start, end) if not known[at])
        yield text[start:end], all(map(_is_mark, lost))


def _is_mark(character: str) -> bool:
    """Whether a character is an accent or shows nothing, which tokenizers may leave out."""
    return unicodedata.category(character)[0] in "MCZ"


def _is_capital(word: str, tokenizer: Tokenizer, unknown: int | None) -> bool:
    """Whether an unknown word would be known in lower case."""
    lower = word.lower()
    ids = tokenizer.encode(lower, add_special_tokens=False).ids
    return lower != word and bool(ids) and unknown not in ids
