"""Whether the same heads matter for every fine-tuning seed (section 4.6)."""

from __future__ import annotations

from itertools import combinations

import numpy as np
import pandas as pd
from scipy.stats import kendalltau, spearmanr

_MODELS = ["task", "state", "metric"]
_COLUMNS = ["seed", "other_seed", "heads", "spearman", "kendall"]


def seed_agreement(heads: pd.DataFrame) -> pd.DataFrame:
    """Rank correlations of the heads' deltas between every two fine-tuning seeds.

    Args:
        heads: `head_ablation.csv`.

    Returns:
        A row per task, state, metric and pair of seeds: ``seed``, ``other_seed``, ``heads`` (how
        many), ``spearman`` and ``kendall`` (tau-b) in [-1, 1], which are empty if all deltas of a
        seed are equal. With one seed there are no rows.
    """
    rows = []
    for model, table in heads.groupby(_MODELS, sort=False):
        deltas = table.pivot_table(index=["layer", "head"], columns="seed", values="delta")
        for seed, other in combinations(deltas.columns, 2):
            both = deltas[[seed, other]].to_numpy().T
            varied = (np.ptp(both, axis=1) > 0).all()
            ranks = [f(*both).statistic if varied else np.nan for f in (spearmanr, kendalltau)]
            rows.append([*model, seed, other, both.shape[1], *ranks])
    return pd.DataFrame(rows, columns=[*_MODELS, *_COLUMNS])
