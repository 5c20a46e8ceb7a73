"""A random classifier, examples, and what is measured of made-up predictions."""

from pathlib import Path

import numpy as np
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.beyond.compression.declared import Settings
from darksecrets.beyond.compression.measure.running import Measured
from darksecrets.beyond.compression.measure.variants import Variant
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.models.loading import load_classifier

HALF = dict.fromkeys(("heads", "heads_and_mlps", "weights", "layers"), (0.5,))
AMOUNTS = Settings(amounts={**HALF, "rank": (0.25,)})


def classifier(folder: Path, family: str = "bert"):
    """A random classifier of two layers and four heads, and its folder."""
    saved = save_classifier(folder / family, family, TASKS["RTE"])
    model, _ = load_classifier(saved, TASKS["RTE"], 1)
    return model.eval(), saved


def examples(count: int = 7) -> EncodedSplit:
    """Random examples of different lengths."""
    rng = np.random.default_rng(1)
    lengths = rng.integers(3, 12, count)
    ids = rng.integers(4, 7, lengths.sum()).astype(np.int32)
    labels = np.arange(count) % 2
    starts = np.concatenate([[0], np.cumsum(lengths)])
    return EncodedSplit(np.arange(count), labels, starts, {"input_ids": ids}, {"input_ids": 0})


def measured(predictions: np.ndarray, method: str = "8 bits", saved: int = 100) -> Measured:
    """A model that predicts these classes, two at most."""
    logits = np.stack([1.0 - predictions, predictions], axis=1).astype(np.float32)
    return Measured(Variant(method, 0, "", lambda _: None), 10, 10, saved, saved, logits)
