"""Probes that predict the head of every word from attention, and what to compare them with.

A probe gives every pair of a word and a candidate a score; the probability that the candidate is
the word's head is the softmax over all other words of the sentence (Clark et al. 2019, section 5).
With α for the attention of one head, and i the candidate head of word j, the scores are

    attention:            Σ  w α_ij + u α_ji
    attention and words:  Σ  W(v_i ⊕ v_j) α_ij + U(v_i ⊕ v_j) α_ji,   and the former

summed over all heads of the encoder. Both are linear in what is learned, so that the penalised
likelihood has one maximum, which does not depend on a seed or a learning rate.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields

import numpy as np
import numpy.typing as npt
import torch
from torch import nn

Floats = npt.NDArray[np.float64]

FURTHEST = 8
"""Distances in words up to which each has a weight of its own."""
_HIDDEN = 64
_STEPS = 50  # of L-BFGS, after which linear probes have converged
_PENALTY = 1.0  # of half the squared weights, beside the sum of the log-likelihoods


@dataclass(frozen=True)
class Sentences:
    """Sentences of a batch, padded to the length L.

    Attributes:
        numbers: [sentences] their numbers in the treebank.
        attention: [sentences, L, 2 heads, L] for a word and, last, a candidate: the weights from
            the word to the candidate, then those from the candidate to the word, of all heads.
        words: [sentences, L, size] vectors of the words.
        apart: [sentences, L, L] whether a word may be a candidate for another.
        heads: [sentences, L] place of the head of each word; -1 for what is not asked for.
    """

    numbers: torch.Tensor
    attention: torch.Tensor
    words: torch.Tensor
    apart: torch.Tensor
    heads: torch.Tensor

    def of(self, chosen: torch.Tensor) -> Sentences:
        """Some of the sentences; ``chosen`` is [sentences of the treebank], whether each is."""
        own = chosen[self.numbers]
        return Sentences(*(getattr(self, field.name)[own] for field in fields(self)))


class Probe(nn.Module):
    """A probe: `forward` maps sentences to scores [sentences, word, candidate]."""


class Attention(Probe):
    """The attention-only probe.

    Args:
        features: Twice the number of heads of the encoder.
    """

    def __init__(self, features: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(features))

    def forward(self, part: Sentences) -> torch.Tensor:
        """Scores [sentences, word, candidate]."""
        scores: torch.Tensor = self.weights @ part.attention
        return scores


class AttentionAndWords(Probe):
    """The attention-and-words probe: weights of heads depend on both words.

    Args:
        features: Twice the number of heads of the encoder.
        size: Size of the word vectors.
    """

    def __init__(self, features: int, size: int) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(features))
        self.word_weights = nn.Parameter(torch.zeros(size, features))
        self.candidate_weights = nn.Parameter(torch.zeros(size, features))

    def forward(self, part: Sentences) -> torch.Tensor:
        """Scores [sentences, word, candidate]."""
        word = self.weights + part.words @ self.word_weights
        scores = (word[:, :, None] @ part.attention)[:, :, 0]
        # With the two directions exchanged, `attention` is that of [candidate, feature, word].
        exchanged = (part.words @ self.candidate_weights).roll(
            part.attention.shape[2] // 2, dims=-1
        )
        mirrored = (exchanged[:, :, None] @ part.attention)[:, :, 0]
        total: torch.Tensor = scores + mirrored.transpose(1, 2)
        return total


class Distances(Probe):
    """A weight for every distance, and none of attention."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Parameter(torch.zeros(2 * FURTHEST + 3))

    def forward(self, part: Sentences) -> torch.Tensor:
        """Scores [sentences, word, candidate]."""
        scores = self.weights[distances(part.heads.shape[1])]
        return scores.expand(len(part.heads), -1, -1)


class DistancesAndWords(Probe):
    """One hidden layer over both words and their distance, without attention.

    Args:
        size: Size of the word vectors.
        seed: Seed of the first weights.
    """

    def __init__(self, size: int, seed: int) -> None:
        super().__init__()
        rng = torch.Generator().manual_seed(seed)

        def drawn(*shape: int) -> nn.Parameter:
            return nn.Parameter(torch.randn(shape, generator=rng) / math.sqrt(_HIDDEN))

        self.word_weights, self.candidate_weights = drawn(size, _HIDDEN), drawn(size, _HIDDEN)
        self.distance_weights, self.out = drawn(2 * FURTHEST + 3, _HIDDEN), drawn(_HIDDEN)

    def forward(self, part: Sentences) -> torch.Tensor:
        """Scores [sentences, word, candidate]."""
        word = (part.words @ self.word_weights)[:, :, None]
        candidate = (part.words @ self.candidate_weights)[:, None]
        distance = self.distance_weights[distances(part.heads.shape[1])]
        scores: torch.Tensor = torch.tanh(word + candidate + distance) @ self.out
        return scores


def distances(length: int) -> torch.Tensor:
    """[word, candidate] number of the distance: all beyond `FURTHEST` on one side are one."""
    places = torch.arange(length)
    return (places - places[:, None]).clamp(-FURTHEST - 1, FURTHEST + 1) + FURTHEST + 1


def log_probabilities(probe: Probe, part: Sentences) -> torch.Tensor:
    """[sentences, word, candidate] logarithms of the probabilities; -inf if it is no candidate."""
    some = part.apart.any(dim=-1, keepdim=True)  # a word without candidates is not asked for
    scores: torch.Tensor = probe(part).masked_fill(some & ~part.apart, -math.inf)
    return scores.log_softmax(dim=-1)


def loss(probe: Probe, parts: Sequence[Sentences]) -> torch.Tensor:
    """Negative sum of the log-likelihoods of all heads asked for, and the penalty."""
    total = sum((weights**2).sum() for weights in probe.parameters()) * (_PENALTY / 2)
    for part in parts:
        asked = part.heads >= 0
        found = log_probabilities(probe, part).gather(2, part.heads.clamp(min=0)[..., None])
        total = total - found[..., 0][asked].sum()
    return torch.as_tensor(total)


def fit(probe: Probe, parts: Sequence[Sentences]) -> Probe:
    """Maximise the penalised likelihood of the heads, with all sentences at once."""
    optimiser = torch.optim.LBFGS(
        probe.parameters(), max_iter=_STEPS, history_size=10, line_search_fn="strong_wolfe"
    )

    def evaluate() -> torch.Tensor:
        optimiser.zero_grad()
        value = loss(probe, parts)
        value.backward()  # type: ignore[no-untyped-call]
        return value

    optimiser.step(evaluate)  # type: ignore[no-untyped-call]
    return probe


@torch.no_grad()
def hits(probe: Probe, parts: Sequence[Sentences], sentences: int) -> Floats:
    """[sentences] words of each whose head has the greatest probability; 0 for those not given."""

    def right(part: Sentences) -> torch.Tensor:
        best = log_probabilities(probe, part).argmax(dim=-1)
        return (best == part.heads) & (part.heads >= 0)

    return counted(parts, sentences, right)


def counted(
    parts: Sequence[Sentences], sentences: int, which: Callable[[Sentences], torch.Tensor]
) -> Floats:
    """[sentences] how many words of each have a property, [sentences, L]; 0 for those not given."""
    found = np.zeros(sentences)
    for part in parts:
        found[part.numbers.numpy()] = which(part).sum(dim=1).numpy()
    return found
