"""Fine-tunings that may fail, though none at hand did (Devlin et al. 2019; Mosbach et al. 2021).

A few seeds rarely have a failure that one in ten has: of three, 73 % have none. Then nothing in
their scores tells of it, and no interval from them covers the mean over all seeds. So a difference
of mean scores is only claimed if it would be there with one fine-tuning in ten at the score of the
majority baseline.
"""

from __future__ import annotations

import pandas as pd

FAILING = 0.1
"""Share of fine-tunings that are allowed for."""
TABLE = "score_differences"
BELOW, ABOVE = "allowed_below", "allowed_above"
"""Columns with what the ends of an interval are moved by."""

_KEY = ["task", "metric"]


def allowed_for(frame: pd.DataFrame) -> pd.DataFrame:
    """Differences of scores, with intervals that allow for models that fail.

    Args:
        frame: `score_differences.csv`, with ``value``, ``low`` and ``high``. Where it does not
            compare a model with the majority baseline, nothing is allowed for.
    """
    over = frame[frame["reference"] == "majority"].set_index([*_KEY, "model"])["value"]
    frame = frame.copy()
    for column, name in ((BELOW, "model"), (ABOVE, "reference")):
        of = pd.MultiIndex.from_frame(frame[[*_KEY, name]])
        frame[column] = FAILING * over.reindex(of).fillna(0).clip(lower=0).to_numpy()
    return frame.assign(low=frame["low"] - frame[BELOW], high=frame["high"] + frame[ABOVE])
