"""Whether the heads that other experiments single out matter for the tasks (section 5).

The paper: disabling the heads that follow FrameNet's relations costs nothing, and STS-B and RTE
rely on heads that attend between words which appear in both sentences.
"""

from __future__ import annotations

import pandas as pd

from darksecrets.run.errors import InputError
from darksecrets.stats.percentiles import above_percentile, share_below

DIRECTION = "element_to_predicate"
"""The direction of the published weights, as named in ``framenet_heads.csv``."""

# States whose heads are the pre-trained ones or fine-tuned from them.
_WITH_FRAMES = ("pretrained", "finetuned")

_MODEL = ["task", "state", "seed", "metric"]
_PLACE = ["layer", "head"]
_COLUMNS = [
    *("task", "state", "seed", "group", "layer", "head", "weight", "metric", "delta"),
    *("ci_low", "ci_high", "p_value", "q_value", "others", "share_below"),
]


def linked(
    heads: pd.DataFrame, framenet: pd.DataFrame, equal_words: pd.DataFrame | None = None
) -> pd.DataFrame:
    """Effects of the heads above the 99th percentile in other experiments, and of all others.

    Args:
        heads: `head_ablation.csv`.
        framenet: `framenet_heads.csv`: ``direction``, ``layer``, ``head``, ``weight``, of the
            pre-trained model. Its heads are looked up in every model that was initialized from it,
            not in those fine-tuned from normal weights.
        equal_words: `equal_words.csv`: ``task``, ``state``, ``seed`` (empty for ``pretrained``),
            ``layer``, ``head``, ``weight``; its heads are looked up in the same model. None if
            no task has two sentences.

    Returns:
        A row per model, metric and head above the 99th percentile: ``group`` (`framenet`,
        `equal_words`), the head, its ``weight``, its effect as in ``heads``, ``others`` (the mean
        delta of all heads outside the group) and ``share_below`` (the share of those with a smaller
        delta, that is, whose loss costs more; ties count half).

    Raises:
        InputError: A table lacks columns or the published direction, or names a head that was not
            disabled.
    """
    _require(framenet, ["direction", *_PLACE, "weight"], "framenet_heads.csv")
    if equal_words is not None:
        _require(equal_words, ["task", "state", "seed", *_PLACE, "weight"], "equal_words.csv")
    published = framenet[framenet["direction"] == DIRECTION]
    if published.empty:
        raise InputError(
            f"framenet_heads.csv: found the directions {sorted(set(framenet['direction']))}, "
            f"expected '{DIRECTION}' among them. Make the table again."
        )
    tables = []
    for (task, state, seed, _), table in heads.groupby(_MODEL, sort=False):
        if state in _WITH_FRAMES:
            tables.append(_group(table, _top(published)).assign(group="framenet"))
        if equal_words is None:
            continue
        mine = (equal_words["task"] == task) & (equal_words["state"] == state)
        if state != "pretrained":  # its maps do not depend on a seed; only its classifier does
            mine &= equal_words["seed"] == seed
        if mine.any():
            tables.append(_group(table, _top(equal_words[mine])).assign(group="equal_words"))
    return pd.concat(tables, ignore_index=True)[_COLUMNS]


def _top(heads: pd.DataFrame) -> pd.DataFrame:
    """Heads whose ``weight`` is above the 99th percentile of all; none if the greatest ones tie."""
    chosen: pd.DataFrame = heads[above_percentile(heads["weight"].to_numpy())]
    return chosen


def _group(table: pd.DataFrame, chosen: pd.DataFrame) -> pd.DataFrame:
    """Effects of chosen heads in one model, and the mean effect of the others."""
    mine = chosen[[*_PLACE, "weight"]].merge(table, on=_PLACE)
    if len(mine) < len(chosen):
        raise InputError(
            f"Found heads above the 99th percentile, {chosen[_PLACE].to_dict('records')}, some of "
            "which head_ablation.csv lacks; expected tables of models of one shape. Run again."
        )
    places = pd.MultiIndex.from_frame(table[_PLACE])
    others = table.loc[~places.isin(pd.MultiIndex.from_frame(chosen[_PLACE])), "delta"].to_numpy()
    below = share_below(mine["delta"].to_numpy(), others)
    return mine.assign(others=others.mean(), share_below=below)


def _require(table: pd.DataFrame, columns: list[str], name: str) -> None:
    missing = [column for column in columns if column not in table.columns]
    if missing:
        raise InputError(
            f"{name}: found the columns {list(table.columns)}, expected also {', '.join(missing)}. "
            "Make the table again."
        )
