"""Sentences with words as a model reads them: which tokens are pieces of which word."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from darksecrets.core.arrays import Flags
from darksecrets.core.attention.extraction import Inputs, encode_longest_first
from darksecrets.core.data.alignment import overlaps
from darksecrets.core.data.sentences import Sentence
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


@dataclass(frozen=True)
class Aligned:
    """The sentences that a model can read whole, longest first.

    Attributes:
        numbers: Which sentences of the treebank.
        belongs: For each, [L, words] whether a token is a piece of a word.
        inputs: What the model reads.
    """

    numbers: list[int]
    belongs: list[Flags]
    inputs: Inputs

    def of(self, places: Sequence[int]) -> Aligned:
        """Some of them."""
        return Aligned(
            [self.numbers[place] for place in places],
            [self.belongs[place] for place in places],
            {name: [values[place] for place in places] for name, values in self.inputs.items()},
        )


def align(
    sentences: Sequence[Sentence], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> Aligned:
    """Tokenize a treebank and find the pieces of every word.

    Args:
        sentences: The treebank.
        tokenizer: That of the model.
        max_length: Longest sequence that the model is to read, in tokens.

    Raises:
        InputError: No sentence can be read whole.
    """
    texts = {"sentence1": [sentence.text for sentence in sentences]}
    table, inputs = encode_longest_first(texts, tokenizer, max_length)
    rows = table.to_dict("records")
    belongs = [pieces_of_words(sentences[row["idx"]], row) for row in rows]
    kept = [place for place, flags in enumerate(belongs) if flags.any(axis=0).all()]
    if not kept:
        raise InputError(
            f"The treebank has {len(sentences)} sentences, none of which the model can read "
            f"whole in {max_length} tokens. Choose other sentences, or raise "
            "fine_tuning.max_length."
        )
    return Aligned([row["idx"] for row in rows], belongs, inputs).of(kept)


def pieces_of_words(sentence: Sentence, row: Mapping[Any, Any]) -> Flags:
    """[L, words] which tokens are pieces of which words, by their places in the text.

    The parts of a contraction that share their place share its pieces, as do words that the
    tokenizer does not split between.

    Args:
        sentence: The sentence.
        row: Its tokens, see `attention.store`.
    """
    offsets = np.stack([row["starts"], row["ends"]], axis=1).astype(np.int64)
    spans = np.array([sentence.starts, sentence.ends]).T
    special = np.asarray(row["special"], dtype=bool)
    return overlaps(offsets, np.asarray(row["segments"]), special, 0, spans)


def padded(belongs: Sequence[Flags]) -> torch.Tensor:
    """[sentence, token, word] as numbers, from the flags of each sentence."""
    tokens, words = (max(sizes) for sizes in zip(*(flags.shape for flags in belongs), strict=True))
    filled = np.zeros((len(belongs), tokens, words), dtype=np.float32)
    for flags, own in zip(filled, belongs, strict=True):
        flags[: own.shape[0], : own.shape[1]] = own
    return torch.from_numpy(filled)
