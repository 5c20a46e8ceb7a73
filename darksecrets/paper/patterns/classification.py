"""Classify every map of an attention store by its pattern, by both classifiers (section 4.1).

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

from darksecrets.core.arrays import Halves, Singles
from darksecrets.core.attention.store import Maps
from darksecrets.core.models import devices
from darksecrets.paper.patterns.classes import DEFINITIONS, LENIENT, PATTERNS, STRICT, TRAINED
from darksecrets.paper.patterns.classifier import Classifier
from darksecrets.paper.patterns.seen import Seen

BATCHES = (64, 192)
"""Smallest and largest batch size on a CPU, in maps."""
CELLS = 2**18
"""Cells of a batch's maps on a CPU: what its cache holds."""
LONGEST = 384
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
        classifier: Both trained classifiers; they are moved to the GPU if there is one.
        batch_size: Maps per batch, `batch_size_for` if None; it changes probabilities by rounding
            only.

    Returns:
        For each classifier, a row per map in the order of the store: ``classifier``, ``idx``,
        ``layer``, ``head`` (from 1); under the paper's definition ``pattern`` and its
        ``probability``, under the lenient one ``lenient`` and ``lenient_probability``.
    """
    classifier = devices.place(classifier)
    device = devices.best()
    _log.info("Classifying maps on %s", device)
    longest = int(store.lengths.max())
    if longest > LONGEST:
        _log.warning(
            "Maps of up to %d tokens: beyond %d the network no longer sees thin diagonals and "
            "columns. Trust the other classifier there (`patterns.classifier: features`).",
            *(longest, LONGEST),
        )
    table_shape = (len(DEFINITIONS), len(TRAINED), store.examples, store.layers, store.heads)
    patterns, sure = np.empty(table_shape, dtype=np.int8), np.empty(table_shape, dtype=np.float32)
    with torch.inference_mode():
        for examples, maps in store.batches():
            rows = slice(examples.start, examples.stop)
            size = batch_size or batch_size_for(maps.shape[-1], device)
            parts = list(_classified(classifier, store, examples, maps, size, device))
            for number in range(len(DEFINITIONS)):
                best = torch.cat([part[number] for part in parts], dim=1).max(dim=2)
                shape = (len(TRAINED), *maps.shape[:3])
                patterns[number, :, rows] = best.indices.cpu().numpy().reshape(shape)
                sure[number, :, rows] = best.values.cpu().numpy().reshape(shape)
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
) -> Iterator[list[torch.Tensor]]:
    """Probabilities of maps [example, layer, head, L, L] under every definition, batch by batch.

    Each is [classifiers, maps, classes].
    """
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
        kind_outputs = classifier(Seen.of(part.to(device), special[owner], segments[owner]))
        yield [classifier.read(kind_outputs, definition) for definition in DEFINITIONS]


def _table(store: Maps, patterns: npt.NDArray[np.int8], sure: Singles) -> pd.DataFrame:
    classifiers, examples, layers, heads = np.indices(patterns.shape[1:])
    lenient, strict = (DEFINITIONS.index(definition) for definition in (LENIENT, STRICT))
    classes = np.array(list(PATTERNS))[patterns.reshape(len(DEFINITIONS), -1)]
    return pd.DataFrame(
        {
            "classifier": np.array(TRAINED)[classifiers.ravel()],
            "idx": store.idx[examples.ravel()],
            "layer": layers.ravel() + 1,
            "head": heads.ravel() + 1,
            "pattern": classes[strict],
            "probability": sure[strict].ravel(),
            "lenient": classes[lenient],
            "lenient_probability": sure[lenient].ravel(),
        }
    )
