"""Trends from layer to layer, and where stripes come from (section 4.4)."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats
from darksecrets.core.run.states import RANDOM
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.correlation import is_constant
from darksecrets.core.stats.crossed import drawn_correlations, drawn_means
from darksecrets.core.stats.paired import FEWEST, nanmean
from darksecrets.core.stats.resampling import interval_of_known
from darksecrets.core.stats.trend import rank_trends, trend_test
from darksecrets.core.stats.weighted import pearson
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.profiles import Models, Profiles, check_paired, stacked
from darksecrets.paper.features.tables import ATTENTION_ORIGINS, ATTENTION_TRENDS, GREATEST


def trends(models: Models, draws: int, resamples: int, seed: int) -> pd.DataFrame:
    """The table `attention_trends.csv`.

    Intervals are over examples and models. The test is over layers: an encoder whose layers differ
    at random has some trend on all examples alike.

    Args:
        models: All models of the run.
        draws: Random permutations of the layers, where there are too many to try all.
        resamples: Bootstrap samples of the intervals.
        seed: Seed of both.

    Raises:
        InputError: See `profiles.check_paired`.
    """
    check_paired(models)
    parts = [
        _trends(profiles, draws, resamples, seed).assign(task=task, state=state)
        for task, states in models.items()
        for state, profiles in states.items()
    ]
    table = pd.concat(parts, ignore_index=True)
    table["q_value"] = table.groupby("state")["p_value"].transform(
        lambda p: benjamini_hochberg(p.to_numpy())
    )
    return table[list(ATTENTION_TRENDS.names)]


def _trends(profiles: Sequence[Profiles], draws: int, resamples: int, seed: int) -> pd.DataFrame:
    """A row per feature that the task has."""
    present = profiles[0].tokens.sum(axis=0) > 0
    weights, control = (
        stacked(profiles, part, GREATEST)[:, :, present] for part in ("weights", "control")
    )
    mean, control_mean = (nanmean(v, axis=1).mean(axis=0) for v in (weights, control))
    rng = np.random.default_rng(seed)
    drawn = drawn_means(weights, resamples, rng, _known_trends)
    enough = (~np.isnan(weights[0, :, :, 0])).sum(axis=0) >= FEWEST
    low, high = np.where(enough, np.clip(interval_of_known(drawn), -1, 1), np.nan)
    return pd.DataFrame(
        {
            "feature": np.array(FEATURES)[present],
            "seeds": len(profiles),
            "layers": mean.shape[-1],
            "correlation": rank_trends(mean),
            "correlation_low": low,
            "correlation_high": high,
            "control": rank_trends(control_mean),
            "p_value": trend_test(mean, draws, rng),
        }
    )


def _known_trends(means: Floats) -> Floats:
    """Trends; NaN where a rare feature is in none of the drawn examples."""
    return np.where(np.isnan(means).any(axis=-1), np.nan, rank_trends(np.nan_to_num(means)))


def origins(models: Models, resamples: int, seed: int) -> pd.DataFrame:
    """The table `attention_origins.csv`, for tasks with all three states.

    Args:
        models: All models of the run.
        resamples: Samples of heads and models, for the intervals.
        seed: Their seed.
    """
    wanted = ("pretrained", RANDOM, "finetuned")
    rows = []
    for task, states in models.items():
        if not {*wanted} <= states.keys():
            continue
        before, by_chance, after = (stacked(states[state], "heads", GREATEST) for state in wanted)
        for number in np.flatnonzero(states["finetuned"][0].tokens.sum(axis=0)):
            sources = np.stack([before[0, number].ravel(), by_chance[0, number].ravel()])
            targets = after[:, number].reshape(len(after), -1)
            names = {"task": task, "feature": FEATURES[number], "seeds": len(after)}
            heads = {"heads": targets.shape[-1]}
            rows.append(names | heads | _alike(sources, targets, resamples, seed))
    return pd.DataFrame(rows, columns=list(ATTENTION_ORIGINS.names))


def _alike(sources: Floats, targets: Floats, resamples: int, seed: int) -> dict[str, float]:
    """Correlations of the two sources with the targets, their difference, and intervals.

    Args:
        sources: [2, heads] weights of `pretrained` and of `random`.
        targets: [models, heads] weights of `finetuned`.
        resamples: Number of samples of heads and models.
        seed: Their seed.
    """
    every = np.ones((1, sources.shape[-1]), dtype=np.int64)
    own = np.mean([pearson(sources, target)(every)[0] for target in targets], axis=0)
    drawn = drawn_correlations(sources, targets, resamples, np.random.default_rng(seed))
    ends = np.clip(interval_of_known(_append_difference(drawn)), [-1, -1, -2], [1, 1, 2])
    found = np.column_stack([_append_difference(own), *ends])
    unknown = is_constant(sources) | bool(is_constant(targets).any())
    found[[*unknown, unknown.any()]] = np.nan
    names = ("correlation", "random", "difference")
    columns = [f"{name}{end}" for name in names for end in ("", "_low", "_high")]
    return dict(zip(columns, found.ravel().tolist(), strict=True))


def _append_difference(both: Floats) -> Floats:
    """[..., 3] the two numbers and their difference, of [..., 2]."""
    return np.concatenate([both, both[..., :1] - both[..., 1:]], axis=-1)
