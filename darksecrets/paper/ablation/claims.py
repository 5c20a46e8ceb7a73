"""Numbers about disabled heads that claims need and no table has."""

from __future__ import annotations

import itertools

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.independent import ESTIMATE, blanked
from darksecrets.core.stats.seeds import critical_value

_MODEL, _PLACE = ["task", "state", "seed", "metric"], ["layer", "head"]
_TIE = 1e-9  # rounding of a sum of two effects, in points


def varies_across_tasks(heads: pd.DataFrame) -> pd.DataFrame:
    """Whether some head's effect, in points of each task's main metric, differs between tasks.

    Cochran's Q of a head's effects on all tasks. An effect's variance is that of its interval, or
    their mean if it is greater: a sample may lack the changes that vary. The smallest p-value of
    all heads is corrected for their number (Bonferroni). The largest of all seeds counts.

    Args:
        heads: The table ``head_ablation``.

    Returns:
        Columns ``state``, ``seeds``, ``value``: the p-value. No rows with fewer than two tasks.
    """
    from scipy.stats import chi2

    main = heads[heads["metric"] == heads.groupby("task")["metric"].transform("first")]
    found = []
    for (state, seed), rows in main.groupby(["state", "seed"]):
        wide = rows.assign(width=rows["ci_high"] - rows["ci_low"])
        effects, widths = (
            wide.pivot(index=_PLACE, columns="task", values=name).to_numpy()  # [head, task]
            for name in ("delta", "width")
        )
        if effects.shape[1] < 2:
            continue
        variance = (widths / 2 / critical_value(LEVEL)) ** 2
        variance = np.maximum(variance, variance.mean(axis=1, keepdims=True))
        known = variance[:, 0] > 0  # others change nothing on any task
        weights = 1 / variance[known]
        means = np.average(effects[known], axis=1, weights=weights)
        q = (weights * (effects[known] - means[:, None]) ** 2).sum(axis=1)
        p = chi2.sf(q, effects.shape[1] - 1)
        found.append((state, seed, min(1.0, len(effects) * p.min(initial=1.0))))
    table = pd.DataFrame(found, columns=["state", "seed", "value"])
    seeds = table.groupby("state", as_index=False)
    return seeds.agg(value=("value", "max"), seeds=("seed", "size"))


def worst_heads_elsewhere(heads: pd.DataFrame) -> pd.DataFrame:
    """Effects of the two heads that one task needs most on another task, beside their layers.

    The heads are chosen on one task and scored on the other, so that no example does both. If a
    task needs a layer, all of its heads cost something; so they are compared with the other heads
    of their layers.

    Args:
        heads: The table ``head_ablation``.

    Returns:
        Columns ``chosen_on``, ``task``, ``state``, ``seed``, ``metric``; ``value``: mean
        ``over_layer`` of the two heads, in points, with ``low`` and ``high``, valid for any
        dependence between the heads; ``p_value``: share of all choices of heads from the same
        layers whose mean effect is as low.
    """
    models = dict(iter(heads.sort_values(_PLACE).groupby(_MODEL)))
    first = heads.drop_duplicates(_MODEL[:3])[_MODEL].itertuples(index=False, name=None)
    rows = []
    for chosen, (scored, effects) in itertools.product(first, models.items()):
        if chosen[0] != scored[0] and chosen[1:3] == scored[1:3]:
            worst = models[chosen]["delta"].to_numpy().argsort(kind="stable")[:2]
            over = effects.iloc[worst][["over_layer", "over_layer_low", "over_layer_high"]].mean()
            p_value = _share_as_low(effects["delta"].to_numpy(), effects["layer"].to_numpy(), worst)
            rows.append((chosen[0], *scored, *over, p_value))
    return pd.DataFrame(rows, columns=["chosen_on", *_MODEL, *ESTIMATE, "p_value"])


def _share_as_low(effects: Floats, layers: Integers, chosen: Integers) -> float:
    """How many of all choices of heads from the layers of some have a mean effect as low.

    Args:
        effects: [heads].
        layers: [heads] the layer of each.
        chosen: Two heads.
    """
    places = (np.flatnonzero(layers == layers[head]).tolist() for head in chosen)
    sums = [effects[[*pair]].sum() for pair in itertools.product(*places) if len({*pair}) == 2]
    return float(np.mean(np.array(sums) <= effects[chosen].sum() + _TIE))


def equal_words_of_worst(worst: pd.DataFrame, controls: pd.DataFrame) -> pd.DataFrame:
    """How much the heads that a task needs attend to words of both sentences, beside controls.

    Some heads are always the worst, also where no head matters. A task needs those whose loss costs
    it something significant in every seed.

    Args:
        worst: The table ``worst_heads``.
        controls: The table ``equal_word_controls``.

    Returns:
        Columns ``task``, ``state``, ``seed``, ``rank``, ``control``; ``value``, what exceeds the
        control, with ``low`` and ``high``; these are NaN of heads that the task does not need.
    """
    key = ["task", "state", *_PLACE]
    names = {"difference": "value", "difference_low": "low", "difference_high": "high"}
    equal = controls[[*key, "seed", "control", *names]].rename(columns=names)
    needed = (worst["delta"] < 0) & (worst["q_value"] < LEVEL)
    both = worst.assign(needed=needed)[[*key, "rank", "needed"]].merge(equal, on=key)
    return blanked(both, ~both["needed"])[["task", "state", "seed", "rank", "control", *ESTIMATE]]
