"""How much each head attends along frame-semantic links, and against chance (section 4.2).

A head's weight is the greatest attention over the annotated pairs of word pieces of a sentence,
averaged over sentences. Beyond the paper there are two controls. First, each link is moved as a
whole to random positions in its sentence: attention there is explained by the distance between the
two. Second, the element alone is moved: attention there is explained by the predicate alone.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.attention.store import AttentionStore, HalfArray
from darksecrets.data.alignment import tokens_of_span
from darksecrets.framenet.links import Annotation
from darksecrets.framenet.tables import DIRECTIONS
from darksecrets.run.errors import InputError
from darksecrets.stats.controls import pairs_at_the_same_distance
from darksecrets.stats.corrections import benjamini_hochberg, family_p_values
from darksecrets.stats.permutation import upper_p_values

Array = npt.NDArray[np.float64]
Positions = npt.NDArray[np.int64]
Link = tuple[Positions, Positions]
"""Positions of the word pieces of an element, and of its predicate."""


def links_in(store: AttentionStore, example: int, annotation: Annotation) -> list[Link]:
    """Word pieces of every link of a sentence.

    Args:
        store: Maps of the sentences.
        example: Number of the sentence in the store.
        annotation: Its annotation.

    Raises:
        InputError: A linked word has no word pieces: the tokenizer made none, or the sentence was
            cut before it.
    """
    layout = (store.offsets(example), store.segments(example), store.special(example))
    predicate = tokens_of_span(*layout, 0, *annotation.predicate)
    elements = [tokens_of_span(*layout, 0, *element.span) for element in annotation.elements]
    if not all(len(tokens) for tokens in (predicate, *elements)):
        raise InputError(
            f"{annotation.sentence!r}: a linked word has no word piece among "
            f"{' '.join(store.tokens(example))}; expected at least one. If the sentence was cut, "
            "raise fine_tuning.max_length."
        )
    return [(element, predicate) for element in elements]


def greatest(maps: HalfArray, links: Sequence[Link]) -> Array:
    """Greatest attention over the pairs of word pieces of a sentence's links.

    Args:
        maps: [layer, head, query, key] of the sentence.
        links: From `links_in`.

    Returns:
        [direction, layer, head] in the order of ``DIRECTIONS``.
    """
    blocks = [
        [
            maps[:, :, rows[:, None], columns].max(axis=(2, 3))
            for rows, columns in (link, link[::-1])
        ]
        for link in links
    ]
    result: Array = np.max(blocks, axis=0).astype(np.float64)
    return result


def moved(
    links: Sequence[Link],
    usable: npt.NDArray[np.bool_],
    draws: int,
    rng: np.random.Generator,
) -> Positions:
    """Draw a random shift for each link, uniform over all positions where the whole link fits.

    The link's own position is one of them. A link that moves as a whole keeps its distances and its
    number of word-piece pairs. The links of a sentence move independently.

    Args:
        links: From `links_in`.
        usable: [L] which tokens are words.
        draws: Number of draws.
        rng: Source of randomness.

    Returns:
        [draws, links] by how many tokens each link is shifted.
    """
    ends = [(min(map(np.min, link)), max(map(np.max, link))) for link in links]
    outer = np.array(ends, dtype=np.int64)  # if both ends fit, so does everything in between
    drawn = pairs_at_the_same_distance(outer, usable, draws, rng)
    shifts: Positions = drawn[:, :, 0] - outer[:, 0]
    return shifts


def unlinked(maps: HalfArray, links: Sequence[Link], usable: npt.NDArray[np.bool_]) -> Array:
    """Attention between the predicate and other words in place of the elements.

    Every element is moved, independently of the others, to each position where it shares no word
    with any link. As for the links, the greatest attention in the sentence counts.

    Args:
        maps: [layer, head, query, key] of the sentence.
        links: From `links_in`.
        usable: [L] which tokens are words.

    Returns:
        [direction, layer, head] greatest attention between the predicate and as many adjacent
        words as each element has, averaged over all combinations of positions; NaN if an element
        has no such position.
    """
    free = usable.copy()
    free[np.concatenate([tokens for link in links for tokens in link])] = False
    values = []
    for element, predicate in links:
        elsewhere = element - element[0] + np.arange(len(free))[:, None]
        elsewhere = elsewhere[elsewhere[:, -1] < len(free)]
        elsewhere = elsewhere[free[elsewhere].all(axis=1)]
        if not len(elsewhere):
            return np.full((len(DIRECTIONS), *maps.shape[:2]), np.nan)
        values.append(np.stack([greatest(maps, [(place, predicate)]) for place in elsewhere]))
    return mean_of_greatest(values)


def mean_of_greatest(values: Sequence[Array]) -> Array:
    """Expected maximum of one random value from each set: its mean over all combinations.

    It is exact: the share of combinations whose maximum is at most t is the product, over sets, of
    the share of values that are at most t.

    Args:
        values: For every set, [values, ...].

    Returns:
        [...] the means.
    """
    ordered = np.sort(np.concatenate(values), axis=0)
    below = np.prod([(of[:, None] <= ordered).mean(axis=0) for of in values], axis=0)
    share = np.diff(below, axis=0, prepend=0)
    result: Array = (ordered * share).sum(axis=0)
    return result


@dataclass(frozen=True)
class Weights:
    """Weights of every head over all sentences.

    Attributes:
        sentences: [sentence, direction, layer, head] greatest attention over a sentence's links.
        unlinked: [sentence, direction, layer, head] the same between its predicate and other words;
            NaN for a sentence that has too few of them.
        drawn: [1 + draws, direction, layer, head] mean over sentences; the first for the links at
            their own positions, the others at random ones.
    """

    sentences: Array
    unlinked: Array
    drawn: Array


def measure(
    store: AttentionStore, annotations: Sequence[Annotation], draws: int, seed: int
) -> Weights:
    """Measure the real links and the moved ones, sentence by sentence.

    Memory holds the maps of one sentence, and a number per draw, direction and head.

    Args:
        store: Maps of the sentences; ``idx`` is the position in ``annotations``.
        annotations: The sentences' links.
        draws: Random positions per link.
        seed: Seed of the positions.

    Raises:
        InputError: See `links_in`; or a sentence is longer than local attention reaches, so that
            links and random positions could not be compared.
    """
    if store.reach(longest := int(store.lengths.max())) is not None:
        raise InputError(
            f"{store.folder}: found a sentence of {longest} tokens, expected none that is longer "
            f"than the local attention of the model reaches (windows {list(store.windows)})."
        )
    rng = np.random.default_rng(seed)
    heads = (len(DIRECTIONS), store.layers, store.heads)
    sentences, others = np.empty((2, len(annotations), *heads))
    drawn = np.zeros((1 + draws, *heads))
    order = {int(idx): example for example, idx in enumerate(store.idx)}
    for idx, annotation in enumerate(annotations):
        example = order[idx]
        maps, links = store.maps(example), links_in(store, example, annotation)
        usable = ~store.special(example)
        own = np.zeros((1, len(links)), dtype=np.int64)
        shifts = np.concatenate([own, moved(links, usable, draws, rng)])
        places, which = np.unique(shifts, axis=0, return_inverse=True)
        values = np.stack([greatest(maps, _shifted(links, place)) for place in places])
        drawn += values[which.ravel()]
        sentences[idx] = values[which.ravel()[0]]
        others[idx] = unlinked(maps, links, usable)
    return Weights(sentences, others, drawn / len(annotations))


def _shifted(links: Sequence[Link], shifts: Positions) -> list[Link]:
    return [(rows + by, columns + by) for (rows, columns), by in zip(links, shifts, strict=True)]


def table(weights: Weights) -> pd.DataFrame:
    """Tidy table of the heads (Figure 3).

    Returns:
        A row per direction and head: ``direction``, ``layer`` and ``head`` (from 1), ``weight``,
        ``sentences``, ``control`` (mean weight of the moved links), ``unlinked`` (between the
        predicate and other words, see `unlinked`) over the ``unlinked_sentences`` that have enough
        of them, ``linked`` (the weight over the same sentences), ``p_value`` (whether the head
        attends more to the links than to the moved links), and this value corrected over the heads
        of the direction: ``q_value`` (false discovery rate) and ``p_family`` (family-wise error).
    """
    comparable = ~np.isnan(weights.unlinked).any(axis=(1, 2, 3))
    layers, heads = np.indices(weights.drawn.shape[2:])
    parts = []
    for number, direction in enumerate(DIRECTIONS):
        drawn = weights.drawn[:, number]
        p = upper_p_values(drawn)
        columns = {
            "direction": direction,
            "layer": layers.ravel() + 1,
            "head": heads.ravel() + 1,
            "weight": drawn[0].ravel(),
            "sentences": len(weights.sentences),
            "control": drawn[1:].mean(axis=0).ravel(),
            "unlinked": _mean(weights.unlinked[comparable, number]).ravel(),
            "linked": _mean(weights.sentences[comparable, number]).ravel(),
            "unlinked_sentences": int(comparable.sum()),
            "p_value": p.ravel(),
            "q_value": benjamini_hochberg(p).ravel(),
            "p_family": family_p_values(drawn).ravel(),
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def _mean(values: Array) -> Array:
    """Mean over sentences; NaN if there are none."""
    result: Array = values.mean(axis=0) if len(values) else np.full(values.shape[1:], np.nan)
    return result


def compare(table: pd.DataFrame, released: pd.DataFrame) -> pd.DataFrame:
    """Correlate the weights with the published ones, head by head.

    Args:
        table: From `table`.
        released: Columns ``layer``, ``head``, ``weight``.

    Returns:
        A row per direction and coefficient: ``direction``, ``coefficient`` (``pearson`` or
        ``spearman``), ``value``, ``p_value``, ``heads``.

    Raises:
        InputError: The heads are not the same.
    """
    from scipy import stats

    published = released.set_index(["layer", "head"])["weight"].sort_index()
    rows = []
    for direction, part in table.groupby("direction"):
        ours = part.set_index(["layer", "head"])["weight"].sort_index()
        if not ours.index.equals(published.index):
            raise InputError(
                f"There are published weights of {len(published)} heads, but this run has "
                f"{len(ours)}; expected the same layers and heads. Compare bert-base-uncased only."
            )
        for name, correlate in (("pearson", stats.pearsonr), ("spearman", stats.spearmanr)):
            found = correlate(ours, published)
            rows.append((direction, name, found.statistic, found.pvalue, len(ours)))
    return pd.DataFrame(rows, columns=["direction", "coefficient", "value", "p_value", "heads"])
