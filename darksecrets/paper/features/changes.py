"""How fine-tuning changes the attention to tokens with a feature (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.crossed import drawn_means
from darksecrets.core.stats.paired import FEWEST, nanmean
from darksecrets.core.stats.permutation import sign_permutation
from darksecrets.core.stats.resampling import feasible, interval_of_known
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.profiles import (
    ROUNDING,
    Models,
    Profiles,
    append_encoder,
    check_paired,
    layer_numbers,
    stacked,
)
from darksecrets.paper.features.tables import ATTENTION_CHANGES, GREATEST


def changes(models: Models, draws: int, resamples: int, seed: int) -> pd.DataFrame:
    """The table `attention_changes.csv`, for tasks with both states.

    Two tests are made of the change over control, and the larger p-value counts. The one over
    examples asks whether the change is a fact about the two models and not about these examples;
    the one over heads whether heads change in the same direction. Two encoders with unrelated
    weights differ on almost all examples, but not in all heads in one direction.

    Args:
        models: All models of the run.
        draws: Random sign changes of the tests.
        resamples: Bootstrap samples of the intervals.
        seed: Seed of both.

    Raises:
        InputError: See `profiles.check_paired`.
    """
    check_paired(models)
    parts = [
        _task_rows(states["pretrained"], states["finetuned"], draws, resamples, seed).assign(
            task=task
        )
        for task, states in models.items()
        if {"pretrained", "finetuned"} <= states.keys()
    ]
    if not parts:
        return pd.DataFrame(columns=list(ATTENTION_CHANGES.names))
    table = pd.concat(parts, ignore_index=True).astype({"layer": "Int64"})
    for family in (table["layer"].isna(), table["layer"].notna()):
        table.loc[family, "q_value"] = benjamini_hochberg(table.loc[family, "p_value"])
    return table[list(ATTENTION_CHANGES.names)]


def _task_rows(
    before: Sequence[Profiles], after: Sequence[Profiles], draws: int, resamples: int, seed: int
) -> pd.DataFrame:
    """Rows of one task: every feature in every layer, and in the encoder."""
    change, size = _difference(before, after, "weights")
    control, _ = _difference(before, after, "control")
    over = change - control
    values = {"change": change, "control": control, "over_control": over}
    columns = {name: nanmean(all_, axis=1).mean(axis=0) for name, all_ in values.items()}
    enough = (~np.isnan(change[0])).sum(axis=0) >= FEWEST
    for name, most in (("change", 1.0), ("over_control", 2.0)):
        drawn = drawn_means(values[name], resamples, np.random.default_rng(seed))
        ends = feasible(interval_of_known(drawn), -most, most)
        columns[f"{name}_low"], columns[f"{name}_high"] = np.where(enough, ends, np.nan)
    rng = np.random.default_rng(seed)
    sure = np.where(np.abs(over) <= ROUNDING * size, 0, over).mean(axis=0)
    columns["p_value"] = np.maximum(
        _sign_test(np.moveaxis(sure, 0, -1), draws, rng), _p_over_heads(before, after, draws, rng)
    )
    examples = (before[0].tokens > 0).sum(axis=0)
    feature, place = np.nonzero(np.broadcast_to(examples[:, None] > 0, change.shape[2:]))
    layers = layer_numbers(change.shape[-1] - 1)
    return pd.DataFrame(
        {name: table[feature, place] for name, table in columns.items()}
        | {
            "feature": np.array(FEATURES)[feature],
            "layer": [layers[number] for number in place],
            "seeds": len(after),
            "examples": examples[feature],
        }
    )


def _difference(
    before: Sequence[Profiles], after: Sequence[Profiles], part: str
) -> tuple[Floats, Floats]:
    """[models, examples, features, places] what `after` has more, and the size of the terms."""
    one, other = (append_encoder(stacked(models, part, GREATEST)) for models in (before, after))
    return other - one, np.maximum(one, other)


def _p_over_heads(
    before: Sequence[Profiles], after: Sequence[Profiles], draws: int, rng: np.random.Generator
) -> Floats:
    """[features, places] p-values over heads: of a layer, and of all layers."""
    own, control, size = (
        [stacked(models, part, GREATEST).mean(axis=0) for models in (before, after)]
        for part in ("heads", "control_heads", "heads")
    )
    over = (own[1] - control[1]) - (own[0] - control[0])
    over = np.where(np.abs(over) <= ROUNDING * np.maximum(*size), 0, over)
    whole = over.reshape(len(over), 1, -1)
    parts = [_sign_test(values, draws, rng) for values in (over, whole)]
    return np.concatenate(parts, axis=1)


def _sign_test(values: Floats, draws: int, rng: np.random.Generator) -> Floats:
    """Two-sided test of means above or below 0, over the last axis; NaN counts as 0."""
    known = np.nan_to_num(values).reshape(-1, values.shape[-1])
    return sign_permutation(known, draws, rng).reshape(values.shape[:-1])
