"""The column that the tables of other sections share."""

from __future__ import annotations

from darksecrets.core.data.metrics import METRICS
from darksecrets.core.run.tables import text

METRIC = text("metric", "name of the score", values=tuple(METRICS))
