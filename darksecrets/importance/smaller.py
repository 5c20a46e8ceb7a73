"""A smaller model without the heads that a task does not need (Michel et al. 2019)."""

from __future__ import annotations

import contextlib
import copy
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from darksecrets.ablation.disable import disable
from darksecrets.data.batches import EncodedSplit
from darksecrets.importance.pruning import least_important_first
from darksecrets.importance.tables import ABSOLUTE, MODE
from darksecrets.models.removal import PROGRAM, remove_heads, save_removed
from darksecrets.models.selectors import Heads
from darksecrets.run.errors import InputError

TOLERANCE = 1e-5
"""Largest difference of logits to those with the heads disabled, relative to the largest."""
EXAMPLES, REPETITIONS = 32, 5


def removable(orders: pd.DataFrame, choices: pd.DataFrame, metric: str) -> Heads:
    """The heads that can be removed in the order of their absolute gradients.

    Args:
        orders: The table ``pruning_orders`` of a model.
        choices: The table ``pruning_choices`` of the same model.
        metric: The score that decides.

    Returns:
        By layer, the largest set of heads within the tolerance; empty if there is none.
    """
    rows = choices[(choices["order"] == ABSOLUTE) & (choices["metric"] == metric)]
    return least_important_first(orders).first(int(rows["removed"].iloc[0]))


def save_smaller(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    split: EncodedSplit,
    heads: Heads,
    folder: Path,
) -> dict[str, Any]:
    """Remove heads and save what is left, once it agrees with the model whose heads are disabled.

    Args:
        model: A classifier in evaluation mode, on a CPU; it is left as it is.
        tokenizer: Its tokenizer.
        split: Examples to compare the models on; the first ones are used.
        heads: The heads to remove.
        folder: Where to save, see `darksecrets.models.removal.save_removed`.

    Returns:
        Numbers of parameters, bytes, and seconds per batch before and after, for the provenance.

    Raises:
        InputError: See `remove_heads`; or the logits differ by more than rounding.
    """
    smaller = copy.deepcopy(model)
    remove_heads(smaller, heads)
    batch = split.batch(list(range(min(EXAMPLES, len(split)))))
    del batch["labels"]
    with torch.inference_mode():
        with disable(model, heads, MODE) if heads else contextlib.nullcontext():
            expected = model(**batch).logits
        found = smaller(**batch).logits
    difference = float((found - expected).abs().max() / expected.abs().max().clamp(min=1))
    if not difference <= TOLERANCE:
        raise InputError(
            f"{folder}: found logits that differ by {difference:.2g} from those with the heads "
            f"disabled, expected at most {TOLERANCE:g}. Report this."
        )
    seconds = _seconds([model, smaller], batch)
    save_removed(smaller, tokenizer, heads, folder)
    return {
        "heads_removed": sum(map(len, heads.values())),
        "parameters": [sum(p.numel() for p in each.parameters()) for each in (model, smaller)],
        "bytes": (folder / PROGRAM).stat().st_size,
        "seconds_per_batch": seconds,
        "difference": difference,
    }


def _seconds(models: Sequence[torch.nn.Module], batch: dict[str, torch.Tensor]) -> list[float]:
    """Median seconds of a batch in each model, in turn."""
    taken = np.empty((REPETITIONS, len(models)))
    with torch.inference_mode():
        for repetition in range(REPETITIONS):
            for number, model in enumerate(models):
                start = time.perf_counter()
                model(**batch)
                taken[repetition, number] = time.perf_counter() - start
    return [round(float(seconds), 6) for seconds in np.median(taken, axis=0)]
