"""Numbers about scores that claims need and no table has."""

from __future__ import annotations

import pandas as pd

from darksecrets.finetuning.published import read_paper
from darksecrets.run.files import RESOURCES


def minus_published(means: pd.DataFrame) -> pd.DataFrame:
    """Scores minus those of the paper's Table 1.

    Args:
        means: The table ``score_means``.

    Returns:
        Columns ``task``, ``model``, ``metric``, ``seeds``; ``value``, with ``low`` and ``high``
        (× 100). Scores that the paper does not print have no rows.
    """
    printed = read_paper(RESOURCES / "paper" / "table1.csv").rename(columns={"state": "model"})
    both = means.merge(printed, on=["task", "model", "metric"], suffixes=("", "_printed"))
    ends = {"value": "score", "low": "ci_low", "high": "ci_high"}
    return both[["task", "model", "metric", "seeds"]].assign(
        **{name: both[column] - both["score_printed"] for name, column in ends.items()}
    )
