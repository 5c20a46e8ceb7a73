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
    overlap = (offsets[:, 0] < end) & (offsets[:, 1] > start)
    return np.flatnonzero(overlap & (segments == sentence) & ~special)
