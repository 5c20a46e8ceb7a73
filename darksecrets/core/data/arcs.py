"""Arcs of dependency trees, and which of them other trees and chains have."""

from __future__ import annotations

import numpy as np

from darksecrets.core.arrays import Flags, Integers
from darksecrets.core.data.sentences import ROOT, Sentence


def gold_arcs(sentence: Sentence, apart: Flags | None = None) -> Integers:
    """The arcs that trees are scored on: no punctuation, no words that share a piece.

    Args:
        sentence: The sentence with its gold tree.
        apart: [words, words] whether two words share no piece; None if all are apart.

    Returns:
        [arcs, 2] a dependent and its head.
    """
    tree = enumerate(zip(sentence.heads, sentence.labels, strict=True))
    found = [
        (word, head)
        for word, (head, label) in tree
        if head != ROOT and label != "punct" and (apart is None or apart[word, head])
    ]
    return np.array(found, dtype=np.int64).reshape(-1, 2)


def count_found(heads: Integers, arcs: Integers) -> Integers:
    """[..., 2] how many gold arcs trees have, without and with their direction.

    Args:
        heads: [..., words] head of every word in each tree.
        arcs: See `gold_arcs`.
    """
    words, gold = arcs.T
    directed = heads[..., words] == gold
    either = directed | (heads[..., gold] == words)
    return np.stack([either.sum(axis=-1), directed.sum(axis=-1)], axis=-1)


def count_in_chains(arcs: Integers) -> tuple[int, int, int, int]:
    """All arcs; those between neighbours; those to the word before; those to the word after.

    Args:
        arcs: See `gold_arcs`.
    """
    words, heads = arcs.T
    right, left = int((heads - words == -1).sum()), int((heads - words == 1).sum())
    return len(arcs), right + left, right, left
