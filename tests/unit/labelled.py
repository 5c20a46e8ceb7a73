"""Labelled maps of easily separable classes, for tests."""

import numpy as np
import pandas as pd

from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps.mapset import COLUMNS, MapSet
from darksecrets.paper.patterns.network import crossvalidation
from darksecrets.paper.patterns.tables import FEATURES, PATTERN_PREDICTIONS

MODEL = "m"
NAMES = list(PATTERNS)
COLUMNED = ("vertical", "vertical+diagonal")


def _weights(pattern, length, rng):
    place = np.arange(length)
    scores = 0.3 * rng.normal(size=(length, length))
    diagonal, column = np.eye(length), np.isin(place, (0, length - 1)) * np.ones((length, 1))
    half = place < length // 2
    scores += {
        "vertical": 5 * column,
        "diagonal": 6 * diagonal,
        "vertical+diagonal": 5 * column + 5 * diagonal,
        "block": 3.0 * (half[:, None] == half[None, :]),
        "heterogeneous": 4.0 * (rng.random((length, length)) < 0.08),
    }[pattern]
    weights = np.exp(scores)
    return (weights / weights.sum(axis=1, keepdims=True)).astype(np.float16)


def make_labelled_maps(patterns, maps_of_each, seed=0):
    """Maps of different lengths, from two heads of every example, with their labels."""
    rng = np.random.default_rng(seed)
    names = [pattern for pattern in patterns for _ in range(maps_of_each)]
    lengths = rng.integers(8, 24, size=len(names))
    rows = [
        {
            "map": f"x-{number:04d}",
            "model": MODEL,
            "task": "RTE",
            "state": "finetuned",
            "seed": 1,
            "idx": number // 2,
            "layer": 1,
            "head": number % 2 + 1,
            "tokens": " ".join(f"e{number // 2}t{place}" for place in range(length)),
            "segments": "0" * (length // 2) + "1" * (length - length // 2),
            "special": "1" + "0" * (length - 2) + "1",
            "earlier": "",
        }
        for number, length in enumerate(lengths)
    ]
    maps = [_weights(name, length, rng) for name, length in zip(names, lengths, strict=True)]
    table = pd.DataFrame(rows, columns=list(COLUMNS)).astype({"seed": "Int64"})
    labels = pd.DataFrame(
        {
            "map": table["map"],
            "label": names,
            "columns": ["s" if name in COLUMNED else "-" for name in names],
            "number": [2 if name in COLUMNED else 0 for name in names],
            "diagonal": [2 if "diagonal" in name else 0 for name in names],
            "annotator": "x",
            "pass": 1,
            "tokens": "shown",
            "time": "2026-01-01T00:00:00Z",
        }
    )
    return MapSet(table, maps, labels)


def save(mapset, folder):
    """Write a set with its labels."""
    mapset.save(folder)
    mapset.labels.to_csv(folder / "labels.csv", index=False)
    return folder


def predictions(
    maps=80,
    seed=0,
    names=NAMES,
    definition="lenient",
    left_out="example",
    classifier=FEATURES,
):
    """Made-up predictions, mostly right, for two maps of every example."""
    rng = np.random.default_rng(seed)
    labels = rng.choice(names, size=maps)
    right = 1.5 * np.eye(len(NAMES))[[NAMES.index(name) for name in labels]]
    fold = rng.integers(1, 4, size=maps)
    logits = rng.normal(size=(maps, len(NAMES))) + right
    table = pd.DataFrame(
        {
            "classifier": classifier,
            "left_out": left_out,
            "definition": definition,
            "fold": fold,
            "map": [f"x-{number}" for number in range(maps)],
            "encoder": MODEL,
            "state": "finetuned",
            "example": np.arange(maps) // 2 * 7,
            "label": labels,
            "predicted": np.array(NAMES)[logits.argmax(axis=1)],
            "temperature": 1.5,
        }
    )
    table[crossvalidation.probability_columns()] = crossvalidation.softmax(logits)
    return table[list(PATTERN_PREDICTIONS.names)]
