"""Which layers fine-tuning changes most (section 4.3): the last two, as the paper says?

The change of a layer is 1 − cosine of maps before and after fine-tuning. Layers whose heads are
alike anyway can change less, so changes are also compared relative to 1 − cosine of different heads
of the layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Flags, Floats
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.core.stats.crossed import drawn_means
from darksecrets.core.stats.paired import FEWEST, sign_flips
from darksecrets.core.stats.resampling import interval
from darksecrets.paper.finetuning.tables import LAST_LAYERS, SCALES

RESAMPLES = 2000
"""Samples of examples and seeds."""
DRAWS = 9999
"""Random changes of signs in a test."""
EQUAL = 2.0**-20
"""Cosines closer than this are equal: half precision moves them by about 2**-23."""

_LAST = 2  # layers that the paper says change most
_KINDS = ("similarity", "other_heads")


@dataclass(frozen=True)
class Changes:
    """1 − cosine of the layers on one task, all [seeds, examples, layers], means over the heads.

    Attributes:
        change: Before and after fine-tuning.
        between_heads: Different heads of the layer before fine-tuning; NaN if it has one.
    """

    change: Floats
    between_heads: Floats

    @property
    def relative(self) -> Floats:
        """Changes relative to the distance between heads, [seeds, examples, layers].

        The mean over seeds and examples is the ratio of means. The values around it are its linear
        approximation, which has the spread of the ratio, the divisor's included. NaN for layers
        whose heads do not differ.
        """
        divisor = self._divisor
        ratio = self.change.mean(axis=(0, 1)) / divisor
        return ratio + (self.change - ratio * self.between_heads) / divisor

    @property
    def _divisor(self) -> Floats:
        means = self.between_heads.mean(axis=(0, 1))
        return np.where(means > EQUAL, means, np.nan)

    def resampled(self, rng: np.random.Generator) -> dict[str, Floats]:
        """[resamples, layers] `change` and `relative` of the same samples, to compare layers."""
        kinds = ("change", "between_heads")

        def add_relative(means: Floats) -> Floats:
            divisor = np.where(np.isnan(self._divisor), np.nan, means[..., 1])
            return np.stack([means[..., 0], means[..., 0] / divisor], axis=-1)

        values = np.stack([getattr(self, name) for name in kinds], axis=-1)
        drawn = drawn_means(values, RESAMPLES, rng, add_relative)
        return dict(zip(SCALES, np.moveaxis(drawn, -1, 0), strict=True))


def changes_of(parts: Sequence[pd.DataFrame]) -> dict[str, Changes]:
    """The changes of every task, from its tables `layer_similarity` of all seeds.

    Raises:
        InputError: The seeds of a task differ in examples or layers.
    """
    table = pd.concat(parts, ignore_index=True)
    return {
        str(task): _stacked([rows for _, rows in task_rows.groupby("seed", sort=False)])
        for task, task_rows in table.groupby("task", sort=False)
    }


def _stacked(seeds: Sequence[pd.DataFrame]) -> Changes:
    keys = [rows[["idx", "layer"]].to_numpy() for rows in seeds]
    if not all(np.array_equal(key, keys[0]) for key in keys):
        raise InputError(
            f"The similarities of {seeds[0]['task'].iloc[0]} are of other examples or layers for "
            "one seed than for another; expected the same ones for all seeds. Remove the folder "
            "`similarity` of the run and run again."
        )
    layers = int(keys[0][:, 1].max())
    values = np.stack([rows[list(_KINDS)].to_numpy(np.float64) for rows in seeds])
    return Changes(*np.moveaxis(1 - values.reshape(len(seeds), -1, layers, len(_KINDS)), -1, 0))


def last_layers(tasks: Mapping[str, Changes]) -> pd.DataFrame:
    """Whether the last two layers change most, on every task and scale.

    Returns:
        The table `last_layers`.
    """
    rows = [
        {"task": task, "scale": scale, **_compare(changes, scale)}
        for task, changes in tasks.items()
        for scale in SCALES
        if changes.change.shape[-1] > _LAST and not np.isnan(getattr(changes, scale)).any()
    ]
    table = pd.DataFrame(rows, columns=LAST_LAYERS.names)
    for p, q in (("p_value", "q_value"), ("p_greatest", "q_greatest")):
        table[q] = benjamini_hochberg(table[p].to_numpy(np.float64)) if len(table) else 1.0
    return table


def _compare(changes: Changes, scale: str) -> dict[str, float]:
    """The last two layers against the others, on one task."""
    values: Floats = getattr(changes, scale)
    seeds, examples, _ = values.shape
    drawn = changes.resampled(np.random.default_rng(0))[scale]
    equal = EQUAL / (1 if scale == "change" else float(np.nanmin(changes._divisor)))
    own = values.mean(axis=0)
    means = own.mean(axis=0)
    ends = interval(_margin(drawn)) if examples >= FEWEST else np.full(2, np.nan)
    pairs = own[:, -_LAST:, None] - own[:, None, :-_LAST]
    rng = np.random.default_rng(0)
    tests = sign_flips(
        np.column_stack([_margin(own), pairs.reshape(examples, -1)]), DRAWS, rng, zero=equal
    )
    return {
        "last": means[-_LAST:].mean(),
        "rest": means[:-_LAST].mean(),
        "difference": float(_margin(means)),
        "ci_low": ends[0],
        "ci_high": ends[1],
        "p_value": tests.p[0],
        "greatest": bool(_greatest(means, equal)),
        "probability": _greatest(drawn, equal).mean(),
        "p_greatest": tests.p[1:].max(),
        "examples": examples,
        "seeds": seeds,
    }


def _margin(values: Floats) -> Floats:
    """[...] mean of the last two layers − mean of the others, of [..., layers]."""
    return np.asarray(values[..., -_LAST:].mean(axis=-1) - values[..., :-_LAST].mean(axis=-1))


def _greatest(values: Floats, equal: float) -> Flags:
    """[...] whether both of the last two layers are above all others, of [..., layers]."""
    return values[..., -_LAST:].min(axis=-1) > values[..., :-_LAST].max(axis=-1) + equal
