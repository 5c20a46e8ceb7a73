"""One pass of a model over a treebank; of its maps, only what the tables need is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from darksecrets.models.loading import Draw
from darksecrets.syntax import guesses
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.treebank import Sentence
from darksecrets.syntax.words import word_maps


@dataclass(frozen=True)
class Measured:
    """What one model does with each sentence that it can read whole, in the treebank's order.

    Attributes:
        read: The sentences.
        guesses: For each, [words, layer, head, direction], see `guesses.guesses`.
    """

    read: list[Read]
    guesses: list[Guess]


def measure(
    model_folder: str | Path,
    sentences: Sequence[Sentence],
    *,
    max_length: int,
    batch_size: int,
    draw: Draw | None = None,
) -> Measured:
    """Measure a model on a treebank; see `words.word_maps` for the arguments and errors."""
    read: dict[int, Read] = {}
    found: dict[int, Guess] = {}
    for batch in word_maps(
        model_folder, sentences, max_length=max_length, batch_size=batch_size, draw=draw
    ):
        for number, (own, guess) in zip(
            batch.numbers, guesses.of_sentences(batch, sentences), strict=True
        ):
            read[number], found[number] = own, guess
    order = sorted(read)
    return Measured([read[number] for number in order], [found[number] for number in order])
