"""Whether both classifiers give a run's maps the same patterns (section 4.1)."""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.core.stats.agreement import cohens_kappa
from darksecrets.core.stats.resampling import interval_of_known, multinomial_weights
from darksecrets.paper.patterns.classes import CNN, FEATURES, PATTERNS
from darksecrets.paper.patterns.shares import COLUMNS_OF


def compare_classifiers(maps: pd.DataFrame, resamples: int, seed: int) -> pd.DataFrame:
    """Compare the patterns that both classifiers give the same maps.

    Args:
        maps: Columns ``classifier``, ``idx``, ``layer``, ``head``, ``pattern`` and ``lenient``, a
            row per map and classifier.
        resamples: Number of resamples for the intervals, of examples.
        seed: Seed of the resamples.

    Returns:
        A row per definition: ``definition``, ``maps``, ``agreement``, ``kappa``, ``ci_low``,
        ``ci_high``; kappa is NaN if both classifiers give all maps the same pattern.
    """
    place = ["idx", "layer", "head"]
    of_cnn, of_features = (maps[maps["classifier"] == name] for name in (CNN, FEATURES))
    suffixes = (f"_{CNN}", f"_{FEATURES}")
    both = of_cnn.merge(of_features, on=place, validate="one_to_one", suffixes=suffixes)
    examples, numbers = np.unique(both["idx"], return_inverse=True)
    weights = multinomial_weights(
        resamples, np.ones(len(examples), dtype=np.int64), np.random.default_rng(seed)
    )
    classes = list(PATTERNS)
    rows = []
    for definition, column in COLUMNS_OF.items():
        first, second = (
            both[f"{column}_{name}"].map(classes.index).to_numpy() for name in (CNN, FEATURES)
        )
        counts = np.zeros((len(examples), len(classes), len(classes)), dtype=np.int64)
        np.add.at(counts, (numbers, first, second), 1)
        total = counts.sum(axis=0)
        low, high = interval_of_known(cohens_kappa(np.tensordot(weights, counts, axes=1)))
        rows.append(
            {
                "definition": definition,
                "maps": len(both),
                "agreement": float(np.trace(total)) / len(both),
                "kappa": float(cohens_kappa(total)),
                "ci_low": low,
                "ci_high": high,
            }
        )
    return pd.DataFrame(rows)
