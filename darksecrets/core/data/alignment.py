"""Map character spans of a sentence to word pieces by offsets, never by comparing strings."""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Flags, Integers


def tokens_of_span(
    offsets: Integers, segments: Integers, special: Flags, sentence: int, start: int, end: int
) -> Integers:
    """Positions of the tokens that share at least one character with a span.

    Args:
        offsets: [L, 2] start and end (exclusive) of each token's characters in its sentence.
        segments: [L] the sentence, 0 or 1, of each token.
        special: [L] whether a token is special; special tokens have no characters.
        sentence: The sentence that contains the span, 0 or 1.
        start: First character of the span.
        end: The character after the last.

    Returns:
        Positions in the example, ascending; empty if the sentence was truncated before the span.
    """
    span = np.array([[start, end]])
    return np.flatnonzero(overlaps(offsets, segments, special, sentence, span))


def overlaps(
    offsets: Integers, segments: Integers, special: Flags, sentence: int, spans: Integers
) -> Flags:
    """Tell which tokens overlap which spans of a sentence in at least one character.

    Args:
        offsets: [L, 2], see `tokens_of_span`.
        segments: [L]
        special: [L]
        sentence: The sentence that contains the spans, 0 or 1.
        spans: [spans, 2] start and end (exclusive) of each.

    Returns:
        [L, spans]
    """
    shared = (offsets[:, :1] < spans[:, 1]) & (offsets[:, 1:] > spans[:, 0])
    inside: Flags = (segments == sentence) & ~special
    return shared & inside[:, None]
