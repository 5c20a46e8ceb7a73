"""Made-up importances and statistics of heads that have nothing to do with each other."""

import numpy as np
import pandas as pd

from darksecrets.beyond.importance.declared import ABSOLUTE, EXACT
from darksecrets.paper.features.shown import SHOWN
from darksecrets.paper.features.tables import HEAD_STATISTICS as STATISTICS

LAYERS, HEADS = 4, 5
METRICS = {"RTE": ["accuracy"], "MRPC": ["f1", "accuracy"]}
DRAWS = {"permutations": 199, "seed": 1}
(SHOWN_STATISTICS,) = OF_STATISTICS = [s for s in SHOWN if s.table.name == STATISTICS.name]
KIND, VALUE = SHOWN_STATISTICS.kind, SHOWN_STATISTICS.value
KINDS = STATISTICS.columns[STATISTICS.names.index(KIND)].values[:4]


def importance(rng: np.random.Generator) -> pd.DataFrame:
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "mode": mode, "definition": definition}
        | {"layer": layer, "head": head, "importance": rng.normal()}
        for task in METRICS
        for seed in (1, 2)
        for mode in ("zero", "uniform")
        for definition in (ABSOLUTE, EXACT)
        for layer in range(1, LAYERS + 1)
        for head in range(1, HEADS + 1)
    ]
    return pd.DataFrame(rows)


def statistics(rng: np.random.Generator) -> pd.DataFrame:
    models = [("pretrained", None), ("finetuned", 1), ("finetuned", 2), ("random", 1)]
    rows = [
        {"task": task, "state": state, "seed": seed, KIND: kind, "layer": layer, "head": head}
        for task in METRICS
        for state, seed in models
        for kind in KINDS
        for layer in range(1, LAYERS + 1)
        for head in range(1, HEADS + 1)
    ]
    frame = pd.DataFrame(rows).astype({"seed": "Int64"})
    for column in STATISTICS.columns:
        if column.name not in frame:
            frame[column.name] = rng.random(len(frame))
    return frame[list(STATISTICS.names)]


def following(table: pd.DataFrame, needed: pd.DataFrame) -> pd.DataFrame:
    """The statistics with one kind of them equal to exact importance, for every model alike."""
    exact = needed[(needed["mode"] == "zero") & (needed["definition"] == EXACT)]
    means = exact.groupby(["task", "layer", "head"])["importance"].mean().to_dict()
    places = table[["task", "layer", "head"]].apply(tuple, axis=1)
    return table.assign(
        **{VALUE: table[VALUE].where(table[KIND] != KINDS[0], places.map(means) + 9)}
    )
