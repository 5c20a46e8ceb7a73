"""The numbers of the paper's Table 1."""

from __future__ import annotations

from pathlib import Path

import pandas as pd

PAPER_STATES = {
    "pretrained": "pretrained",
    "finetuned-from-normal": "finetuned_from_normal",
    "finetuned": "finetuned",
}
"""States of the model that the table has, and their columns."""
_METRICS = {"F1/Acc": ["f1", "accuracy"], "Acc": ["accuracy"]}
"""Metrics of the table; for STS-B, "Acc" is Pearson's correlation."""


def read_paper(path: Path) -> pd.DataFrame:
    """Read the paper's Table 1 (``darksecrets/resources/paper/table1.csv``) as a tidy table.

    Returns:
        Columns ``task``, ``state``, ``metric``, ``score`` (×100) and ``size``, the data set's
        size as printed.
    """
    rows = []
    for row in pd.read_csv(path, dtype=str).to_dict("records"):
        task = "MNLI" if row["task"] == "MNLI-m" else row["task"]
        metrics = _METRICS[row["metric"]] if task != "STS-B" else ["pearson"]
        for state, column in PAPER_STATES.items():
            scores = map(float, row[column].split("/"))
            for metric, score in zip(metrics, scores, strict=True):
                rows.append((task, state, metric, score, row["size"]))
    return pd.DataFrame(rows, columns=["task", "state", "metric", "score", "size"])
