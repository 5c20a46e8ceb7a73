"""What fine-tuning changes for the heads that find most of a relation.

A random half of the sentences selects the pre-trained model's best head for every label, the same
as in `heads`. The other half compares what that head finds before and after, sentence by sentence.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.paired import sign_bound
from darksecrets.stats.ratios import Ratio, difference, ratio, share
from darksecrets.syntax.guesses import Guess, Read
from darksecrets.syntax.pairs import Floats, Numbers, Pairs, Treebank
from darksecrets.syntax.relations import SAME_DISTANCE, Relation, relations
from darksecrets.syntax.tables import DIRECTIONS, SYNTACTIC_CHANGES

Head = tuple[int, int, int]
"""Layer, head and direction, from 0."""


def table(
    read: Sequence[Read], pretrained: Sequence[Guess], finetuned: Sequence[Guess], seed: int
) -> pd.DataFrame:
    """The table `syntactic_changes` of a fine-tuned model, without the columns that name it.

    Args:
        read: The sentences that both models read.
        pretrained: For each, [words, layer, head, direction], see `guesses.guesses`.
        finetuned: The same of the fine-tuned model.
        seed: Seed of the halves.

    Raises:
        InputError: There are too few dependents.
    """
    return Before(read, pretrained, seed).table(finetuned)


class Before:
    """What the pre-trained model finds, to compare several fine-tuned ones with.

    Args:
        read: The sentences that all models read.
        guesses: For each, those of the pre-trained model.
        seed: Seed of the halves.

    Raises:
        InputError: There are too few dependents.
    """

    def __init__(self, read: Sequence[Read], guesses: Sequence[Guess], seed: int) -> None:
        self.treebank = Treebank.of(read, seed)
        self.relations = relations(self.treebank)
        self.guesses = guesses
        self.heads = best_heads(self.treebank, self.relations, guesses)

    def table(self, finetuned: Sequence[Guess]) -> pd.DataFrame:
        """The table of a fine-tuned model, from its guesses."""
        own = best_heads(self.treebank, self.relations, finetuned)
        labels = list(zip(self.relations, self.heads, own, strict=True))
        found: list[list[Floats]] = [[] for _ in labels]
        for pairs in self.treebank.blocks():
            before, after = pairs.guessed(self.guesses), pairs.guessed(finetuned)
            for parts, label in zip(found, labels, strict=True):
                parts.append(_found(pairs, before, after, *label))
        rows = [
            _of_label(relation, head, best, np.concatenate(parts, axis=1))
            for (relation, head, best), parts in zip(labels, found, strict=True)
        ]
        table = pd.DataFrame(rows)
        table["q_value"] = benjamini_hochberg(table["p_value"])
        return table[[name for name in SYNTACTIC_CHANGES.names if name in table]]


def _found(
    pairs: Pairs, before: Numbers, after: Numbers, relation: Relation, head: Head, own: Head
) -> Floats:
    """[6, sentences] numbers of dependents, what heads find of them, and of the control.

    Args:
        pairs: A block.
        before: [words, ...] see `Pairs.guessed`.
        after: The same of the fine-tuned model.
        relation: The label.
        head: Best head of the pre-trained model.
        own: Best head of the fine-tuned one.

    Returns:
        Dependents; those that the head finds before, and after, and the other head after; weights
        of other pairs at the same distance that the head finds before, and after.
    """
    arcs = pairs.arcs(relation.label)
    scoring, others = arcs & (pairs.half == 1), relation.control(SAME_DISTANCE, pairs, arcs).weights
    first, second, best = before[:, *head], after[:, *head], after[:, *own]
    return np.stack(
        [
            pairs.sums(scoring),
            *(pairs.found(scoring, guessed, 1) for guessed in (first, second, best)),
            *(pairs.found(others, guessed, 1) for guessed in (first, second)),
        ]
    )


def _of_label(relation: Relation, head: Head, own: Head, found: Floats) -> dict[str, Any]:
    """The row of one label, from [6, sentences]; see `_found`."""
    sizes, first, second, best, *others = found
    change = second - first
    rates = [each.sum() for each in others]
    return {
        "label": relation.label,
        **_named(head),
        **{"arcs": int(sizes.sum()), "sentences": int((sizes > 0).sum())},
        **share(first, sizes).columns("pretrained", 0, 1),
        **share(second, sizes).columns("finetuned", 0, 1),
        **_difference(change, sizes).columns("change", -1, 1),
        "change_of_others": rates[1] - rates[0],
        "p_value": _two_sided(change),
        **{f"best_{name}": value for name, value in _named(own).items()},
        **share(best, sizes).columns("best", 0, 1),
        **_difference(best - first, sizes).columns("best_change", -1, 1),
    }


def best_heads(
    treebank: Treebank, known: Sequence[Relation], guesses: Sequence[Guess]
) -> list[Head]:
    """The head and direction that find most of each label in the selecting half; or the first."""
    hits: list[Floats] = [np.zeros(())] * len(known)
    for pairs in treebank.blocks():
        guessed = pairs.guessed(guesses)
        for number, relation in enumerate(known):
            selecting = pairs.arcs(relation.label) & (pairs.half == 0)
            hits[number] = hits[number] + pairs.found(selecting, guessed, 0).sum(axis=0)
    places = [np.unravel_index(int(each.argmax()), each.shape) for each in hits]
    return [(int(layer), int(head), int(direction)) for layer, head, direction in places]


def _named(head: Head) -> dict[str, Any]:
    """Columns that name a head."""
    layer, number, direction = head
    return {"direction": DIRECTIONS[direction], "layer": layer + 1, "head": number + 1}


def _difference(differences: Floats, sizes: Floats) -> Ratio:
    """A difference of shares, paired by sentence.

    Its interval is Student's, but at least as wide as Wilson's intervals of what was gained and
    what was lost make it: where no sentence differs, Student's has no width.

    Args:
        differences: [sentences] how many more dependents' heads are found.
        sizes: [sentences] number of dependents.
    """
    found = ratio(differences, sizes)
    won, lost = (share(np.maximum(sign * differences, 0), sizes) for sign in (1, -1))
    least = difference(won, lost)
    return Ratio(found.value, np.minimum(found.low, least.low), np.maximum(found.high, least.high))


def _two_sided(differences: Floats) -> float:
    """p-value of a change in either direction; bounds that of random signs of the differences."""
    sums, squares = differences.sum(), (differences**2).sum()
    smaller = min(float(sign_bound(sign * sums, squares)) for sign in (1, -1))
    return min(1.0, 2 * smaller)
