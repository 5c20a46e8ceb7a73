"""Classify every map of an attention store by its pattern (section 4.1).

This is the paper's largest inference: 1000 examples × 144 heads × 14 models. A batch has maps of
equal length, without padding, and a bounded size.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch

from darksecrets.attention.store import AttentionStore
from darksecrets.models import devices
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.cnn import SIZE, STAGES, PatternNet, prepare

BATCH = 64
"""Batch size on a CPU, in maps: what its cache holds."""
GPU_BATCH = 2**14
"""Largest batch size on a GPU, in maps (not measured)."""

_log = logging.getLogger(__name__)


def batch_size_for(store: AttentionStore, device: torch.device) -> int:
    """Batch size for the maps of a store on a device."""
    longest = _map_bytes(int(store.lengths.max()))
    return devices.batch_size(device, longest, cpu=BATCH, gpu=GPU_BATCH)


def classify(
    store: AttentionStore, net: PatternNet, temperature: float, batch_size: int | None = None
) -> pd.DataFrame:
    """Classify all maps of a store.

    Args:
        store: The maps.
        net: The trained network; it is moved to the GPU if there is one.
        temperature: Divides the logits to calibrate probabilities.
        batch_size: Maps per batch, `batch_size_for` if None; it changes probabilities by rounding
            only.

    Returns:
        A row per map in the order of the store: ``idx``, ``layer``, ``head`` (from 1),
        ``pattern`` and its ``probability``.
    """
    net = devices.place(net)
    device = devices.best()
    batch_size = batch_size or batch_size_for(store, device)
    _log.info("Classifying maps, batch size %d, on %s", batch_size, device)
    size = (store.examples, store.layers, store.heads)
    patterns, sure = np.empty(size, dtype=np.int8), np.empty(size, dtype=np.float32)
    with torch.inference_mode():
        for examples, maps in store.batches():
            flat = torch.from_numpy(maps.reshape(-1, *maps.shape[-2:]).copy())
            outputs = torch.cat(list(_outputs(net, flat, batch_size, device))) / temperature
            best = torch.softmax(outputs, dim=1).max(dim=1)
            rows = slice(examples.start, examples.stop)
            patterns[rows] = best.indices.cpu().numpy().reshape(maps.shape[:3])
            sure[rows] = best.values.cpu().numpy().reshape(maps.shape[:3])
    return _table(store, patterns, sure)


def _map_bytes(length: int) -> int:
    """Estimate the memory for classifying one map, in bytes, in float32.

    It holds the map, a scaled and a sorted copy, and the sort's indices (8 bytes each); and three
    images of the first stage: after convolution, normalisation and ReLU.
    """
    return 4 * (5 * length**2 + (1 + 3 * STAGES[0][0]) * SIZE**2)


def _outputs(
    net: PatternNet, maps: torch.Tensor, batch_size: int, device: torch.device
) -> Iterator[torch.Tensor]:
    """Logits of maps [maps, L, L], batch by batch."""
    for part in torch.split(maps, batch_size):
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
