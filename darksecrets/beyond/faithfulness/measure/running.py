"""All tables of one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from transformers import PreTrainedModel

from darksecrets.beyond.faithfulness.declared import (
    ATTENTION_GRADIENTS,
    ERASURE,
    FAITHFULNESS,
    Settings,
)
from darksecrets.beyond.faithfulness.measure.erasure import erase, orders
from darksecrets.beyond.faithfulness.measure.examples import Examples, read
from darksecrets.beyond.faithfulness.measure.explanations import Measured, measure
from darksecrets.beyond.faithfulness.measure.statistics import agreements, erased, gradients
from darksecrets.core.data.tasks import Task
from darksecrets.core.models import devices
from darksecrets.core.models.hooks import require_projections
from darksecrets.core.models.loading import draw_from_normal, load_classifier
from darksecrets.core.models.reading import Reading

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
        ATTENTION_GRADIENTS.name: gradients(measured, control, seed),
        FAITHFULNESS.name: agreements(measured, tokens, seed),
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
    numbers = orders([measured.rankings[row] for row in rows], DRAWS, seed)
    erased_in = {
        name: [examples.ordinary(row)[order] for row, order in zip(rows, row_values, strict=True)]
        for name, row_values in numbers.items()
    }
    found = erase(model, examples, rows, measured.decisions[list(rows)], erased_in)
    return erased(found, DRAWS, seed)
