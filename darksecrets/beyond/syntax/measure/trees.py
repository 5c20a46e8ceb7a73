"""Trees from attention: the best tree of every map, beside chains (Htut et al. 2019).

The weights between words are the scores of arcs, in both directions; the tree with the greatest sum
of scores has the sentence's own root. Right- and left-chain make each word depend on the one before
it, or after it; without directions, both have the same arcs: those between neighbours.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.beyond.syntax.declared import ATTENTION_TREES
from darksecrets.beyond.syntax.measure.guesses import Read
from darksecrets.beyond.syntax.measure.pairs import Floats, halves
from darksecrets.beyond.syntax.measure.relations import first_greatest, head_rows
from darksecrets.beyond.syntax.measure.words import WordMaps
from darksecrets.core.data.arcs import count_found, count_in_chains, gold_arcs
from darksecrets.core.data.sentences import ROOT, Sentence
from darksecrets.core.stats.arborescence import arborescences
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.paired import sign_bound
from darksecrets.core.stats.ratios import ratio, share

Counts = npt.NDArray[np.int16]

_FORBIDDEN, _PADDING = -1.0, 0.0
"""Score of an arc between words that share a piece, and of the only arc of padding."""


def count_gold_arcs(batch: WordMaps, sentences: Sequence[Sentence]) -> list[Counts]:
    """How many arcs of the gold trees the best trees of some maps have.

    Args:
        batch: Word maps.
        sentences: The treebank.

    Returns:
        For each sentence of the batch, [layer, head, direction, 2] arcs without and with their
        direction; see `core.data.arcs.gold_arcs` for which count.
    """
    own = [sentences[number] for number in batch.numbers]
    roots = np.array([sentence.heads.index(ROOT) for sentence in own])
    apart = batch.apart.cpu().numpy()
    maps = batch.maps.double().cpu().numpy()
    both = np.stack([maps, maps.swapaxes(-1, -2)], axis=3)
    scores = np.where(apart[:, None, None, None], both, _FORBIDDEN)
    for each, sentence, root in zip(scores, own, roots, strict=True):
        each[..., len(sentence) :] = -np.inf
        each[..., len(sentence) :, root] = _PADDING
    count, *shape, size, _ = scores.shape
    flat = arborescences(
        scores.reshape(-1, size, size), np.repeat(roots, int(np.prod(shape)))
    ).reshape(count, *shape, size)
    return [
        count_found(heads[..., : len(sentence)], gold_arcs(sentence, flags)).astype(np.int16)
        for heads, sentence, flags in zip(flat, own, apart, strict=True)
    ]


def chains(read: Sequence[Read]) -> Floats:
    """[4, sentences] what counts of the gold arcs, and which of it chains find.

    All arcs; those between neighbours; those to the word before; those to the word after.
    """
    counts = [count_in_chains(gold_arcs(each.sentence, each.apart)) for each in read]
    return np.array(counts, dtype=np.float64).T


def table(read: Sequence[Read], trees: Sequence[Counts], seed: int) -> pd.DataFrame:
    """The table `attention_trees` of a model, without the columns that name it.

    Args:
        read: The sentences that it read.
        trees: For each, from `count_gold_arcs`.
        seed: Seed of the halves.
    """
    half, found_by_chains = halves(read, seed), chains(read)
    counts = np.stack(trees).astype(np.float64)
    arcs = found_by_chains[0]
    selected = counts[half == 0][..., 0].sum(axis=0) / arcs[half == 0].sum()

    scoring = half == 1
    either, directed = counts[scoring][..., 0], counts[scoring][..., 1]
    sizes, by_chain = (each[scoring][:, None, None, None] for each in found_by_chains[:2])
    differences = either - by_chain
    uuas, uas = share(either, sizes), share(directed, sizes)
    over = ratio(differences, sizes)
    p = sign_bound(differences.sum(axis=0), (differences**2).sum(axis=0))
    total, *rates = found_by_chains[:, scoring].sum(axis=1)
    any_rate, right_rate, left_rate = (rate / total for rate in rates)
    columns = {
        "arcs": int(total),
        "sentences": int((arcs[scoring] > 0).sum()),
        **uuas.columns("uuas"),
        "selected": first_greatest(selected),
        "selecting": selected,
        "chain": any_rate,
        **over.columns("over_chain", -1, 1),
        **uas.columns("uas"),
        "right_chain": right_rate,
        "left_chain": left_rate,
        "p_value": p,
        "q_value": benjamini_hochberg(p),
    }
    rows = head_rows(columns, selected.shape)
    return ATTENTION_TREES.select(rows)
