"""Table of the sampled examples, and the metric column that other sections share."""

from __future__ import annotations

from darksecrets.data.metrics import METRICS
from darksecrets.run.columns import IDX
from darksecrets.run.tables import Column, Table

METRIC = Column("metric", "text", "name of the score", values=tuple(METRICS))

SAMPLE = Table(
    "samples",
    "Validation examples that the attention experiments use.",
    (IDX,),
    key=("idx",),
)

TABLES = (SAMPLE,)
