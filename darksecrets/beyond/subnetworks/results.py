"""Predictions of the whole model and of subnetworks side by side; needs no torch."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd

from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.errors import InputError

WHOLE = "whole"


def sets_of(names: Sequence[str]) -> pd.DataFrame:
    """Rows of the sets of a sweep; the first is the whole model."""
    kinds = ["baseline", *["set"] * (len(names) - 1)]
    sets = pd.DataFrame({"kind": kinds, "layer": pd.NA, "head": pd.NA, "name": list(names)})
    return sets.astype({"layer": "Int64", "head": "Int64"})


def with_retrained(result: SweepResult, predictions: Mapping[str, pd.DataFrame]) -> SweepResult:
    """The whole model beside re-trained subnetworks.

    Args:
        result: Predictions of the whole model, and others.
        predictions: By name, tables of predictions of the re-trained subnetworks.

    Raises:
        InputError: A table is about other examples.
    """
    found = [result.predictions[0]]
    for name, table in predictions.items():
        if table["idx"].tolist() != result.idx.tolist():
            raise InputError(
                f"Found predictions of the re-trained subnetwork {name} for other examples than "
                "those of the fine-tuned model, expected the same. Run both again."
            )
        found.append(table["prediction"].to_numpy(dtype=result.predictions.dtype))
    return SweepResult(sets_of([WHOLE, *predictions]), np.stack(found), result.labels, result.idx)
