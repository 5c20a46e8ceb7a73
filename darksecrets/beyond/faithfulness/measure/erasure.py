"""Tokens are erased in some order until the decision changes (Serrano and Smith 2019).

A token is erased by hiding it from all others, in every layer and head, as padding is. The weights
of the others then add up to 1, as in the authors' code. Special tokens are never erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.faithfulness import declared
from darksecrets.beyond.faithfulness.measure.examples import Examples
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.data.batches import MASK
from darksecrets.core.models import devices
from darksecrets.core.run.progress import progress

STEPS = 10
"""Steps in which the tokens are erased: a tenth each."""
BATCH_SIZE = 64
"""Sequences of a batch on a CPU."""

Orders = Mapping[str, Sequence[Integers]]
"""By name, for every row: the places of its tokens in the order in which they are erased."""
REVERSED = " reversed"
"""Ends the names of orders in which the least important tokens are erased first."""


def erase(
    model: PreTrainedModel,
    examples: Examples,
    rows: Sequence[int],
    decisions: Integers,
    orders: Orders,
) -> dict[str, Floats]:
    """Erase tokens until decisions change.

    Args:
        model: A classifier in evaluation mode, on the device to use.
        examples: The examples.
        rows: Which of them.
        decisions: [rows] predicted classes of the intact examples.
        orders: Orders of their tokens; an example without tokens to erase has none.

    Returns:
        By order, [rows] share of the tokens that are erased once the decision changes; NaN if it
        never does.
    """
    names = list(orders)
    found = np.full((len(rows), len(names)), np.nan)
    left = [(row, place) for row in range(len(rows)) for place in range(len(names))]
    longest = max(examples.lengths[row] for row in rows)
    size = devices.sequence_bytes(model.config, longest)
    count = devices.batch_size(model.device, size, cpu=BATCH_SIZE, gpu=devices.SEQUENCES)
    with progress("Erasing", STEPS, "steps") as advance:
        for step in range(1, STEPS + 1):
            flipped: set[tuple[int, int]] = set()
            for start in range(0, len(left), count):
                batch = left[start : start + count]
                erased = [
                    first_tokens(orders[names[place]][row], step / STEPS) for row, place in batch
                ]
                predicted = decide(model, examples, [rows[row] for row, _ in batch], erased)
                for (row, place), tokens, decision in zip(batch, erased, predicted, strict=True):
                    if decision != decisions[row]:
                        share = len(tokens) / max(1, len(orders[names[place]][row]))
                        found[row, place] = share
                        flipped.add((row, place))
            left = [one for one in left if one not in flipped]
            advance(1)
    return dict(zip(names, found.T, strict=True))


def first_tokens(order: Integers, share: float) -> Integers:
    """The first tokens of an order, at least this share of them."""
    return order[: int(np.ceil(share * len(order) - 1e-9))]


def decide(
    model: PreTrainedModel, examples: Examples, rows: Sequence[int], erased: Sequence[Integers]
) -> list[int]:
    """Decisions with some tokens hidden from all others.

    Args:
        model: A classifier in evaluation mode.
        examples: The examples.
        rows: Which of them, possibly several times.
        erased: For each, the places of the hidden tokens.

    Returns:
        The predicted classes.
    """
    inputs = examples.batch(rows)
    for place, tokens in enumerate(erased):
        inputs[MASK][place, torch.from_numpy(tokens)] = 0
    with torch.inference_mode():
        logits = model(**devices.move(inputs, model.device)).logits
    return logits.argmax(dim=-1).tolist()


def orders(
    rankings: Sequence[Mapping[str, Floats]], draws: int, seed: int
) -> dict[str, list[Integers]]:
    """Orders in which tokens are erased, numbers of ordinary tokens.

    Tokens of the same importance are in random order: in that of the text, what says nothing of
    any token would erase the first words first.

    Args:
        rankings: For each example, the importance of its ordinary tokens.
        draws: Number of random orders.
        seed: Seed of the random orders.
    """
    found: dict[str, list[Integers]] = {}
    of_ties = np.random.default_rng([seed, 1])
    for name in declared.IMPORTANCE:
        most_first = [np.lexsort([of_ties.random(len(one[name])), -one[name]]) for one in rankings]
        found[name] = most_first
        found[name + REVERSED] = [order[::-1].copy() for order in most_first]
    rng = np.random.default_rng(seed)
    for draw in range(1, draws + 1):
        found[f"{declared.RANDOM_ORDER} {draw}"] = [
            rng.permutation(len(one[declared.WEIGHTS])) for one in rankings
        ]
    return found
