"""Numbers about disabled heads that claims need and no table has."""

from __future__ import annotations

import itertools

import pandas as pd

_MODEL, _PLACE = ["task", "state", "seed", "metric"], ["layer", "head"]


def largest_shares(sizes: pd.DataFrame) -> pd.DataFrame:
    """Shares of the model's heads that can be disabled together.

    Args:
        sizes: The table ``largest_sets``.

    Returns:
        The table, with ``value``, ``low`` and ``high``: shares instead of numbers of heads.
    """
    ends = {"value": "largest", "low": "ci_low", "high": "ci_high"}
    return sizes.assign(**{name: sizes[column] / sizes["heads"] for name, column in ends.items()})


def worst_heads_elsewhere(heads: pd.DataFrame, survival: pd.DataFrame) -> pd.DataFrame:
    """Effects of the two heads that one task needs most on another task, beside the mean head.

    The heads are chosen on one task and scored on the other, so that no example does both.

    Args:
        heads: The table ``head_ablation``.
        survival: The table ``survival``.

    Returns:
        Columns ``chosen_on``, ``task``, ``state``, ``seed``, ``metric``; ``value``: mean effect of
        the two heads minus that of all heads, in points, with ``low`` and ``high``, valid for any
        dependence between the heads.
    """
    columns = ["delta", "ci_low", "ci_high"]
    models = heads.sort_values(_PLACE).groupby(_MODEL)
    effects = {name: model[columns].to_numpy() for name, model in models}  # [head, column]
    first = heads.drop_duplicates(_MODEL[:3])[_MODEL].itertuples(index=False, name=None)
    means = survival[survival["kind"] == "head"].to_dict("records")
    rows = []
    for chosen, mean in itertools.product(first, means):
        scored = tuple(mean[column] for column in _MODEL)
        if chosen[0] != scored[0] and chosen[1:3] == scored[1:3]:
            worst = effects[chosen][:, 0].argsort(kind="stable")[:2]
            value, low, high = effects[scored][worst].mean(axis=0)
            low, high = low - mean["mean_high"], high - mean["mean_low"]
            rows.append((chosen[0], *scored, value - mean["mean_effect"], low, high))
    return pd.DataFrame(rows, columns=["chosen_on", *_MODEL, "value", "low", "high"])


def equal_words_of_worst(worst: pd.DataFrame, equal_words: pd.DataFrame) -> pd.DataFrame:
    """How much the heads that a task needs attend to words of both sentences, beside controls.

    Args:
        worst: The table ``worst_heads``.
        equal_words: The table ``equal_words``.

    Returns:
        Columns ``task``, ``state``, ``seed``, ``rank``, ``control``; ``value``, what exceeds the
        control, with ``low`` and ``high``.
    """
    key = ["task", "state", *_PLACE]
    both = worst[[*key, "rank"]].merge(equal_words, on=key)
    controls = [
        both[["task", "state", "seed", "rank"]].assign(
            control=name, value=both[name], low=both[f"{name}_low"], high=both[f"{name}_high"]
        )
        for name in ("over_control", "over_same_key", "over_place", "excess", "excess_product")
    ]
    return pd.concat(controls, ignore_index=True)
