"""Answers to claims, and when statements about several things hold together."""

from __future__ import annotations

from collections.abc import Iterable
from enum import StrEnum


class Answer(StrEnum):
    """Whether a statement holds; or that it is not a finding, or not about this encoder."""

    YES = "holds"
    NO = "does not hold"
    OPEN = "undecided"
    SET_UP = "set-up"
    NOT_APPLICABLE = "not applicable"


FINDINGS = Answer.YES, Answer.NO, Answer.OPEN
"""Answers to statements that the run's numbers decide."""


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
