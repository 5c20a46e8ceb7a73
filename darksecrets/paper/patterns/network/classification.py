"""Classify every map of an attention store by its pattern (section 4.1).

This is the paper's largest inference: 1000 examples × 144 heads × 14 models. A batch has maps of
equal length, without padding, and a bounded size.
"""

from __future__ import annotations

import logging
from collections.abc import Iterator, Mapping

import numpy as np
import pandas as pd
import torch

from darksecrets.core.arrays import Halves, Integers, Singles
from darksecrets.core.attention.store import Maps
from darksecrets.core.models import devices
from darksecrets.paper.patterns.classes import DEFINITIONS, LENIENT, PATTERNS, STRICT, Definition
from darksecrets.paper.patterns.network.classifier import Classifier
from darksecrets.paper.patterns.network.seen import Seen

BATCHES = (64, 192)
"""Smallest and largest batch size on a CPU, in maps."""
CELLS = 2**18
"""Cells of a batch's maps on a CPU: what its cache holds."""
LONGEST = 320
"""Tokens of the longest maps whose plain patterns the network tells apart; a test tries this."""
GPU_BATCH = 2**14
"""Largest batch size on a GPU, in maps (not measured)."""

_log = logging.getLogger(__name__)


def batch_size_for(length: int, device: torch.device) -> int:
    """Batch size for maps of this length on a device."""
    least, most = BATCHES
    fitting = min(most, max(least, CELLS // length**2))
    return devices.batch_size(device, _map_bytes(length), cpu=fitting, gpu=GPU_BATCH)


def classify(store: Maps, classifier: Classifier, batch_size: int | None = None) -> pd.DataFrame:
    """Classify all maps of a store.

    Args:
        store: The maps.
        classifier: The trained classifier; it is moved to the GPU if there is one.
        batch_size: Maps per batch, `batch_size_for` if None; it changes probabilities by rounding
            only.

    Returns:
        A row per map in the order of the store: ``idx``, ``layer``, ``head`` (from 1); under the
        paper's definition ``pattern`` and its ``probability``, under the other one ``lenient``.
    """
    classifier = devices.place(classifier)
    device = devices.best()
    _log.info("Classifying maps on %s", device)
    longest = int(store.lengths.max())
    if longest > LONGEST:
        _log.warning(
            "Maps of up to %d tokens: beyond %d the network no longer sees thin diagonals and "
            "columns. Do not trust its patterns there, or lower `fine_tuning.max_length`.",
            *(longest, LONGEST),
        )
    shape = (store.examples, store.layers, store.heads)
    patterns = {definition: np.empty(shape, dtype=np.int64) for definition in DEFINITIONS}
    sure = np.empty(shape, dtype=np.float32)
    with torch.inference_mode():
        for examples, maps in store.batches():
            rows = slice(examples.start, examples.stop)
            size = batch_size or batch_size_for(maps.shape[-1], device)
            parts = list(_classified(classifier, store, examples, maps, size, device))
            kind_chances = torch.cat(parts)
            for definition in DEFINITIONS:
                best = classifier.read(kind_chances, definition).max(dim=1)
                patterns[definition][rows] = best.indices.cpu().numpy().reshape(maps.shape[:3])
                if definition == STRICT:
                    sure[rows] = best.values.cpu().numpy().reshape(maps.shape[:3])
    return _table(store, patterns, sure)


def _map_bytes(length: int) -> int:
    """Estimate the memory for classifying one map, in bytes, in float32.

    It holds the map and about a dozen copies, among them a scaled and a sorted one.
    """
    return 4 * 16 * length**2


def _classified(
    classifier: Classifier,
    store: Maps,
    examples: range,
    maps: Halves,
    batch_size: int,
    device: torch.device,
) -> Iterator[torch.Tensor]:
    """[maps, kinds] probabilities of maps [example, layer, head, L, L], batch by batch."""
    flat = torch.from_numpy(maps.reshape(-1, *maps.shape[-2:]).copy())
    special, segments = (
        torch.from_numpy(np.stack([of(example) for example in examples])).to(device)
        for of in (store.special, store.segments)
    )
    owners = torch.arange(len(examples), device=device).repeat_interleave(
        flat.shape[0] // len(examples)
    )
    parts = zip(torch.split(flat, batch_size), torch.split(owners, batch_size), strict=True)
    for part, owner in parts:
        yield classifier(Seen.of(part.to(device), special[owner], segments[owner]))


def _table(store: Maps, patterns: Mapping[Definition, Integers], sure: Singles) -> pd.DataFrame:
    examples, layers, heads = np.indices(sure.shape)
    classes = np.array(list(PATTERNS))
    return pd.DataFrame(
        {
            "idx": store.idx[examples.ravel()],
            "layer": layers.ravel() + 1,
            "head": heads.ravel() + 1,
            "pattern": classes[patterns[STRICT].ravel()],
            "probability": sure.ravel(),
            "lenient": classes[patterns[LENIENT].ravel()],
        }
    )
