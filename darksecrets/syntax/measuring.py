"""One pass of a model over a treebank; of its maps, only what the tables need is kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from darksecrets.models.loading import Draw
from darksecrets.syntax import guesses
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.treebank import Sentence
from darksecrets.syntax.trees import Counts, of_trees
from darksecrets.syntax.words import word_maps


@dataclass(frozen=True)
class Measured:
    """What one model does with each sentence that it can read whole, in the treebank's order.

    Attributes:
        read: The sentences.
        guesses: For each, [words, layer, head, direction], see `guesses.guesses`.
        trees: For each, [layer, head, direction, 2] see `trees.of_trees`.
    """

    read: list[Read]
    guesses: list[Guess]
    trees: list[Counts]


def measure(
    model_folder: str | Path,
    sentences: Sequence[Sentence],
    *,
    max_length: int,
    batch_size: int,
    draw: Draw | None = None,
) -> Measured:
    """Measure a model on a treebank; see `words.word_maps` for the arguments and errors."""
    found: dict[int, tuple[Read, Guess, Counts]] = {}
    for batch in word_maps(
        model_folder, sentences, max_length=max_length, batch_size=batch_size, draw=draw
    ):
        cropped = guesses.of_sentences(batch, sentences)
        trees = of_trees(batch, sentences)
        for number, (own, guess), counts in zip(batch.numbers, cropped, trees, strict=True):
            found[number] = own, guess, counts
    columns = zip(*(found[number] for number in sorted(found)), strict=True)
    return Measured(*map(list, columns))
