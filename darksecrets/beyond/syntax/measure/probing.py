"""Train the probes of a treebank on one half of its documents and score them on the other.

Both halves are scored, each by probes that were trained on the other one. Sentences of a document
resemble each other, so they are in the same half, and intervals are over documents.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import cast

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from torch import nn
from torch.nn.utils.rnn import pad_sequence

from darksecrets.beyond.syntax.declared import (
    ATTENTION,
    ATTENTION_AND_WORDS,
    ATTENTION_PROBES,
    DISTANCES,
    DISTANCES_AND_WORDS,
    NEXT,
    OFFSET,
)
from darksecrets.beyond.syntax.measure.probes import (
    Attention,
    AttentionAndWords,
    Distances,
    DistancesAndWords,
    Probe,
    Sentences,
    counted,
    fit,
    hits,
)
from darksecrets.beyond.syntax.measure.words import WordMaps, word_maps
from darksecrets.core.attention.pieces import align
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.models.loading import load_encoder
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.ratios import Ratio, ratio, share
from darksecrets.core.stats.resampling import group_sums, stratified_halves
from darksecrets.paper.features.labels import is_punctuation

Floats = npt.NDArray[np.float64]
Integers = npt.NDArray[np.int64]

SIZE = 50
"""Size of the word vectors."""
_OFFSETS = tuple(offset for offset in range(-8, 9) if offset)
_LEAST = 1e-6  # root mean square of a feature that does not vary


def chosen(sentences: Sequence[Sentence], most: int, seed: int) -> list[Sentence]:
    """A random choice of sentences in their order; all of them if there are not more."""
    rng = np.random.default_rng(seed)
    places = rng.permutation(len(sentences))[:most]
    return [sentences[place] for place in sorted(places)]


def word_vectors(sentences: Sequence[Sentence], reading: Reading) -> list[torch.Tensor]:
    """[words, size] a vector for every word: the encoder's own embedding of its first piece.

    They stand in for GloVe's. Only the main components of the words of the treebank are kept, and
    vectors have a mean square length of 1. Sentences that are too long have none.
    """
    aligned = align(sentences, reading.tokenizer(), reading.max_length)
    embedding = cast("nn.Embedding", load_encoder(reading.folder).get_input_embeddings())
    table = embedding.weight.detach().double()
    rows = [
        table[torch.from_numpy(ids.astype(np.int64))[flags.argmax(axis=0)]]
        for ids, flags in zip(aligned.inputs["input_ids"], aligned.belongs, strict=True)
    ]
    every = torch.cat(rows)
    centred = every - every.mean(dim=0)
    axes = torch.linalg.eigh(centred.T @ centred).eigenvectors
    kept = (centred @ axes[:, -SIZE:]).float()
    kept /= kept.square().sum(dim=1).mean().sqrt().clamp(min=_LEAST)
    found = [torch.zeros(0, kept.shape[1])] * len(sentences)
    parts = kept.split([len(row) for row in rows])
    for number, vectors in zip(aligned.numbers, parts, strict=True):
        found[number] = vectors
    return found


def gather(
    sentences: Sequence[Sentence], vectors: Sequence[torch.Tensor], reading: Reading
) -> list[Sentences]:
    """What probes read, and the heads that they are asked for, in batches.

    Features are divided by their root mean square, so that the penalty treats all heads alike.

    Args:
        sentences: The treebank.
        vectors: See `word_vectors`.
        reading: The encoder.
    """
    parts = [_part(batch, sentences, vectors) for batch in word_maps(reading, sentences)]
    _scale(parts)
    return parts


def _part(
    batch: WordMaps, sentences: Sequence[Sentence], vectors: Sequence[torch.Tensor]
) -> Sentences:
    """What probes read of a batch; it is padded as the batch is."""
    apart = batch.apart.cpu()
    heads = torch.full(apart.shape[:2], -1)
    for number, own in zip(batch.numbers, heads, strict=True):
        asked = torch.tensor(asked_of(sentences[number]))
        own[: len(asked)] = asked
    found = apart.gather(2, heads.clamp(min=0)[..., None])[..., 0]
    return Sentences(
        torch.tensor(batch.numbers),
        features_of(batch.maps.float().cpu()),
        pad_sequence([vectors[number] for number in batch.numbers], batch_first=True),
        apart,
        heads.where(found, -1),
    )


def features_of(maps: torch.Tensor) -> torch.Tensor:
    """[sentence, word, 2 heads, candidate], from [sentence, layer, head, word, word]."""
    heads = maps.flatten(1, 2)
    return torch.cat([heads.permute(0, 2, 1, 3), heads.permute(0, 3, 1, 2)], dim=2)


def asked_of(sentence: Sentence) -> list[int]:
    """Heads of the words that have one; -1 for the root and for punctuation."""
    pairs = zip(sentence.heads, sentence.labels, strict=True)
    return [-1 if head == ROOT or is_punctuation(label) else head for head, label in pairs]


def _scale(parts: Sequence[Sentences]) -> None:
    """Divide every feature by its root mean square over all pairs of words, in place."""
    squares = [
        torch.einsum("swfc,swc->f", part.attention.square(), part.apart.float()) for part in parts
    ]
    cells = sum(part.apart.sum() for part in parts)
    size = (torch.stack(squares).sum(dim=0) / cells).sqrt().clamp(min=_LEAST)
    for part in parts:
        part.attention.div_(size[:, None])


def shuffled(parts: Sequence[Sentences], seed: int) -> list[Sentences]:
    """The same sentences with trees of the same shapes, whose words are exchanged at random."""
    rng = torch.Generator().manual_seed(seed)
    found = []
    for part in parts:
        heads = torch.full_like(part.heads, -1)
        for own, other, apart in zip(part.heads, heads, part.apart, strict=True):
            asked = torch.nonzero(own >= 0)[:, 0]
            words = torch.nonzero(apart.any(dim=0))[:, 0]
            order = torch.randperm(int(words[-1]) + 1 if len(words) else 0, generator=rng)
            other[order[asked]] = order[own[asked]]
        possible = part.apart.gather(2, heads.clamp(min=0)[..., None])[..., 0]
        found.append(replace(part, heads=heads.where(possible, -1)))
    return found


# ---------------------------------------------------------------------------------------- scores


@dataclass(frozen=True)
class Scores:
    """How many heads a prediction finds in every sentence.

    Attributes:
        hits: [sentences] words whose head is found.
        sizes: [sentences] words that are asked for.
    """

    hits: Floats
    sizes: Floats

    def share(self, units: Integers) -> Ratio:
        """Share of the words, with its interval over the units of the sentences."""
        return share(*self._sum_units(self.hits, units))

    def excess_over(self, other: Scores, units: Integers) -> Ratio:
        """How much larger the share is than that of another prediction of the same words."""
        return ratio(*self._sum_units(self.hits - other.hits, units))

    def _sum_units(self, values: Floats, units: Integers) -> tuple[Floats, Floats]:
        """Sums over the sentences of every unit, of values and of sizes."""
        sums = group_sums(np.stack([values, self.sizes], axis=1), units)
        return sums[:, 0], sums[:, 1]


def units_of(sentences: Sequence[Sentence]) -> Integers:
    """[sentences] number of the document of each; of the sentence, if all are of one document."""
    documents = np.array([sentence.document for sentence in sentences])
    if (documents == documents[0]).all():
        documents = np.arange(len(sentences))
    numbers: Integers = np.unique(documents, return_inverse=True)[1]
    return numbers


def halves_of(units: Integers, seed: int) -> Integers:
    """[sentences] 0 or 1 at random, the same for all sentences of a unit."""
    strata = np.zeros(int(units.max()) + 1)
    return stratified_halves(strata, np.random.default_rng(seed))[units]


def cross_fitted(make: Callable[[], Probe], parts: Sequence[Sentences], half: Integers) -> Scores:
    """Train a probe on either half of the sentences and score it on the other.

    Args:
        make: Makes an untrained probe.
        parts: All sentences.
        half: [sentences of the treebank] 0 or 1.
    """
    found = np.zeros(len(half))
    for side in (0, 1):
        own = torch.from_numpy(half == side)
        probe = fit(make(), [part.of(own) for part in parts])
        found += hits(probe, [part.of(~own) for part in parts], len(half))
    return Scores(found, sizes_of(parts, len(half)))


def sizes_of(parts: Sequence[Sentences], sentences: int) -> Floats:
    """[sentences] words that are asked for."""
    return counted(parts, sentences, lambda part: part.heads >= 0)


def hits_of_offset(parts: Sequence[Sentences], sentences: int, offset: int) -> Floats:
    """[sentences] words whose head is at a fixed distance, positive if it follows them."""

    def right(part: Sentences) -> torch.Tensor:
        places = torch.arange(part.heads.shape[1])
        return (part.heads >= 0) & (part.heads == places + offset)

    return counted(parts, sentences, right)


def best_offset(parts: Sequence[Sentences], half: Integers) -> Scores:
    """The best fixed distance of either half of the sentences, scored on the other."""
    every = np.stack([hits_of_offset(parts, len(half), offset) for offset in _OFFSETS])
    found = np.zeros(len(half))
    for side in (0, 1):
        best = every[:, half == side].sum(axis=1).argmax()
        found += np.where(half == side, 0, every[best])
    return Scores(found, sizes_of(parts, len(half)))


# ---------------------------------------------------------------------------------------- table


def predict_without_attention(
    parts: Sequence[Sentences], half: Integers, seed: int
) -> dict[str, Scores]:
    """Predictions that read no attention."""
    size = parts[0].words.shape[-1]
    following = hits_of_offset(parts, len(half), 1)
    return {
        DISTANCES_AND_WORDS: cross_fitted(lambda: DistancesAndWords(size, seed), parts, half),
        DISTANCES: cross_fitted(Distances, parts, half),
        OFFSET: best_offset(parts, half),
        NEXT: Scores(following, sizes_of(parts, len(half))),
    }


def probe_attention(parts: Sequence[Sentences], half: Integers) -> Iterator[tuple[str, Scores]]:
    """Both probes of attention."""
    features, size = parts[0].attention.shape[2], parts[0].words.shape[-1]
    yield ATTENTION, cross_fitted(lambda: Attention(features), parts, half)
    words = cross_fitted(lambda: AttentionAndWords(features, size), parts, half)
    yield ATTENTION_AND_WORDS, words


def probe_table(
    sentences: Sequence[Sentence], reading: Reading, random: Reading, seed: int
) -> pd.DataFrame:
    """The table `attention_probes` of an encoder, without the columns that identify it.

    Args:
        sentences: The treebank. All word maps of those that the encoder can read are in memory.
        reading: The encoder.
        random: The same with random weights, for the control.
        seed: Seed of the halves, the exchanged words, and the first weights of hidden layers.
    """
    units = units_of(sentences)
    half = halves_of(units, seed)
    vectors = word_vectors(sentences, reading)
    parts = gather(sentences, vectors, reading)
    with progress("Probes", 4, "steps") as advance:
        scores = dict(probe_attention(parts, half))
        advance(1)
        scores |= predict_without_attention(parts, half, seed)
        advance(1)
        exchanged = dict(probe_attention(shuffled(parts, seed), half))
        del parts
        advance(1)
        untrained = dict(probe_attention(gather(sentences, vectors, random), half))
        advance(1)
    return table_of(scores, exchanged, untrained, units)


def table_of(
    scores: Mapping[str, Scores],
    exchanged: Mapping[str, Scores],
    untrained: Mapping[str, Scores],
    units: Integers,
) -> pd.DataFrame:
    """The table, from the scores of all probes and of the controls.

    Args:
        scores: By probe.
        exchanged: Of the probes of attention, with exchanged words.
        untrained: The same with random weights.
        units: See `units_of`.
    """
    rows = []
    for name, own in scores.items():
        row: dict[str, object] = {"probe": name, **own.share(units).columns("uas", 0, 1)}
        if name in exchanged:
            row |= exchanged[name].share(units).columns("shuffled", 0, 1)
            row |= untrained[name].share(units).columns("random", 0, 1)
            row |= own.excess_over(untrained[name], units).columns("over_random", -1, 1)
        row |= own.excess_over(scores[OFFSET], units).columns("over_offset", -1, 1)
        row |= own.excess_over(scores[DISTANCES_AND_WORDS], units).columns("over_words", -1, 1)
        row |= {"words": int(own.sizes.sum()), "sentences": int((own.sizes > 0).sum())}
        rows.append(row)
    found = pd.DataFrame(rows)
    return ATTENTION_PROBES.select(found)
