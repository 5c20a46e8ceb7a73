"""Structural probes: trees as distances and depths in space (Hewitt and Manning 2019)."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
import pandas as pd
import torch
from scipy.sparse.csgraph import minimum_spanning_tree, shortest_path
from scipy.stats import rankdata

from darksecrets.beyond.layers.measure.states import WordStates
from darksecrets.core.arrays import Flags, Floats, Integers
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.ratios import Ratio, ratio, share

EPOCHS = 30
BATCH = 20
RATE = 0.003
"""Of Adam, at the start; it falls linearly to 0."""
SHORTEST, LONGEST = 5, 50
"""Words of the sentences whose correlations count, as in the paper."""


@dataclass(frozen=True)
class Tree:
    """The tree of a sentence.

    Attributes:
        distances: [words, words] arcs between two words.
        depths: [words] arcs from the root.
        arcs: [arcs, 2] pairs of words that depend on each other, without punctuation.
        counted: [words] whether a word is no punctuation.
        root: The root.
    """

    distances: Floats
    depths: Floats
    arcs: Integers
    counted: Flags
    root: int

    @classmethod
    def of(cls, sentence: Sentence) -> Tree:
        """The tree that a treebank gives a sentence."""
        heads = np.array(sentence.heads)
        words = np.flatnonzero(heads != ROOT)
        graph = np.zeros((len(sentence), len(sentence)))
        graph[words, heads[words]] = 1
        distances = shortest_path(graph, directed=False)
        root = sentence.heads.index(ROOT)
        counted = np.array([label.partition(":")[0] != "punct" for label in sentence.labels])
        real = words[counted[words] & counted[heads[words]]]
        arcs = np.sort(np.stack([real, heads[real]], axis=1), axis=1)
        return cls(distances, distances[root], arcs, counted, root)

    @cached_property
    def gold(self) -> set[tuple[int, int]]:
        """Its arcs as a set."""
        return {(first, second) for first, second in self.arcs.tolist()}

    def count_found(self, distances: Floats) -> int:
        """How many of its arcs the spanning tree of [words, words] distances has."""
        return len(self.gold & spanning_tree(distances, self.counted))


@dataclass(frozen=True)
class Scores:
    """What a probe says of every sentence.

    Attributes:
        found: [sentences, layers] gold arcs in the spanning tree.
        chain: [sentences, layers] gold arcs between neighbours.
        arcs: [sentences, layers] gold arcs.
        root: [sentences, layers] whether the least deep word is the root.
        distances: [sentences, layers] see `STRUCTURAL_PROBES`; NaN for other lengths.
        depths: The same.
    """

    found: Floats
    chain: Floats
    arcs: Floats
    root: Floats
    distances: Floats
    depths: Floats


def structural_rows(
    states: WordStates, sentences: Sequence[Sentence], training: Flags, rank: int, seed: int
) -> pd.DataFrame:
    """Rows of `STRUCTURAL_PROBES` of one model.

    Args:
        states: States of words.
        sentences: The treebank.
        training: [sentences read] which of them the maps are learned on.
        rank: Dimensions that states are mapped to.
        seed: Seed of the maps and of the order of training.
    """
    trees = [Tree.of(sentences[number]) for number in states.sentences]
    learned = [
        number for number in np.flatnonzero(training).tolist() if len(trees[number].depths) > 1
    ]
    scored = [n for n in np.flatnonzero(~training).tolist() if len(trees[n].arcs)]
    if not learned or len(scored) < 2:
        return pd.DataFrame()
    maps = learn(states, trees, learned, rank, seed)
    scores = score(states, trees, scored, maps)
    on_training = count_found(states, trees, learned, maps).sum(axis=0)
    found = {
        "uuas": share(scores.found, scores.arcs),
        "over_chain": ratio(scores.found - scores.chain, scores.arcs),
        "root_accuracy": share(scores.root, np.ones_like(scores.root)),
        "distance_correlation": _mean_of_known(scores.distances),
        "depth_correlation": _mean_of_known(scores.depths),
    }
    lows = {"over_chain": -1, "distance_correlation": -1, "depth_correlation": -1}
    columns = {
        key: values
        for name, one in found.items()
        for key, values in one.columns(name, lows.get(name, 0), 1).items()
    }
    chain = scores.chain.sum(axis=0) / scores.arcs.sum(axis=0)
    return pd.DataFrame(
        {
            "layer": list(states.layers),
            **columns,
            "chain": chain,
            "selected": np.arange(len(on_training)) == on_training.argmax(),
            "sentences": len(scored),
        }
    )


def _mean_of_known(values: Floats) -> Ratio:
    """The mean over sentences that have a value."""
    known = ~np.isnan(values)
    return ratio(np.where(known, values, 0), known.astype(np.float64))


@dataclass(frozen=True)
class Maps:
    """The linear maps of all layers, on states that are divided by the layer's scale.

    Attributes:
        distance: [layers, size, rank].
        depth: [layers, size, rank].
        scale: [layers, 1, 1].
    """

    distance: torch.Tensor
    depth: torch.Tensor
    scale: torch.Tensor

    def distances(self, own: torch.Tensor) -> torch.Tensor:
        """[layers, sentences, words, words] squared distances of states [..., words, size]."""
        mapped = torch.einsum("lbws,lsr->lbwr", own / self.scale[..., None], self.distance)
        squares = mapped.square().sum(dim=-1)
        products = mapped @ mapped.transpose(2, 3)
        apart = squares[..., :, None] + squares[..., None, :] - 2 * products
        return apart.clamp(min=0)

    def depths(self, own: torch.Tensor) -> torch.Tensor:
        """[layers, sentences, words] squared lengths."""
        mapped = torch.einsum("lbws,lsr->lbwr", own / self.scale[..., None], self.depth)
        return mapped.square().sum(dim=-1)


def learn(
    states: WordStates, trees: Sequence[Tree], learned: Sequence[int], rank: int, seed: int
) -> Maps:
    """Learn the maps of all layers at once, by the mean absolute difference (their equation 3)."""
    layers, _, size = states.states.shape
    rng, generator = np.random.default_rng(seed), torch.Generator().manual_seed(seed)
    start = torch.randn((size, rank), generator=generator) / size**0.5
    distance, depth = (start.repeat(layers, 1, 1).requires_grad_() for _ in range(2))
    rows = np.concatenate([_rows(states, number) for number in learned])
    scale = [max(float(own[rows].astype(np.float32).std()), 1e-6) for own in states.states]
    maps = Maps(distance, depth, torch.tensor(scale)[:, None, None])
    batches = -(-len(learned) // BATCH)
    optimizer = torch.optim.Adam([distance, depth], lr=RATE)
    schedule = torch.optim.lr_scheduler.LinearLR(optimizer, 1, 0, total_iters=EPOCHS * batches)
    with progress("Structural probes", EPOCHS, "epochs") as advance:
        for _ in range(EPOCHS):
            order = rng.permutation(learned).tolist()
            for first in range(0, len(order), BATCH):
                chosen = order[first : first + BATCH]
                loss = _loss(maps, states, trees, chosen)
                optimizer.zero_grad()
                loss.backward()  # type: ignore[no-untyped-call]
                optimizer.step()
                schedule.step()
            advance(1)
    return Maps(distance.detach(), depth.detach(), maps.scale)


def _loss(
    maps: Maps, states: WordStates, trees: Sequence[Tree], chosen: Sequence[int]
) -> torch.Tensor:
    """The losses of distances and depths, mean over sentences; each layer has its own part."""
    own, words = padded_states(states, chosen)
    longest = own.shape[2]
    gold, deep = torch.zeros(len(chosen), longest, longest), torch.zeros(len(chosen), longest)
    for place, number in enumerate(chosen):
        count = len(trees[number].depths)
        gold[place, :count, :count] = torch.from_numpy(trees[number].distances)
        deep[place, :count] = torch.from_numpy(trees[number].depths)
    real = torch.arange(longest) < words[:, None]
    pairs = real[:, :, None] & real[:, None, :]
    apart = ((maps.distances(own) - gold).abs() * pairs).sum(dim=(2, 3)) / words**2
    depth = ((maps.depths(own) - deep).abs() * real).sum(dim=2) / words
    return (apart + depth).mean(dim=1).sum()


def padded_states(states: WordStates, chosen: Sequence[int]) -> tuple[torch.Tensor, torch.Tensor]:
    """States of sentences, [layers, sentences, words, size], and the words of each, [sentences]."""
    layers, _, size = states.states.shape
    words = np.diff(states.starts)[list(chosen)]
    own = torch.zeros(layers, len(chosen), int(words.max()), size)
    for place, number in enumerate(chosen):
        rows = _rows(states, number)
        found = np.asarray(states.states[:, rows[0] : rows[-1] + 1], dtype=np.float32)
        own[:, place, : len(rows)] = torch.from_numpy(found)
    return own, torch.from_numpy(words)


def _rows(states: WordStates, number: int) -> Integers:
    return np.arange(states.starts[number], states.starts[number + 1])


def score(states: WordStates, trees: Sequence[Tree], scored: Sequence[int], maps: Maps) -> Scores:
    """Score the maps on sentences that they have not learned."""
    rows = []
    for number in scored:
        tree = trees[number]
        own, _ = padded_states(states, [number])
        distances, depths = _apply(maps.distances, own), _apply(maps.depths, own)
        chain = len(tree.gold & _neighbours(tree.counted))
        rows.append(
            [
                (
                    tree.count_found(apart),
                    chain,
                    len(tree.arcs),
                    np.where(tree.counted, deep, np.inf).argmin() == tree.root,
                    *_correlations(tree, apart, deep),
                )
                for apart, deep in zip(distances, depths, strict=True)
            ]
        )
    return Scores(*np.array(rows, dtype=np.float64).transpose(2, 0, 1))


def count_found(
    states: WordStates, trees: Sequence[Tree], chosen: Sequence[int], maps: Maps
) -> Floats:
    """[sentences, layers] gold arcs in the spanning trees of some sentences."""
    found = np.zeros((len(chosen), len(states.layers)))
    for row, number in zip(found, chosen, strict=True):
        own, _ = padded_states(states, [number])
        distances = _apply(maps.distances, own)
        row[:] = [trees[number].count_found(apart) for apart in distances]
    return found


def _apply(measure: Callable[[torch.Tensor], torch.Tensor], own: torch.Tensor) -> Floats:
    """[layers, ...] distances or depths of a sentence with states [layers, 1, words, size]."""
    with torch.no_grad():
        found: Floats = measure(own)[:, 0].double().numpy()
    return found


def _neighbours(counted: Flags) -> set[tuple[int, int]]:
    """Arcs of a chain of the words that count."""
    words = np.flatnonzero(counted).tolist()
    return set(itertools.pairwise(words))


def spanning_tree(distances: Floats, counted: Flags) -> set[tuple[int, int]]:
    """The arcs of the minimum spanning tree of the words that count.

    Args:
        distances: [words, words].
        counted: [words] which words it spans.
    """
    words = np.flatnonzero(counted)
    own = distances[np.ix_(words, words)]
    # Absent arcs are 0 to SciPy; words at the same place have an arc nonetheless.
    tree = minimum_spanning_tree(np.triu(own + 1, 1)).tocoo()
    return {
        (int(words[first]), int(words[second]))
        for first, second in zip(tree.row.tolist(), tree.col.tolist(), strict=True)
    }


def _correlations(tree: Tree, distances: Floats, depths: Floats) -> tuple[float, float]:
    """Spearman's correlations of one sentence; NaN for those too short or too long."""
    words = len(depths)
    if not SHORTEST <= words <= LONGEST:
        return np.nan, np.nan
    others = ~np.eye(words, dtype=bool)
    of_words = [
        spearman(tree.distances[word, others[word]], distances[word, others[word]])
        for word in range(words)
    ]
    return float(np.mean(of_words)), spearman(tree.depths, depths)


def spearman(first: Floats, second: Floats) -> float:
    """Spearman's correlation; 0 where either is constant, which says nothing of the other."""
    ranks = np.stack([rankdata(first), rankdata(second)])
    ranks -= ranks.mean(axis=1, keepdims=True)
    norms = np.linalg.norm(ranks, axis=1)
    if not norms.all():
        return 0.0
    return float(ranks[0] @ ranks[1] / norms.prod())
