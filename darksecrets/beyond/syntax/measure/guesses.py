"""Which word every word attends to most, and which attends to it most, in every head.

This is all that is kept of a map to score heads: 4 bytes for each word and head.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import torch

from darksecrets.beyond.syntax.measure.words import WordMaps
from darksecrets.core.arrays import Flags
from darksecrets.core.data.sentences import Sentence

NONE = -1
"""Guess where a word shares its pieces with all others."""

Guess = npt.NDArray[np.int16]


@dataclass(frozen=True)
class Read:
    """A sentence that models have read.

    Attributes:
        sentence: The sentence.
        apart: [words, words] which words share no piece, see `words.WordMaps`.
    """

    sentence: Sentence
    apart: Flags


def guesses(batch: WordMaps) -> torch.Tensor:
    """The greatest weights of word maps, without those of a word to itself.

    Returns:
        [sentence, W, layer, head, 2] for every word, the one that it attends to most, and the one
        that attends to it most; `NONE` if there is no other.
    """
    others = batch.apart[:, None, None]
    known = torch.where(others, batch.maps, -1)
    both = torch.stack([known.argmax(dim=-1), known.argmax(dim=-2)], dim=-1)
    alone = ~others.any(dim=-1)
    return torch.where(alone[..., None], NONE, both).permute(0, 3, 1, 2, 4)


def sentence_guesses(batch: WordMaps, sentences: Sequence[Sentence]) -> list[tuple[Read, Guess]]:
    """The same for each sentence of a batch, without padding.

    Args:
        batch: Word maps.
        sentences: The treebank.
    """
    found = guesses(batch).to(torch.int16).cpu().numpy()
    apart = batch.apart.cpu().numpy()
    cropped = []
    for number, guess, flags in zip(batch.numbers, found, apart, strict=True):
        words = len(sentences[number])
        own: Guess = guess[:words].copy()
        cropped.append((Read(sentences[number], flags[:words, :words].copy()), own))
    return cropped
