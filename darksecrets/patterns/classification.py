"""Every map of an attention store gets its pattern (section 4.1).

This is the largest inference of the paper: 1000 examples × 144 heads × 14 models. Maps of equal
length go through the network together, unpadded, a bounded number of them at a time.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.cnn import PatternNet, prepare
from darksecrets.store import AttentionStore

BATCH = {"cpu": 64, "cuda": 2**14}
"""Maps that go through the network together, by device: on a processor, what its cache holds."""


def classify(store: AttentionStore, net: PatternNet, temperature: float) -> pd.DataFrame:
    """Classify all maps of a store.

    Args:
        store: The maps.
        net: The trained network; it is moved to the GPU where there is one.
        temperature: Divides the logits, so that probabilities are calibrated.

    Returns:
        A row per map in the order of the store: ``idx``, ``layer``, ``head`` (from 1),
        ``pattern`` and its ``probability``.
    """
    device = "cuda" if torch.cuda.is_available() else "cpu"
    net = net.to(device)  # type: ignore[arg-type]
    size = (store.examples, store.layers, store.heads)
    patterns, sure = np.empty(size, dtype=np.int8), np.empty(size, dtype=np.float32)
    with torch.inference_mode():
        for examples, maps in store.batches():
            flat = torch.from_numpy(maps.reshape(-1, *maps.shape[-2:]).copy())
            outputs = torch.cat(list(_outputs(net, flat, device))) / temperature
            best = torch.softmax(outputs, dim=1).max(dim=1)
            rows = slice(examples.start, examples.stop)
            patterns[rows] = best.indices.cpu().numpy().reshape(maps.shape[:3])
            sure[rows] = best.values.cpu().numpy().reshape(maps.shape[:3])
    return _table(store, patterns, sure)


def _outputs(net: PatternNet, maps: torch.Tensor, device: str) -> Iterator[torch.Tensor]:
    """Logits of maps [maps, L, L], batch by batch."""
    for part in torch.split(maps, BATCH[device]):
        yield net(prepare(part.to(device)))


def _table(
    store: AttentionStore, patterns: npt.NDArray[np.int8], sure: npt.NDArray[np.float32]
) -> pd.DataFrame:
    examples, layers, heads = np.indices(patterns.shape)
    return pd.DataFrame(
        {
            "idx": store.idx[examples.ravel()],
            "layer": layers.ravel() + 1,
            "head": heads.ravel() + 1,
            "pattern": np.array(list(PATTERNS))[patterns.ravel()],
            "probability": sure.ravel(),
        }
    )
