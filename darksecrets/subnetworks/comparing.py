"""Good subnetworks of several seeds and tasks, and what their heads do."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from darksecrets.arrays import Flags, Integers
from darksecrets.importance.survivors import OfHeads, correlated
from darksecrets.importance.tables import HEADS, PARTS
from darksecrets.stats import LEVEL
from darksecrets.stats.agreement import fleiss_kappa
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.ranks import Draws, agreement
from darksecrets.stats.resampling import feasible, widened
from darksecrets.stats.seeds import critical_value
from darksecrets.subnetworks import tables as t

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
    rows = table[(table["subnetwork"] == t.GOOD) & (table["part"] == part)]
    rows = rows.sort_values(["seed", "layer", "head"])
    found = {}
    for task, of_task in rows.groupby("task", sort=False):
        seeds = of_task.groupby("seed", sort=True)["kept"]
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
    return pd.DataFrame(rows)[list(t.SUBNETWORK_AGREEMENT.names)]


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
    of_parts = float(np.nanvar(fleiss_kappa(counts[drawn]), ddof=1)), parts - 1
    of_seeds = 0.0, max(1, seeds - 1)
    if seeds > 2:
        without = [fleiss_kappa(_counts(np.delete(masks, one, axis=0))) for one in range(seeds)]
        of_seeds = (seeds - 1) ** 2 / seeds * float(np.nanvar(without, ddof=1)), seeds - 1
    critical = critical_value(LEVEL, of_parts, of_seeds)
    reach = critical * float(np.sqrt(of_parts[0] + of_seeds[0]))
    low, high = feasible([kappa - reach, kappa + reach], -1, 1)
    return {"kappa": kappa, "ci_low": low, "ci_high": high}


def _counts(masks: Flags) -> Integers:
    """[parts, 2] how many seeds keep each part, and how many do not."""
    kept = masks.sum(axis=0)
    return np.stack([kept, len(masks) - kept], axis=1)


def subnetwork_overlap(table: pd.DataFrame, permutations: int, seed: int) -> pd.DataFrame:
    """What the good subnetworks of tasks share, beside what they would share by chance.

    Args:
        table: The table ``subnetworks`` of all models.
        permutations: Number of random permutations of the heads.
        seed: Seed of these and of the bootstrap over heads.

    Returns:
        `SUBNETWORK_OVERLAP`; a task with one seed has no row with itself.
    """
    heads = table.loc[table["part"] == HEADS, ["layer", "head"]].drop_duplicates()
    layers = heads.sort_values(["layer", "head"])["layer"].to_numpy(dtype=np.int64)
    found = []
    for part in PARTS:
        masks = good_masks(table, part)
        of_parts = layers if part == HEADS else np.zeros(len(np.unique(layers)), np.int64)
        draws = Draws(of_parts, RESAMPLES, permutations, seed)
        for pair in itertools.combinations_with_replacement(masks, 2):
            row = _shared(masks[pair[0]], None if pair[0] == pair[1] else masks[pair[1]], draws)
            about = dict(zip(("task", "other_task"), pair, strict=True))
            found += [{**about, "part": part, **row}] if row["pairs"] else []
    columns = [name for name in t.SUBNETWORK_OVERLAP.names if name != "q_value"]
    overlap = pd.DataFrame(found, columns=columns)
    overlap.loc[overlap["part"] != HEADS, "p_within_layers"] = np.nan
    q_values = overlap.groupby("part")["p_value"].transform(benjamini_hochberg)
    return overlap.assign(q_value=q_values)[list(t.SUBNETWORK_OVERLAP.names)]


def _shared(first: Flags, second: Flags | None, draws: Draws) -> dict[str, float]:
    """What pairs of models share; of the models of one group if there is no second."""
    if second is None:
        pairs = list(itertools.combinations(first, 2))
    else:
        pairs = list(itertools.product(first, second))
    if not pairs:
        return {"pairs": 0}
    others = None if second is None else second.astype(np.float64)
    columns = agreement(first.astype(np.float64), others, draws).columns
    phi, ends = columns.pop("spearman"), ("ci_low", "ci_high")
    given = np.array([columns[end] for end in ends])
    low, high = feasible(widened(given, np.array(phi), np.array(first.shape[1])), -1, 1)
    return {
        "pairs": len(pairs),
        "shared": float(np.mean([(one & other).mean() for one, other in pairs])),
        "chance": float(np.mean([one.mean() * other.mean() for one, other in pairs])),
        "phi": phi,
        **columns,
        **dict(zip(ends, (low, high), strict=True)),
    }


def surviving_heads(table: pd.DataFrame, *measures: *OfHeads) -> pd.DataFrame:
    """Correlate the share of seeds in which a head survives with what the head does.

    Args:
        table: The table ``subnetworks`` of all models.
        measures: What heads do, see `OfHeads`.

    Returns:
        `SURVIVING_HEADS`.
    """
    needed = (
        ({"task": task}, masks.mean(axis=0, keepdims=True))
        for task, masks in good_masks(table, HEADS).items()
    )
    return correlated(needed, t.SURVIVING_HEADS, *measures)
