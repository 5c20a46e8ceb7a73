"""All tables of one task."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from darksecrets.faithfulness import statistics
from darksecrets.faithfulness.erasing import erase
from darksecrets.faithfulness.examples import Examples, read
from darksecrets.faithfulness.measuring import Measured, measure
from darksecrets.faithfulness.tables import ATTENTION_GRADIENTS, ERASURE, FAITHFULNESS
from darksecrets.models.devices import place
from darksecrets.models.hooks import require_projections
from darksecrets.models.loading import Draw, draw_from_normal, load_classifier, load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel

    from darksecrets.data.tasks import Task

DRAWS = 3
"""Random orders in which tokens are erased."""

Tables = dict[str, dict[str, pd.DataFrame]]
"""By table and model, the rows without the columns of the model."""


def tables(
    task: Task,
    finetuned: Mapping[str, Path],
    pretrained: Path,
    random: tuple[str, Draw],
    *,
    dataset: Path,
    sample: Path,
    examples: int,
    erased: int,
    batch_size: int,
    max_length: int,
    seed: int,
) -> Tables:
    """Measure all models of a task, one after the other.

    Args:
        task: The task.
        finetuned: Folders of the fine-tuned models by name.
        pretrained: Folder of the encoder whose architecture the one with random weights has.
        random: Name of the latter, and how its weights are drawn, the classifier's included.
        dataset: The task's data.
        sample: CSV with the sampled examples.
        examples: How many of them are used.
        erased: Of how many of these the tokens are erased.
        batch_size: Batch size on a CPU.
        max_length: Longest sequence kept, in tokens.
        seed: Seed of the examples, of shuffled rankings, random orders and bootstrap samples.

    Raises:
        InputError: The values of a model cannot be observed.
    """
    tokenizer = load_tokenizer(pretrained)
    some = read(dataset, sample, tokenizer, task, size=examples, seed=seed, max_length=max_length)
    rows = np.sort(np.random.default_rng(seed).permutation(len(some))[:erased]).tolist()
    control, draw = random
    measured: dict[str, Measured] = {}
    of_erased: dict[str, pd.DataFrame] = {}
    for name, folder in {**finetuned, control: pretrained}.items():
        model = _load(folder, task, draw if name == control else None)
        measured[name] = measure(model, task, some, batch_size=batch_size, seed=seed)
        if name != control and not task.is_regression:
            of_erased[name] = _erase(model, some, rows, measured[name], seed)
    tokens = [len(some.ordinary(row)) for row in range(len(some))]
    return {
        ATTENTION_GRADIENTS.name: statistics.gradients(measured, control, seed),
        FAITHFULNESS.name: statistics.agreements(measured, tokens, seed),
        ERASURE.name: of_erased,
    }


def _load(folder: Path, task: Task, draw: Draw | None) -> PreTrainedModel:
    """A classifier on the device to use, with random weights if asked."""
    model, _ = load_classifier(folder, task, seed=0 if draw is None else draw.seed)
    if draw is not None:
        draw_from_normal(model, draw.seed, draw.std)
    model = place(model)
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
