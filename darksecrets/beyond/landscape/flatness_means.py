"""Flatness over fine-tuning seeds, and its difference between both ways to begin."""

from __future__ import annotations

import numpy as np
import pandas as pd

from darksecrets.beyond.landscape.tables import DIFFERENCE, FLATNESS_MEANS, LEAST, STATES
from darksecrets.core.arrays import Floats
from darksecrets.core.stats.resampling import feasible
from darksecrets.core.stats.seeds import mean_over_seeds

LEARNED = 0.9
"""Models have learned if their loss is less than this share of that of constant output."""
_WHAT = ["task", "split", "measure"]


def means(flatness: pd.DataFrame) -> pd.DataFrame:
    """Means over seeds, with their intervals, and differences of both states of the same seed.

    An interval adds the variance over seeds to that over random vectors (for an eigenvalue, its
    residual takes the place of a standard error). With one seed it is about the models at hand; a
    sharpness, which has no error of its own, then has none. Examples are the same for all models:
    intervals are about these.

    Args:
        flatness: `FLATNESS` of any tasks.

    Returns:
        `FLATNESS_MEANS`.
    """
    rows = []
    for what, group in flatness.groupby(_WHAT, sort=False):
        about = dict(zip(_WHAT, what, strict=True))
        wide = group.pivot(index="seed", columns="state", values=["value", "error"])
        for state in STATES:
            if state in wide["value"]:
                both = wide[[("value", state), ("error", state)]].dropna(how="all")
                values, errors = both.to_numpy(dtype=np.float64).T
                least = LEAST.get(str(about["measure"]), -np.inf)
                rows.append({**about, "state": state, **_mean(values, errors, least)})
        if set(STATES) <= set(wide["value"]):
            pairs = wide.loc[wide["value"][list(STATES)].dropna().index]
            values = pairs["value"][list(STATES)].to_numpy(dtype=np.float64)
            errors = pairs["error"][list(STATES)].to_numpy(dtype=np.float64)
            gained = values[:, 1] - values[:, 0]
            rows.append({**about, "state": DIFFERENCE, **_mean(gained, np.hypot(*errors.T))})
    return pd.DataFrame(rows)[list(FLATNESS_MEANS.names)]


def _mean(values: Floats, errors: Floats, least: float = -np.inf) -> dict[str, float]:
    """The mean over [seeds], given [seeds] standard errors; NaN where there is none.

    Ends below the least possible value are there.
    """
    known = np.nan_to_num(errors)
    found = mean_over_seeds(values, float((known**2).sum()) / len(values) ** 2)
    unknown = len(values) == 1 and bool(np.isnan(errors).all())
    ends = feasible(np.full(2, np.nan) if unknown else [found.low, found.high], least, np.inf)
    interval = dict(zip(("ci_low", "ci_high"), map(float, ends), strict=True))
    return {"seeds": len(values), "value": float(found.mean), **interval}


def learned(flatness: pd.DataFrame) -> pd.Series[bool]:
    """Whether models have learned the examples, by their mean loss over seeds.

    Around models that have not, the loss may be flat, but they are at no optimum.

    Args:
        flatness: `FLATNESS` of any tasks.

    Returns:
        Flags by ``task``, ``state`` and ``split``.
    """
    excess = flatness["loss"] - LEARNED * flatness["constant_loss"]
    by = [flatness[name] for name in ("task", "state", "split")]
    return excess.groupby(by).mean() < 0
