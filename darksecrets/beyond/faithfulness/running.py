"""All tables of one task; tokens are erased in some order until the decision changes.

After Serrano and Smith (2019): a token is erased by hiding it from all others, in every layer and
head, as padding is. The weights of the others then add up to 1, as in the authors' code. Special
tokens are never erased.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel

from darksecrets.beyond.faithfulness import statistics
from darksecrets.beyond.faithfulness.examples import Examples, read
from darksecrets.beyond.faithfulness.measuring import Measured, measure
from darksecrets.beyond.faithfulness.settings import Settings
from darksecrets.beyond.faithfulness.tables import ATTENTION_GRADIENTS, ERASURE, FAITHFULNESS
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.data.batches import MASK
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import require_projections
from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.progress import progress

STEPS = 10
"""Steps in which the tokens are erased: a tenth each."""
BATCH_SIZE = 64
"""Sequences of a batch on a CPU."""

Orders = Mapping[str, Sequence[Integers]]
"""By name, for every row: the places of its tokens in the order in which they are erased."""


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
        logits = model(**{name: tensor.to(model.device) for name, tensor in inputs.items()}).logits
    return logits.argmax(dim=-1).tolist()


DRAWS = 3
"""Random orders in which tokens are erased."""

Tables = dict[str, dict[str, pd.DataFrame]]
"""By table and model, the rows without the columns of the model."""


def tables(
    task: Task,
    models: Mapping[str, Reading],
    dataset: Path,
    sample: Sequence[int],
    settings: Settings,
    seed: int,
) -> Tables:
    """Measure all models of a task, one after the other.

    Args:
        task: The task.
        models: The fine-tuned models by name; last, one whose weights are drawn, the classifier's
            included.
        dataset: The task's data.
        sample: The ``idx`` of the sampled examples.
        settings: How many of them are used.
        seed: Seed of the examples, of shuffled rankings, random orders and bootstrap samples.

    Raises:
        InputError: The values of a model cannot be observed.
    """
    control, random = list(models.items())[-1]
    chosen = {"size": settings.examples, "seed": seed, "max_length": random.max_length}
    some = read(dataset, sample, random.tokenizer(), task, **chosen)
    rows = np.sort(np.random.default_rng(seed).permutation(len(some))[: settings.erased]).tolist()
    measured: dict[str, Measured] = {}
    of_erased: dict[str, pd.DataFrame] = {}
    for name, reading in models.items():
        model = _load(reading, task)
        measured[name] = measure(model, task, some, batch_size=reading.batch_size, seed=seed)
        if name != control and not task.is_regression:
            of_erased[name] = _erase(model, some, rows, measured[name], seed)
    tokens = [len(some.ordinary(row)) for row in range(len(some))]
    return {
        ATTENTION_GRADIENTS.name: statistics.gradients(measured, control, seed),
        FAITHFULNESS.name: statistics.agreements(measured, tokens, seed),
        ERASURE.name: of_erased,
    }


def _load(reading: Reading, task: Task) -> PreTrainedModel:
    """A classifier on the device to use."""
    draw = reading.draw
    model, _ = load_classifier(reading.folder, task, seed=0 if draw is None else draw.seed)
    if draw is not None:
        draw_from_normal(model, draw.seed, draw.std)
    model = devices.place(model)
    require_projections(model)
    return model


def _erase(
    model: PreTrainedModel, examples: Examples, rows: Sequence[int], measured: Measured, seed: int
) -> pd.DataFrame:
    """The rows of one model in the table of erased tokens."""
    numbers = statistics.orders([measured.rankings[row] for row in rows], DRAWS, seed)
    orders = {
        name: [examples.ordinary(row)[order] for row, order in zip(rows, of_rows, strict=True)]
        for name, of_rows in numbers.items()
    }
    found = erase(model, examples, rows, measured.decisions[list(rows)], orders)
    return statistics.erased(found, DRAWS, seed)
