"""From characters of a sentence to the word pieces of an example, never through equal strings."""

from __future__ import annotations

import numpy as np
import numpy.typing as npt


def tokens_of_span(
    offsets: npt.NDArray[np.int64],
    segments: npt.NDArray[np.int64],
    special: npt.NDArray[np.bool_],
    sentence: int,
    start: int,
    end: int,
) -> npt.NDArray[np.int64]:
    """Positions of the tokens that share at least one character with a span.

    Args:
        offsets: [L, 2] first character, and the one after the last, of each token in its sentence.
        segments: [L] the sentence, 0 or 1, of each token.
        special: [L] whether a token is a special one; those have no characters.
        sentence: The sentence that the span is in.
        start: First character of the span.
        end: The character after its last.

    Returns:
        Positions in the example, ascending; none where the sentence was cut before the span.
    """
    span = np.array([[start, end]])
    return np.flatnonzero(overlaps(offsets, segments, special, sentence, span))


def overlaps(
    offsets: npt.NDArray[np.int64],
    segments: npt.NDArray[np.int64],
    special: npt.NDArray[np.bool_],
    sentence: int,
    spans: npt.NDArray[np.int64],
) -> npt.NDArray[np.bool_]:
    """Tell which tokens share at least one character with which spans of a sentence.

    Args:
        offsets: [L, 2], see `tokens_of_span`.
        segments: [L]
        special: [L]
        sentence: The sentence that the spans are in.
        spans: [spans, 2] first character of each, and the one after its last.

    Returns:
        [L, spans]
    """
    shared = (offsets[:, :1] < spans[:, 1]) & (offsets[:, 1:] > spans[:, 0])
    inside: npt.NDArray[np.bool_] = (segments == sentence) & ~special
    return shared & inside[:, None]
