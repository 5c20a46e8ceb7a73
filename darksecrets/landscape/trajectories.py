"""When do heads change in fine-tuning? Half of the way of their maps, and the order of layers.

The change of a head is measured along the straight line from its first maps to its last ones
(`Followed.along`). Maps that move together along their lines, some far and some not, are halfway at
the same step. By 1 − cosine they would not be: it grows with the square of a small change, but not
of a large one, so that how late a head seems would depend on how far it goes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.arrays import Flags, Floats, Integers, Values
from darksecrets.landscape import trajectory_tables as t
from darksecrets.landscape.followed import STATISTICS, Followed, require_alike
from darksecrets.patterns.classes import PATTERNS
from darksecrets.run.tables import identify
from darksecrets.stats import LEVEL
from darksecrets.stats.corrections import benjamini_hochberg
from darksecrets.stats.paired import FEWEST, mean_intervals
from darksecrets.stats.resampling import interval_of_known, resampled_means
from darksecrets.stats.trend import rank_trends, trend_test

LEAST = 0.005
"""Smallest ‖last − first‖ / ‖first‖ of maps whose way is followed: rounding both to half precision
moves them apart by up to 0.0005."""
HALF = 0.5
RESAMPLES = 1000
"""Bootstrap samples of the examples."""
PERMUTATIONS = 9999
"""Of the layers, of encoders with more than 7."""

_PERCENT = 100.0


Models = Mapping[tuple[str, str], Mapping[int, Followed]]
"""What was measured of models, by task and state, then by seed."""


def compare(models: Models, seed: int) -> dict[str, pd.DataFrame]:
    """Make the tables `trajectory_tables.TABLES`, by name.

    Args:
        models: All models of the run that were followed.
        seed: Seed of the random draws.

    Raises:
        InputError: Seeds were followed at different steps or on different examples.
    """
    parts: dict[str, list[pd.DataFrame]] = {table.name: [] for table in t.TABLES}
    for (task, state), results in models.items():
        require_alike(results, f"{task}/{state}")
        ways = {number: Way.of(result, seed) for number, result in results.items()}
        for number, result in results.items():
            model = (task, f"{state}/seed-{number}")
            parts[t.HEAD_TRAJECTORIES.name].append(
                identify(head_trajectories(result, ways[number], seed), *model)
            )
            parts[t.HEAD_HALFWAY.name].append(identify(head_halfway(ways[number]), *model))
        layers, about = [way.of_layers() for way in ways.values()], {"task": task, "state": state}
        parts[t.LAYER_HALFWAY.name].append(layer_halfway(layers).assign(**about))
        parts[t.HALFWAY_ORDER.name].append(halfway_order(layers, seed).assign(**about))
    found = {name: pd.concat(rows, ignore_index=True) for name, rows in parts.items()}
    found[t.HALFWAY_ORDER.name] = with_verdicts(found[t.HALFWAY_ORDER.name])
    return {table.name: found[table.name][list(table.names)] for table in t.TABLES}


def with_verdicts(order: pd.DataFrame) -> pd.DataFrame:
    """Rows of `HALFWAY_ORDER` with the false discovery rate over all rows, and the verdicts."""
    q = benjamini_hochberg(order["p_value"])
    lows = order[["spearman_low", "ci_low"]].to_numpy(float)
    highs = order[["spearman_high", "ci_high"]].to_numpy(float)
    found = q <= LEVEL
    cases = [found & (lows > 0).all(axis=1), found & (highs < 0).all(axis=1)]
    return order.assign(q_value=q, verdict=np.select(cases, [t.LATER, t.EARLIER], t.NO_ORDER))


@dataclass(frozen=True)
class Way:
    """How far maps have come on the way from the first to the last, over all examples.

    Attributes:
        steps: [snapshots] steps.
        sums: [snapshots, ...] ⟨now − first, last − first⟩, mean over examples; the last is
            ‖last − first‖².
        drawn: [resamples, snapshots, ...] the same on resamples of the examples.
        first: [...] ‖first‖², mean over examples.
        weights: [snapshots] the progress of all weights.
        examples: Number of examples.
    """

    steps: Integers
    sums: Floats
    drawn: Floats
    first: Floats
    weights: Floats
    examples: int

    @classmethod
    def of(cls, result: Followed, seed: int) -> Way:
        """That of every head, [..., layers, heads]; all heads share the resamples."""
        along = np.moveaxis(result.along, 1, 0)
        rng = np.random.default_rng(seed)
        drawn = resampled_means(along.reshape(len(along), -1), RESAMPLES, rng)
        return cls(
            steps=result.steps,
            sums=along.mean(axis=0),
            drawn=drawn.reshape(-1, *along.shape[1:]),
            first=result.first.mean(axis=0),
            weights=result.weights,
            examples=len(along),
        )

    def of_layers(self) -> Way:
        """That of the heads of each layer together, [..., layers]."""
        parts = {name: getattr(self, name).sum(axis=-1) for name in ("sums", "drawn", "first")}
        return Way(self.steps, **parts, weights=self.weights, examples=self.examples)

    @property
    def change(self) -> Floats:
        """[...] ‖last − first‖ / ‖first‖."""
        return np.sqrt(self.sums[-1] / self.first)

    @property
    def progress(self) -> Floats:
        """[snapshots, ...] from 0 to 1; NaN where maps hardly change."""
        return _known(self.sums / np.where(self.sums[-1] > 0, self.sums[-1], 1), self.change)

    @property
    def halfway(self) -> Floats:
        """[...] share of the training when half is reached; NaN where maps hardly change."""
        return _known(halfway(self.sums, self._shares), self.change)

    @property
    def drawn_halfway(self) -> Floats:
        """[resamples, ...] the same on resamples."""
        return _known(halfway(np.moveaxis(self.drawn, 1, 0), self._shares), self.change)

    @property
    def ends(self) -> Floats:
        """[2, ...] interval of `halfway`; NaN for few examples."""
        if self.examples < FEWEST:
            return np.full((2, *self.change.shape), np.nan)
        return interval_of_known(self.drawn_halfway)

    @property
    def weights_halfway(self) -> float:
        """When half of the way of all weights is covered, as a share of the training."""
        return float(halfway(self.weights, self._shares))

    @property
    def _shares(self) -> Floats:
        return self.steps / self.steps[-1]


def halfway(along: Floats, shares: Floats) -> Floats:
    """Where curves first reach half of their end, linear between their points.

    Args:
        along: [points, ...] curves from 0.
        shares: [points] ascending places of the points.

    Returns:
        [...]; NaN where the end is not above 0.
    """
    half = HALF * along[-1]
    after = (along >= half).argmax(axis=0)
    after = np.maximum(after, 1)  # curves that are 0 throughout
    low, high = (np.take_along_axis(along, place[None], 0)[0] for place in (after - 1, after))
    rise = np.where(high > low, high - low, 1)
    found = shares[after - 1] + (half - low) / rise * (shares[after] - shares[after - 1])
    return np.where(along[-1] > 0, found, np.nan)


def head_trajectories(result: Followed, way: Way, seed: int) -> pd.DataFrame:
    """Rows of `HEAD_TRAJECTORIES` of one model, without what identifies it."""
    snapshots, layers, heads = np.indices((len(result.steps), *result.first.shape[1:]))
    columns: dict[str, Values] = {
        "step": result.steps[snapshots],
        "layer": layers + 1,
        "head": heads + 1,
        "training": _PERCENT * result.shares[snapshots],
        "progress": way.progress,
        "same_pattern": _share(result.patterns == result.patterns[:1]),
        "examples": np.full(snapshots.shape, way.examples),
    }
    for name, short, values in (
        ("cosine_to_start", "start", result.to_start),
        ("cosine_to_end", "end", result.to_end),
    ):
        ends = _intervals(values, seed)
        columns |= {name: values.mean(axis=1), f"{short}_low": ends[0], f"{short}_high": ends[1]}
    columns |= {
        name: result.values[:, number].mean(axis=1) for number, name in enumerate(STATISTICS)
    }
    columns |= {
        t.pattern_column(name): _share(result.patterns == number)
        for number, name in enumerate(PATTERNS)
    }
    return pd.DataFrame({name: values.ravel() for name, values in columns.items()})


def head_halfway(way: Way) -> pd.DataFrame:
    """Rows of `HEAD_HALFWAY` of one model, without what identifies it."""
    layers, heads = np.indices(way.change.shape)
    after, by = _snapshots_around(way.halfway, way.steps)
    columns = {
        "layer": layers + 1,
        "head": heads + 1,
        "change": way.change,
        "halfway": _PERCENT * way.halfway,
        "ci_low": _PERCENT * way.ends[0],
        "ci_high": _PERCENT * way.ends[1],
        "weights_halfway": np.full(layers.shape, _PERCENT * way.weights_halfway),
        "examples": np.full(layers.shape, way.examples),
    }
    rows = pd.DataFrame({name: values.ravel() for name, values in columns.items()})
    around = {"after_step": after, "by_step": by}
    return rows.assign(
        **{name: pd.array(steps.ravel()).astype("Int64") for name, steps in around.items()}
    )


def layer_halfway(ways: list[Way]) -> pd.DataFrame:
    """Rows of `LAYER_HALFWAY` over seeds, without task and state."""
    profile, drawn = _profiles(ways)
    ends = interval_of_known(drawn) if drawn.size else np.full((2, len(profile)), np.nan)
    return pd.DataFrame(
        {
            "layer": np.arange(len(profile)) + 1,
            "seeds": len(ways),
            "halfway": _PERCENT * profile,
            "ci_low": _PERCENT * ends[0],
            "ci_high": _PERCENT * ends[1],
            "weights_halfway": _PERCENT * float(np.mean([way.weights_halfway for way in ways])),
            "examples": ways[0].examples,
        }
    )


def halfway_order(ways: list[Way], seed: int) -> pd.DataFrame:
    """The row of `HALFWAY_ORDER` over seeds; without task and state, q-value and verdict."""
    profile, drawn = _profiles(ways)
    row: dict[str, float] = dict.fromkeys(_OF_ORDER, np.nan)
    if not np.isnan(profile).any() and len(profile) > 1:
        p = trend_test(profile, PERMUTATIONS, np.random.default_rng(seed))
        of_profile = (rank_trends(profile), _PERCENT * _difference(profile), p)
        row |= dict(zip(("spearman", "difference", "p_value"), map(float, of_profile), strict=True))
        known = drawn[~np.isnan(drawn).any(axis=1)]
        if len(known):
            row["spearman_low"], row["spearman_high"] = interval_of_known(rank_trends(known))
            row["ci_low"], row["ci_high"] = _PERCENT * interval_of_known(_difference(known))
    return pd.DataFrame([{"seeds": len(ways), "layers": len(profile), **row}])


_OF_ORDER = (
    *("spearman", "spearman_low", "spearman_high"),
    *("difference", "ci_low", "ci_high", "p_value"),
)


def _profiles(ways: list[Way]) -> tuple[Floats, Floats]:
    """[layers] mean halfway over seeds, and [resamples, layers]; none of few examples."""
    profile: Floats = np.mean([way.halfway for way in ways], axis=0)
    if ways[0].examples < FEWEST:
        return profile, np.empty((0, len(profile)))
    return profile, np.mean([way.drawn_halfway for way in ways], axis=0)


def _difference(profiles: Floats) -> Floats:
    """[...] mean of the upper half of the layers minus that of the lower, a middle one left out."""
    half = profiles.shape[-1] // 2
    upper, lower = profiles[..., -half:], profiles[..., :half]
    return upper.mean(axis=-1) - lower.mean(axis=-1)


def _intervals(values: Floats, seed: int) -> Floats:
    """[2, snapshots, layers, heads] of means over the examples; NaN for few."""
    by_example = np.moveaxis(values, 1, 0)
    if len(by_example) < FEWEST:
        return np.full((2, *by_example.shape[1:]), np.nan)
    return np.clip(mean_intervals(by_example, RESAMPLES, np.random.default_rng(seed)), 0, 1)


def _known(values: Floats, change: Floats) -> Floats:
    """The values of maps that change; NaN for the others."""
    return np.where(change >= LEAST, values, np.nan)


def _share(flags: Flags) -> Floats:
    """[snapshots, layers, heads] per cent of the examples."""
    return _PERCENT * flags.mean(axis=1)


def _snapshots_around(shares: Floats, steps: Integers) -> tuple[Floats, Floats]:
    """Steps of the snapshots before places in the training, and from there on; NaN stays."""
    place = np.nan_to_num(shares) * steps[-1]
    by = np.clip(np.searchsorted(steps, place - 1e-9), 1, len(steps) - 1)
    after, until = (np.where(np.isnan(shares), np.nan, steps[each]) for each in (by - 1, by))
    return after, until
