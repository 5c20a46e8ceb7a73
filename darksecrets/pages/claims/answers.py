"""Answers to claims, and when statements about several things hold together."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Answer(StrEnum):
    """Whether a statement holds."""

    YES = "holds"
    NO = "does not hold"
    OPEN = "undecided"


def every(answers: Iterable[Answer]) -> Answer:
    """Whether all statements hold (Kleene's logic: one that fails decides)."""
    found = set(answers)
    if Answer.NO in found:
        return Answer.NO
    return Answer.YES if found == {Answer.YES} else Answer.OPEN


def some(answers: Iterable[Answer]) -> Answer:
    """Whether at least one statement holds."""
    found = set(answers)
    if Answer.YES in found:
        return Answer.YES
    return Answer.NO if found == {Answer.NO} else Answer.OPEN
