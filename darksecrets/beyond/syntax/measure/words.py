"""Attention between words: maps of word pieces, reduced as Clark et al. (2019) do.

A word's attention to another is the sum over the pieces of the word attended to, and the mean over
the pieces of the word that attends. Special tokens are no words.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import torch

from darksecrets.core.attention.extraction import batches_for, batches_of, pad
from darksecrets.core.attention.pieces import Aligned, align, padded
from darksecrets.core.data.sentences import Sentence
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import collect_maps
from darksecrets.core.models.reach import windows_of
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class WordMaps:
    """Word maps of a few sentences; W is the number of words of the longest one.

    Attributes:
        numbers: Which sentences of the treebank.
        maps: [sentence, layer, head, W, W] attention of a word (row) to another; 0 beyond a
            sentence's words.
        apart: [sentence, W, W] whether both are words of the sentence that share no piece. A word
            shares its own, and so do the parts of a contraction that the tokenizer does not split.
    """

    numbers: list[int]
    maps: torch.Tensor
    apart: torch.Tensor


def reduced(maps: torch.Tensor, belongs: torch.Tensor) -> torch.Tensor:
    """Attention between words, from attention between tokens.

    Args:
        maps: [sentence, head, token, token].
        belongs: [sentence, token, word] 1 if a token is a piece of a word.

    Returns:
        [sentence, head, word, word].
    """
    pieces = belongs.sum(dim=1).clamp(min=1)  # 0 beyond a sentence's words
    means = (belongs / pieces[:, None]).transpose(1, 2)
    return means[:, None] @ maps @ belongs[:, None]


def word_maps(reading: Reading, sentences: Sequence[Sentence]) -> Iterator[WordMaps]:
    """Run a model over a treebank; memory does not depend on the number of sentences.

    Args:
        reading: The model.
        sentences: The treebank. Those that `align` or local attention leaves out have no maps.

    Raises:
        InputError: See `align`; or all sentences are longer than local attention reaches.
    """
    tokenizer = reading.tokenizer()
    aligned = align(sentences, tokenizer, reading.max_length)
    model = reading.load()
    aligned = within_reach(aligned, model)
    lengths = [len(flags) for flags in aligned.belongs]
    with progress("Word maps", len(lengths), "sentences") as advance:
        for batch in batches_for(model, batches_of(len(lengths), reading.batch_size), lengths):
            yield _batch_maps(model, aligned, batch, tokenizer.pad_token_id)
            advance(len(batch))


def within_reach(aligned: Aligned, model: PreTrainedModel) -> Aligned:
    """Leave out sentences that are longer than local attention reaches.

    There, a word cannot attend to all others, and says little by which it attends to most.

    Raises:
        InputError: None is left.
    """
    lengths = [len(flags) for flags in aligned.belongs]
    windows = [window for window in windows_of(model, lengths[0]) if window is not None]
    longest = min(windows, default=lengths[0]) + bool(windows)
    kept = [place for place, length in enumerate(lengths) if length <= longest]
    if not kept:
        raise InputError(
            f"The {len(lengths)} sentences have {lengths[-1]} tokens or more, longer than the "
            f"local attention of the model reaches ({longest} tokens). Choose shorter sentences, "
            "or a model whose windows are larger."
        )
    return aligned.of(kept)


def _batch_maps(
    model: PreTrainedModel, aligned: Aligned, batch: range, pad_token_id: int
) -> WordMaps:
    """Word maps of all layers for a batch of sentences."""
    own = slice(batch.start, batch.stop)
    belongs = padded(aligned.belongs[own]).to(model.device)
    inputs = pad(aligned.inputs, batch, pad_token_id)
    with torch.inference_mode():
        layers = collect_maps(model, devices.move(inputs, model.device)).values()
        maps = torch.stack([reduced(layer, belongs) for layer in layers], dim=1)
    shared = belongs.transpose(1, 2) @ belongs
    words = belongs.any(dim=1)
    return WordMaps(
        aligned.numbers[own], maps, (shared == 0) & words[:, :, None] & words[:, None, :]
    )
