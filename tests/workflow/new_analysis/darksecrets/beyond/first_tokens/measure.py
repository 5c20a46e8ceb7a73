"""The measure of this analysis."""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.core.attention.store import AttentionStore


def first_tokens(store: AttentionStore, task: str, most: int) -> pd.DataFrame:
    """Mean attention of every head to the first token, over at most ``most`` examples."""
    maps = [store.maps(example).astype(float) for example in range(min(most, store.examples))]
    share = np.mean([each[..., 0].mean(axis=-1) for each in maps], axis=0)
    layer, head = np.indices(share.shape) + 1
    uniform = np.mean([1 / each.shape[-1] for each in maps])
    numbers = {"layer": layer.ravel(), "head": head.ravel(), "share": share.ravel()}
    return pd.DataFrame({"task": task, **numbers, "uniform": uniform})
