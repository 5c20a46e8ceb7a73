"""The validation examples whose attention is studied: the same for every model."""

from __future__ import annotations

from pathlib import Path

from darksecrets.core.run.errors import InputError


def sample(dataset: Path, size: int, seed: int) -> list[int]:
    """Draw up to ``size`` validation examples without replacement, for the attention experiments.

    The draw depends only on texts, ``idx``, ``size`` and ``seed``, so every model gets the same
    examples. Of examples with the same text only the first is taken.

    Args:
        dataset: Folder of a data set (``DatasetDict.save_to_disk``).
        size: 1000 in the paper; with fewer different texts, all are taken.
        seed: Seed of the draw.

    Returns:
        Their ``idx``, ascending.

    Raises:
        InputError: ``size`` is not positive.
    """
    import numpy as np
    from datasets import load_from_disk

    from darksecrets.core.data.tasks import sentence_columns
    from darksecrets.core.stats.units import first_of_each, numbered_texts

    if size < 1:
        raise InputError(f"A sample of {size} examples was asked for; it must have at least 1.")
    split = load_from_disk(str(dataset))["validation"]
    units = numbered_texts(split[name] for name in sentence_columns(split.column_names))
    idx = np.sort(np.asarray(split["idx"], dtype=np.int64)[first_of_each(units)])
    if len(idx) > size:
        idx = np.sort(np.random.default_rng(seed).choice(idx, size, replace=False))
    numbers: list[int] = idx.tolist()
    return numbers
