"""Hidden states of words and of examples, of all layers; layer 0 is the embeddings."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import torch

from darksecrets.core.arrays import Halves, Integers
from darksecrets.core.attention.extraction import (
    Inputs,
    batches_for,
    batches_of,
    encode_longest_first,
    pad,
)
from darksecrets.core.attention.pieces import align, padded
from darksecrets.core.data.sentences import Sentence
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import observe, shape_of
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel


@dataclass(frozen=True)
class WordStates:
    """States of the words of sentences, in the order of the sentences.

    Attributes:
        sentences: [sentences read] their numbers in the treebank; those that the model cannot read
            whole are left out.
        starts: [sentences read + 1] the row of the first word of each; the last is their end.
        states: [layers + 1, words, size] mean over the pieces of a word, on disk.
    """

    sentences: list[int]
    starts: Integers
    states: Halves

    @property
    def layers(self) -> range:
        """Numbers of the layers, with 0."""
        return range(len(self.states))

    @property
    def sentence(self) -> Integers:
        """[words] the number of each word's sentence, among those that were read."""
        return np.repeat(np.arange(len(self.sentences)), np.diff(self.starts))


@dataclass(frozen=True)
class ExampleStates:
    """States of the first token of examples, and of some of their words' pieces.

    Attributes:
        first: [layers + 1, examples, size] states of [CLS].
        tokens: [layers + 1, tokens, size] states of the tokens chosen.
        example: [tokens] the example of each.
        segment: [tokens] which sentence of the pair it is in, 0 or 1.
        piece: [tokens] its number in the vocabulary.
    """

    first: Halves
    tokens: Halves
    example: Integers
    segment: Integers
    piece: Integers


TOKENS = 4
"""Tokens of an example whose states are kept."""


def word_states(reading: Reading, sentences: Sequence[Sentence], file: Path) -> WordStates:
    """Run a model over a treebank once; memory does not grow with the number of sentences.

    Args:
        reading: The model.
        sentences: The treebank.
        file: Where the states are written.

    Raises:
        InputError: No sentence can be read whole, see `core.attention.pieces.align`; or a state is
            too large.
    """
    tokenizer = reading.tokenizer()
    aligned = align(sentences, tokenizer, reading.max_length)
    read = sorted(aligned.numbers)
    starts = np.cumsum([0, *(len(sentences[number]) for number in read)])
    first = dict(zip(read, starts.tolist(), strict=False))
    model = reading.load()
    size = model.config.hidden_size
    shape = (shape_of(model).layers + 1, int(starts[-1]), size)
    states = np.lib.format.open_memmap(file, mode="w+", dtype=np.float16, shape=shape)
    lengths = [len(flags) for flags in aligned.belongs]
    padding = tokenizer.pad_token_id
    for batch, hidden in hidden_states(model, reading, aligned.inputs, lengths, padding):
        belongs = padded(aligned.belongs[batch.start : batch.stop]).to(hidden.device)
        pieces = belongs.sum(dim=1).clamp(min=1)
        means = ((belongs / pieces[:, None]).transpose(1, 2)[:, None] @ hidden).half().cpu()
        for place, own in zip(batch, means.numpy(), strict=True):
            number = aligned.numbers[place]
            words = len(sentences[number])
            states[:, first[number] : first[number] + words] = _checked(own[:, :words], reading)
    states.flush()
    return WordStates(read, starts, states)


def example_states(
    reading: Reading, columns: Mapping[str, Sequence[Any]], seed: int
) -> ExampleStates:
    """Run a model over examples of a task once.

    Args:
        reading: The model.
        columns: The sentences of the examples, see `core.data.encoding.encode`.
        seed: Seed of the choice of tokens, `TOKENS` of each example; the same for every model.

    Raises:
        InputError: A state is too large.
    """
    tokenizer = reading.tokenizer()
    table, inputs = encode_longest_first(columns, tokenizer, reading.max_length)
    model = reading.load()
    chosen = _choose(table.to_dict("records"), seed)
    lengths = [len(ids) for ids in inputs["input_ids"]]
    firsts, tokens = [], []
    padding = tokenizer.pad_token_id
    for batch, hidden in hidden_states(model, reading, inputs, lengths, padding):
        halves = hidden.half().cpu().numpy()
        firsts.append(_checked(halves[:, :, 0].copy(), reading))
        for place, own in zip(batch, halves, strict=True):
            tokens.append(_checked(own[:, chosen[place]], reading))
    order = np.argsort(table["idx"].to_numpy())
    example = np.repeat(table["idx"].to_numpy(), [len(places) for places in chosen])
    flat = [
        np.concatenate([np.asarray(row)[places] for row, places in zip(rows, chosen, strict=True)])
        for rows in (table["segments"], inputs["input_ids"])
    ]
    return ExampleStates(
        first=np.concatenate(firsts)[order].swapaxes(0, 1),
        tokens=np.concatenate(tokens, axis=1),
        example=example,
        segment=flat[0].astype(np.int64),
        piece=flat[1].astype(np.int64),
    )


def _checked(states: Halves, reading: Reading) -> Halves:
    """The states; of infinite ones a probe would learn nothing, and not say so."""
    if not np.isfinite(states).all():
        raise InputError(
            f"{reading.folder}: a hidden state is beyond ±{np.finfo(np.float16).max:,.0f}, the "
            "largest number of half precision, or is no number. Such states cannot be probed. "
            "Leave the analysis `layers` out."
        )
    return states


def _choose(rows: Sequence[Mapping[Any, Any]], seed: int) -> list[Integers]:
    """For every row, the places of the tokens that are kept: no special ones."""
    chosen = []
    for row in rows:
        places = np.flatnonzero(~np.asarray(row["special"], dtype=bool))
        rng = np.random.default_rng([seed, row["idx"]])
        chosen.append(np.sort(rng.permutation(places)[:TOKENS]))
    return chosen


def hidden_states(
    model: PreTrainedModel,
    reading: Reading,
    inputs: Inputs,
    lengths: Sequence[int],
    padding: int,
) -> Iterator[tuple[range, torch.Tensor]]:
    """Run a model; yield the places of a batch, and its states [example, layer, token, size]."""
    with progress("Hidden states", len(lengths), "texts") as advance:
        for batch in batches_for(model, batches_of(len(lengths), reading.batch_size), lengths):
            tensors = pad(inputs, batch, padding)
            given = devices.move(tensors, model.device)
            with torch.inference_mode(), observe(model, hidden=True) as seen:
                model(**given)
                yield batch, seen.hidden.stack().float()
            advance(len(batch))
