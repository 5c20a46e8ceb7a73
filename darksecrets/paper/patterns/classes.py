"""The five classes of self-attention maps, what else is asked about a map, and the two definitions.

Section 4.1 of the paper calls a map vertical if it shows "mainly attention to special tokens". By
eye, a map has dark columns, and their tokens come second. So annotators give the class under the
lenient definition, whichever tokens the dark columns are, and name these tokens beside it
(`Answers`). The strict definition, the paper's, follows from both (`strict_reading`).
"""

from __future__ import annotations

import unicodedata
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, get_args

from darksecrets.core.run.errors import InputError

PATTERNS: dict[str, str] = {
    "vertical": (
        "One or several columns run dark through nearly all rows, whichever tokens they are. "
        "No diagonal is plainly seen."
    ),
    "diagonal": (
        "One or more lines, or a narrow band, along or beside the main diagonal: tokens attend to "
        "themselves or their neighbours. No full column is plainly seen."
    ),
    "vertical+diagonal": "A diagonal and at least one nearly full column are both plainly seen.",
    "block": (
        "Tokens attend within their own sentence: two squares along the diagonal and two pale "
        "quadrants, or one square beside pale special tokens. The squares strike the eye first."
    ),
    "heterogeneous": (
        "None of these: scattered cells, columns that reach only some of the rows, repeated words, "
        "mottled all over."
    ),
}
"""Name and (lenient) definition of every class, in the order of the paper's Figure 1."""

FIRST_THREE = {"vertical or diagonal": ("vertical", "diagonal", "vertical+diagonal")}
"""The paper's first three patterns together, which it says are most maps of pre-trained BERT."""

KEYS = dict(zip("vdmbh", PATTERNS, strict=True))
"""The key that stands for each class: m as in mixed, of vertical and diagonal."""

SPECIAL, PUNCTUATION, WORD = KINDS = "spw"
"""Letters for kinds of tokens: special tokens, punctuation, other words and word pieces."""
NAMES_OF_KINDS = {
    SPECIAL: "special token",
    PUNCTUATION: "punctuation",
    WORD: "other word or word piece",
}
NO_COLUMN = "-"
"""Answer that no column runs dark through about two thirds of the rows."""
NUMBERS = {0: "none", 1: "one", 2: "several"}
"""How many columns run dark through about two thirds of the rows."""
STRENGTHS = {0: "none", 1: "weak", 2: "plain"}
"""How plainly a diagonal is seen."""

Definition = Literal["lenient", "strict"]
DEFINITIONS: tuple[Definition, ...] = get_args(Definition)
LENIENT, STRICT = DEFINITIONS

_WITH_COLUMNS = ("vertical", "vertical+diagonal")
_WITH_DIAGONAL = ("diagonal", "vertical+diagonal")


@dataclass(frozen=True)
class Answers:
    """What an annotator says of a map.

    Attributes:
        label: The class under the lenient definition.
        columns: Which tokens the dark columns are: letters of `KINDS`, the strongest first, or
            `NO_COLUMN`; empty if this and the next two were not asked.
        number: How many such columns there are, of `NUMBERS`.
        diagonal: How plainly a diagonal is seen, of `STRENGTHS`.
    """

    label: str
    columns: str = ""
    number: int | None = None
    diagonal: int | None = None

    @property
    def strict(self) -> str:
        """The class under the strict definition, see `strict_reading`."""
        return strict_reading(self.label, self.columns, self.diagonal)

    def check(self) -> None:
        """Check that the answers exist and do not contradict each other.

        Raises:
            InputError: Says which answer does not fit.
        """
        if self.label not in PATTERNS:
            raise InputError(f"No class is called {self.label!r}. Use {', '.join(PATTERNS)}.")
        if self.columns == "" and self.number is None and self.diagonal is None:
            return
        if problem := self._problem():
            raise InputError(
                f"The answers {self} of a map contradict each other; {problem}. Look at the map "
                "again."
            )

    def __str__(self) -> str:
        return f"{self.label} {self.columns} {self.number} {self.diagonal}"

    def _problem(self) -> str | None:
        letters = list(self.columns)
        if self.number not in NUMBERS or self.diagonal not in STRENGTHS:
            return "expected 0, 1 or 2 for the number of columns and for the diagonal"
        if self.columns != NO_COLUMN and not (
            letters and set(letters) <= set(KINDS) and len(set(letters)) == len(letters)
        ):
            return f"expected columns such as {SPECIAL}, {SPECIAL}{WORD} or {NO_COLUMN}"
        if (self.columns == NO_COLUMN) != (self.number == 0):
            return f"expected the columns {NO_COLUMN} if, and only if, their number is 0"
        if self.number == 1 and len(letters) > 1:
            return "one column is of one kind of token, or the number is 2"
        if self.label in _WITH_COLUMNS and self.number == 0:
            return f"{self.label} needs at least one column"
        if self.label in _WITH_DIAGONAL and self.diagonal == 0:
            return f"{self.label} needs a diagonal"
        return None


def strict_reading(label: str, columns: str, diagonal: int | None) -> str:
    """The class under the strict definition: vertical means columns of special tokens only.

    A vertical map with another column is heterogeneous. Of vertical and diagonal, the diagonal is
    left if it is plain, and a heterogeneous map if it is not. Other classes are the same.

    Args:
        label: The class under the lenient definition.
        columns: Tokens of the dark columns, see `Answers`; empty if unknown.
        diagonal: How plainly a diagonal is seen; None if unknown.

    Returns:
        The class; empty if it depends on columns that are unknown.
    """
    if label not in _WITH_COLUMNS or columns == SPECIAL:
        return label
    if columns == "":
        return ""
    plain = label in _WITH_DIAGONAL and diagonal == max(STRENGTHS)
    return "diagonal" if plain else "heterogeneous"


def kinds(tokens: Sequence[str], special: str) -> str:
    """The kind of each token of a map.

    Args:
        tokens: [L] word pieces.
        special: A digit per token, 1 for special tokens.

    Returns:
        A letter of `KINDS` per token.
    """
    marks = zip(tokens, special, strict=True)
    return "".join(SPECIAL if mark == "1" else _kind(token) for token, mark in marks)


def _kind(token: str) -> str:
    # Tokenizers mark the start or the inside of a word; these marks are no punctuation.
    letters = token.removeprefix("##").strip("▁Ġ") or WORD
    return PUNCTUATION if all(unicodedata.category(one)[0] in "PS" for one in letters) else WORD
