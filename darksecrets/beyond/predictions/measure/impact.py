"""What words say of each other's masked states, and the trees of that (Wu et al. 2020)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.predictions.declared import ANY, PROJECTIVE
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.attention.pieces import Aligned, align
from darksecrets.core.data.arcs import count_found, count_in_chains, gold_arcs
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.models.hooks import observe
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.arborescence import arborescences
from darksecrets.core.stats.ratios import ratio, share

_ROWS = 64
"""Sequences of a batch."""


def impact_rows(reading: Reading, sentences: Sequence[Sentence]) -> pd.DataFrame:
    """Rows of `TREES` of one model.

    Args:
        reading: The model.
        sentences: Sentences with their gold trees; those that it cannot read whole are left out.

    Raises:
        InputError: The tokenizer has no mask token, or no sentence can be read whole.
    """
    tokenizer = reading.tokenizer()
    if tokenizer.mask_token_id is None:
        raise InputError(
            f"{reading.folder}: the tokenizer has no mask token, so no word can be masked. Leave "
            "the analysis `predictions` out."
        )
    aligned, model = align(sentences, tokenizer, reading.max_length), reading.load()
    counts: dict[str, list[Counts]] = {PROJECTIVE: [], ANY: []}
    with progress("Impact", len(aligned.numbers), "sentences") as advance:
        for place, number in enumerate(aligned.numbers):
            sentence = sentences[number]
            impact = impacts(model, aligned, place, tokenizer.mask_token_id)
            root = sentence.heads.index(ROOT)
            whole = arborescences(impact[None], np.array([root]))[0]
            for tree, heads in {PROJECTIVE: eisner(impact, root), ANY: whole}.items():
                counts[tree].append(Counts.of(heads, sentence))
            advance(1)
    last = int(model.config.num_hidden_layers)
    rows = [{"tree": tree, "layer": last, **tree_row(found)} for tree, found in counts.items()]
    return pd.DataFrame(rows)


def impacts(model: PreTrainedModel, aligned: Aligned, place: int, mask: int) -> Floats:
    """F_ij = ‖h_i(x∖i) − h_i(x∖{i, j})‖ in the last layer, for all words of a sentence.

    A word is masked with all of its pieces, and its state is their mean. T(T + 1)/2 passes, since
    the states of both words are taken from the pass that masks both.

    Args:
        model: An encoder.
        aligned: Sentences.
        place: Which of them.
        mask: Number of the mask token.

    Returns:
        [words, words] impact of word j on word i; 0 on the diagonal.
    """
    belongs = aligned.belongs[place]
    words = belongs.shape[1]
    first, second = np.triu_indices(words)
    hidden = belongs[:, first] | belongs[:, second]  # [token, pass]
    ids = np.where(hidden.T, mask, aligned.inputs["input_ids"][place])
    others = {name: rows[place] for name, rows in aligned.inputs.items() if name != "input_ids"}
    means = (belongs / np.maximum(belongs.sum(axis=0), 1)).astype(np.float32)
    weights = torch.from_numpy(np.stack([means.T[first], means.T[second]], axis=1))
    found = []
    for start in range(0, len(ids), _ROWS):
        some = slice(start, start + _ROWS)
        given = {"input_ids": torch.from_numpy(ids[some]).long().to(model.device)}
        for name, row in others.items():
            given[name] = torch.from_numpy(row).long().expand(len(ids[some]), -1).to(model.device)
        with torch.inference_mode(), observe(model, hidden=True) as seen:
            model(**given)
            last = seen.hidden[max(seen.hidden)].float()
        found.append((weights[some].to(last.device) @ last).cpu().double().numpy())
    both = np.concatenate(found)  # [pass, 2, size]
    states = np.zeros((words, words, both.shape[2]))
    states[first, second], states[second, first] = both[:, 0], both[:, 1]
    alone = states[np.arange(words), np.arange(words)]
    distances: Floats = np.linalg.norm(states - alone[:, None], axis=2)
    np.fill_diagonal(distances, 0)
    return distances


def eisner(scores: Floats, root: int) -> Integers:
    """The best tree without crossing arcs, with a given root (Eisner 1996).

    Args:
        scores: [word, head] score of every arc.
        root: The word that has no head.

    Returns:
        [words] head of every word; the root is its own.
    """
    size = len(scores)
    # closed[d][i, j]: the best of i to j, headed by i (d = 0) or j (d = 1), whose arcs are all
    # within; open[d][i, j]: the same with an arc between i and j.
    closed, opened = np.zeros((2, size, size)), np.full((2, size, size), -np.inf)
    cut = np.zeros((4, size, size), dtype=np.int64)
    allowed = scores.astype(np.float64, copy=True)
    allowed[root] = -np.inf
    for length in range(1, size):
        for i in range(size - length):
            j = i + length
            inner = closed[0, i, i:j] + closed[1, i + 1 : j + 1, j]
            best = int(inner.argmax())
            cut[0, i, j] = i + best
            opened[0, i, j] = inner[best] + allowed[j, i]
            opened[1, i, j] = inner[best] + allowed[i, j]
            right = opened[0, i, i + 1 : j + 1] + closed[0, i + 1 : j + 1, j]
            left = closed[1, i, i:j] + opened[1, i:j, j]
            cut[1, i, j], cut[2, i, j] = i + 1 + right.argmax(), i + left.argmax()
            closed[0, i, j], closed[1, i, j] = right.max(), left.max()
    heads = np.full(size, root)
    todo = [(True, 1, 0, root), (True, 0, root, size - 1)]
    while todo:
        whole, side, i, j = todo.pop()
        if i == j:
            continue
        if whole:
            at = int(cut[1 + side, i, j])
            if side == 0:
                todo += [(False, 0, i, at), (True, 0, at, j)]
            else:
                todo += [(True, 1, i, at), (False, 1, at, j)]
            continue
        heads[j if side == 0 else i] = i if side == 0 else j
        at = int(cut[0, i, j])
        todo += [(True, 0, i, at), (True, 1, at + 1, j)]
    return heads


@dataclass(frozen=True)
class Counts:
    """Gold arcs of a sentence, and those that a tree and chains have.

    Attributes:
        arcs: All, without punctuation.
        either: Those that the tree has, whatever their direction.
        chain: Those between neighbours.
    """

    arcs: int
    either: int
    chain: int

    @classmethod
    def of(cls, heads: Integers, sentence: Sentence) -> Counts:
        """Count the arcs of a tree, whose root is its own head."""
        gold = gold_arcs(sentence)
        arcs, chain, _, _ = count_in_chains(gold)
        either, _ = count_found(heads, gold).tolist()
        return cls(arcs, either, chain)


def tree_row(found: Sequence[Counts]) -> dict[str, float]:
    """Shares of the gold arcs of all sentences."""
    arcs, either, chain = (
        np.array([getattr(each, name) for each in found], dtype=np.float64)
        for name in ("arcs", "either", "chain")
    )
    return {
        **share(either, arcs).columns("uuas", 0, 1),
        "chain": chain.sum() / arcs.sum(),
        **ratio(either - chain, arcs).columns("over_chain", -1, 1),
        "sentences": int((arcs > 0).sum()),
    }


def usable(sentences: Sequence[Sentence], number: int, longest: int, seed: int) -> list[Sentence]:
    """Sentences of 2 words or more and at most so many, drawn at random."""
    fitting = [each for each in sentences if 2 <= len(each) <= longest]
    if not fitting:
        raise InputError(
            f"No sentence of the treebank has 2 to {longest} words. Raise predictions.longest, or "
            "give syntax.path another treebank."
        )
    order = np.random.default_rng(seed).permutation(len(fitting))[:number]
    return [fitting[place] for place in sorted(order.tolist())]
