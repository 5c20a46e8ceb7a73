"""Sentences that a user gives: one or two in each example, as text, as a list or in a file."""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Iterable, Sequence
from pathlib import Path

from darksecrets.core.run.errors import InputError

BETWEEN = re.compile(r"\t|\|\|\|")
"""What separates the two sentences of an example that is given as one text."""

_LIKE_A_FILE = re.compile(r"\S+\.[A-Za-z]{2,5}|.+\.(txt|tsv)")
_EXPECTED = (
    "Expected a sentence, two sentences separated by ' ||| ', a list of these (in a list, an "
    "example of two sentences may also be a list of two), or a file with one example a line."
)

MOST = 20
"""Examples that a page shows, unless another number is asked for."""

MODEL = "pretrained"
"""How tables name the state of the model: as it is, without fine-tuning."""

Example = tuple[str, ...]
"""The sentences of an example: one or two."""


def read(text: object) -> list[Example]:
    """Read examples: the value of the key ``text`` of a configuration, or a function's argument.

    Args:
        text: A file, if a string names one; another string holds an example a line. In a list, each
            entry is an example: a string, or a list of one or two strings.

    Returns:
        The examples, all with equally many sentences, one or two.

    Raises:
        InputError: Says which example is wrong, and what was expected.
    """
    if text is None:
        raise InputError(f"text is missing. {_EXPECTED}")
    file = file_of(text)
    where = str(file) if file else "text"
    entries = _lines(_content(file) if file else text, where)
    examples = [_example(entry, number, where) for number, entry in enumerate(entries, 1)]
    if not examples:
        raise InputError(f"{where} is empty and has no sentence. {_EXPECTED}")
    sizes = [len(example) for example in examples]
    if len(set(sizes)) > 1:
        other = sizes.index(3 - sizes[0])
        raise InputError(
            f"{where}: example 1 has {sizes[0]}, example {other + 1} has {sizes[other]} sentences; "
            "expected one in each example, or two in each. Look at them in two runs."
        )
    return examples


def file_of(text: object) -> Path | None:
    """The file that a text names, if it does.

    Raises:
        InputError: It looks like the name of a file that is not there.
    """
    if not isinstance(text, str) or "\n" in text or "\0" in text or not text.strip():
        return None
    path = Path(text)
    try:
        if path.is_file():
            return path
        folder = path.is_dir() and ("/" in text or "." in text)
    except OSError:  # a name that is too long
        return None
    if folder or _LIKE_A_FILE.fullmatch(text):
        raise InputError(
            f"text: {text!r} {'is a folder' if folder else 'is not there'}. Name a file with one "
            "example a line; if it is a sentence, give it in a list."
        )
    return None


def digest(examples: Sequence[Example]) -> str:
    """Ten characters that identify examples."""
    content = json.dumps(examples, ensure_ascii=False).encode()
    return hashlib.sha256(content).hexdigest()[:10]


def columns(examples: Sequence[Example]) -> dict[str, list[str]]:
    """The examples as text columns of the data contract: ``sentence1``, for pairs ``sentence2``."""
    names = ("sentence1", "sentence2")
    return {
        name: list(column) for name, column in zip(names, zip(*examples, strict=True), strict=False)
    }


def _content(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8-sig")
    except UnicodeDecodeError as error:
        raise InputError(
            f"{file} is not text in UTF-8 (byte {error.start}: "
            f"0x{error.object[error.start]:02x}). Save it in this encoding."
        ) from None
    except OSError as error:
        raise InputError(f"{file}: cannot be read ({error.strerror}).") from None


def _lines(text: object, where: str) -> Iterable[object]:
    """Entries of a list, or the lines of a text; empty lines are skipped."""
    if isinstance(text, str):
        return [line for line in re.split(r"\r?\n", text) if line.strip()]
    if isinstance(text, list | tuple):
        return text
    if hasattr(text, "tolist"):  # an array of NumPy, a column of pandas
        entries: list[object] = text.tolist()
        return entries
    hint = (
        " YAML reads ': ' in a text without quotes as the end of a key; put the text in quotes "
        "inside the quotes of the shell, or in a file."
        if isinstance(text, dict)
        else " Put a number in a list of texts, in quotes." * isinstance(text, int | float)
    )
    raise InputError(f"{where} is {text!r} ({type(text).__name__}).{hint} {_EXPECTED}")


def _example(entry: object, number: int, where: str) -> Example:
    sentences = BETWEEN.split(entry) if isinstance(entry, str) else entry
    if not isinstance(sentences, list | tuple) or not all(isinstance(s, str) for s in sentences):
        raise InputError(f"{where}, example {number}: {entry!r} is no text. {_EXPECTED}")
    example = tuple(sentence.strip() for sentence in sentences)
    if len(example) not in (1, 2):
        raise InputError(
            f"{where}, example {number}: {len(example)} sentences, {entry!r}. An example has one, "
            "or two to be given to the encoder as a pair. Put other sentences in examples of "
            "their own."
        )
    if not all(example):
        raise InputError(
            f"{where}, example {number}: a sentence is empty, {entry!r}. Remove the example, or "
            "write its sentence."
        )
    for sentence in example:
        try:
            sentence.encode()
        except UnicodeEncodeError:
            raise InputError(
                f"{where}, example {number}: {sentence!r} has half of a character and is not "
                "UTF-8. Check the encoding of the terminal, or put the text in a file."
            ) from None
    return example
