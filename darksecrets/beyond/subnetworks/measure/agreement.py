"""Good subnetworks of several seeds: are they the same?"""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.beyond.importance.declared import PARTS
from darksecrets.beyond.subnetworks import declared
from darksecrets.core.arrays import Flags, Integers
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.agreement import fleiss_kappa
from darksecrets.core.stats.resampling import feasible
from darksecrets.core.stats.seeds import critical_value

RESAMPLES = 1000
"""Bootstrap samples of the parts."""


def good_masks(table: pd.DataFrame, part: str) -> dict[str, Flags]:
    """Which parts the good subnetworks keep.

    Args:
        table: The table ``subnetworks`` of all models.
        part: Heads or MLPs.

    Returns:
        By task, [seeds, parts], in the order of layers and heads.
    """
    rows = table[(table["subnetwork"] == declared.GOOD) & (table["part"] == part)]
    rows = rows.sort_values(["seed", "layer", "head"])
    found = {}
    for task, task_rows in rows.groupby("task", sort=False):
        seeds = task_rows.groupby("seed", sort=True)["kept"]
        found[str(task)] = np.stack([kept.to_numpy(dtype=bool) for _, kept in seeds])
    return found


def subnetwork_agreement(table: pd.DataFrame, seed: int) -> pd.DataFrame:
    """Fleiss' kappa of the seeds of every task.

    Args:
        table: The table ``subnetworks`` of all models.
        seed: Seed of the bootstrap.

    Returns:
        `SUBNETWORK_AGREEMENT`.
    """
    rows = [
        {"task": task, "part": part, "seeds": len(masks), "parts": masks.shape[1]}
        | {"kept": masks.sum(axis=1).mean(), **_kappa(masks, seed)}
        for part in PARTS
        for task, masks in good_masks(table, part).items()
    ]
    return pd.DataFrame(rows)[list(declared.SUBNETWORK_AGREEMENT.names)]


def _kappa(masks: Flags, seed: int) -> dict[str, float]:
    """Kappa of [seeds, parts] with an interval over parts and, from three seeds on, over seeds.

    The variance is that of a bootstrap over parts, plus that of the jackknife over seeds, which
    two seeds do not have: then the interval is about these two.
    """
    seeds, parts = masks.shape
    counts = _counts(masks)
    kappa = float(fleiss_kappa(counts))
    if np.isnan(kappa):
        return dict.fromkeys(("kappa", "ci_low", "ci_high"), np.nan)
    drawn = np.random.default_rng(seed).integers(parts, size=(RESAMPLES, parts))
    part_variance = float(np.nanvar(fleiss_kappa(counts[drawn]), ddof=1)), parts - 1
    seed_variance = 0.0, max(1, seeds - 1)
    if seeds > 2:
        without = [fleiss_kappa(_counts(np.delete(masks, one, axis=0))) for one in range(seeds)]
        seed_variance = (seeds - 1) ** 2 / seeds * float(np.nanvar(without, ddof=1)), seeds - 1
    critical = critical_value(LEVEL, part_variance, seed_variance)
    reach = critical * float(np.sqrt(part_variance[0] + seed_variance[0]))
    low, high = feasible([kappa - reach, kappa + reach], -1, 1)
    return {"kappa": kappa, "ci_low": low, "ci_high": high}


def _counts(masks: Flags) -> Integers:
    """[parts, 2] how many seeds keep each part, and how many do not."""
    kept = masks.sum(axis=0)
    return np.stack([kept, len(masks) - kept], axis=1)
