"""The tables of importance of one model, by several definitions, from what was measured.

All definitions are greater, the more the task needs the head or MLP.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.beyond.importance import declared
from darksecrets.beyond.importance.measure.gradients import Gradients
from darksecrets.core.arrays import Floats, Integers
from darksecrets.core.interventions.disable import UNIFORM, ZERO
from darksecrets.core.stats.ranks import Draws, agreement, rank_correlations
from darksecrets.core.stats.resampling import bootstrap_weights, interval, widened

HALVES = 20
"""Random divisions of the examples into halves."""

Definition = Callable[[Integers], Floats]
"""A function from weights, [draws, examples], to importances, [draws, layers, heads]."""


def definitions(found: Gradients) -> dict[tuple[str, str], Definition]:
    """All definitions, by mode and name.

    Args:
        found: What was measured.
    """
    made: dict[tuple[str, str], Definition] = {
        (ZERO, declared.ABSOLUTE): lambda weights: _means(np.abs(found.output), weights),
        (ZERO, declared.SIGNED): lambda weights: -_means(found.output, weights),
        (UNIFORM, declared.ABSOLUTE): lambda weights: _means(np.abs(found.kept), weights),
        (UNIFORM, declared.SIGNED): lambda weights: -_means(found.kept, weights),
    }
    for mode in (ZERO, UNIFORM):
        made[mode, declared.EXACT] = partial(_means, found.exact[mode])
    return made


def definitions_of_mlps(found: Gradients) -> dict[str, Definition]:
    """Definitions of the importance of MLPs, as functions to [draws, layers, 1]; none without MLPs.

    Args:
        found: What was measured.
    """
    if found.mlp is None or found.mlp_exact is None:
        return {}
    values = {
        declared.ABSOLUTE: np.abs(found.mlp),
        declared.SIGNED: -found.mlp,
        declared.EXACT: found.mlp_exact,
    }
    return {name: partial(_means, example_values) for name, example_values in values.items()}


def estimates(found: Gradients, definition: Definition) -> Floats:
    """[layers, heads] a definition on all examples."""
    every = np.ones((1, len(found.output)), np.int64)
    return np.asarray(definition(every)[0])


def drawn(found: Gradients, definition: Definition, resamples: int, seed: int) -> Floats:
    """[resamples, layers, heads] a definition on examples drawn with replacement."""
    rng = np.random.default_rng(seed)
    weights_of_resamples = bootstrap_weights(resamples, len(found.output), rng)
    return np.concatenate([definition(weights) for weights in weights_of_resamples])


def _means(values: Floats, weights: Integers) -> Floats:
    """[draws, layers, heads] weighted means over examples."""
    totals = weights.sum(axis=1)[:, None, None]
    return np.tensordot(weights.astype(np.float64), values, axes=1) / totals


RESAMPLES = 1000
"""Bootstrap samples of the examples, and of the heads or MLPs."""


def head_importance(found: Gradients, seed: int) -> pd.DataFrame:
    """`HEAD_IMPORTANCE` without the columns of the model: intervals are over examples."""
    tables = []
    for (mode, name), definition in definitions(found).items():
        values = estimates(found, definition)
        low, high = _ends(found, definition, name, seed)
        layers, heads = (places + 1 for places in np.indices(values.shape))
        columns = {"layer": layers, "head": heads, "importance": values}
        ends = {"ci_low": low, "ci_high": high}
        table = pd.DataFrame(
            {column: np.ravel(flat) for column, flat in {**columns, **ends}.items()}
        )
        tables.append(table.assign(mode=mode, definition=name, examples=len(found.output)))
    return declared.HEAD_IMPORTANCE.select(pd.concat(tables, ignore_index=True))


def _ends(found: Gradients, definition: Definition, name: str, seed: int) -> Floats:
    """[2, layers, heads or 1] ends of intervals over examples; of absolute values, at least 0."""
    percentiles = interval(drawn(found, definition, RESAMPLES, seed))
    values = estimates(found, definition)
    ends = widened(percentiles, values, np.array(len(found.output)))
    return ends if name in (declared.SIGNED, declared.EXACT) else np.maximum(ends, 0)


def mlp_importance(found: Gradients, seed: int) -> pd.DataFrame:
    """`MLP_IMPORTANCE` without the columns of the model; no rows if there is nothing of MLPs."""
    tables = [pd.DataFrame(columns=[*declared.MLP_IMPORTANCE.names[3:]])]
    for name, definition in definitions_of_mlps(found).items():
        values = estimates(found, definition)[:, 0]
        low, high = _ends(found, definition, name, seed)[..., 0]
        columns = {"layer": np.arange(1, len(values) + 1), "importance": values}
        table = pd.DataFrame(columns | {"ci_low": low, "ci_high": high})
        tables.append(table.assign(definition=name, examples=len(found.output)))
    return declared.MLP_IMPORTANCE.select(pd.concat(tables[1:] or tables, ignore_index=True))


def importance_agreement(
    importance: pd.DataFrame,
    found: Gradients,
    effects: pd.DataFrame,
    mode: str,
    draws: Mapping[str, int],
) -> pd.DataFrame:
    """`IMPORTANCE_AGREEMENT` without the columns of the model.

    Args:
        importance: What `head_importance` returned.
        found: What it was computed from.
        effects: Rows of ``head_ablation`` of the same model, for one metric.
        mode: The mode of these effects.
        draws: ``permutations`` and ``seed``.
    """
    groups = importance.groupby(["mode", "definition"], sort=False)
    by_name = {(str(of), str(name)): _values(part, "importance") for (of, name), part in groups}
    scores = _values(effects.assign(loss=-effects["delta"]), "loss")
    shape = found.output.shape[1:]
    layers = np.repeat(np.arange(shape[0]), shape[1])
    head_draws = Draws(layers, RESAMPLES, draws["permutations"], draws["seed"])
    rows = []
    for (of_mode, name), values in by_name.items():
        about = {"part": declared.HEADS, "mode": of_mode, "definition": name, "parts": len(layers)}
        if name != declared.EXACT:
            reference = by_name[of_mode, declared.EXACT]
            rows.append(
                {
                    **about,
                    "reference": declared.LOSS,
                    **agreement(values, reference, head_draws).columns,
                }
            )
        if of_mode == mode:
            rows.append(
                {
                    **about,
                    "reference": declared.SCORE,
                    **agreement(values, scores, head_draws).columns,
                }
            )
    rows += _agreement_of_halves(found, draws["seed"])
    rows += _agreement_of_mlps(found, draws)
    return declared.IMPORTANCE_AGREEMENT.select(pd.DataFrame(rows))


def _agreement_of_halves(found: Gradients, seed: int) -> list[dict[str, Any]]:
    """Rows of definitions on one half of the examples beside the same on the other half."""
    rng, rows = np.random.default_rng([seed, 3]), []
    count = len(found.output)
    for (mode, name), definition in definitions(found).items():
        chosen = np.stack([rng.permutation(count) for _ in range(HALVES)]) < count // 2
        halves = [definition(half.astype(np.int64)) for half in (chosen, ~chosen)]
        one, other = (values.reshape(HALVES, -1) for values in halves)
        about = {"part": declared.HEADS, "mode": mode, "definition": name, "parts": one.shape[1]}
        rho = float(rank_correlations(one, other).mean()) if count > 1 else np.nan
        rows.append({**about, "reference": declared.EXAMPLES, "spearman": rho})
    return rows


def _agreement_of_mlps(found: Gradients, draws: Mapping[str, int]) -> list[dict[str, Any]]:
    """Rows of the gradients of MLPs beside their leave-one-out losses."""
    made, seed = definitions_of_mlps(found), draws["seed"]
    values = {name: estimates(found, each).T for name, each in made.items()}
    resampled = {name: drawn(found, each, RESAMPLES, seed) for name, each in made.items()}
    rows: list[dict[str, Any]] = []
    for name in (name for name in made if name != declared.EXACT):
        count = values[name].shape[1]
        mlp_draws = Draws(np.zeros(count, np.int64), 1, draws["permutations"], seed)
        columns = agreement(values[name], values[declared.EXACT], mlp_draws).columns
        ends = interval(
            rank_correlations(resampled[name][..., 0], resampled[declared.EXACT][..., 0])
        )
        low, high = ends if count > 1 else (np.nan, np.nan)
        columns |= {"ci_low": low, "ci_high": high}
        about = {"part": declared.MLPS, "mode": ZERO, "definition": name, "parts": count}
        rows.append({**about, "reference": declared.LOSS, **columns})
    return rows


def _values(table: pd.DataFrame, column: str) -> Floats:
    """[1, heads] in the order of layers and heads."""
    values = table.sort_values(["layer", "head"])[column].to_numpy(dtype=np.float64)
    return values[None]
