"""Shares of the five patterns among all maps of a model, with their uncertainty (Figure 2)."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Floats, Integers, Values
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.resampling import cluster_weights, interval, multinomial_weights
from darksecrets.paper.patterns import quality
from darksecrets.paper.patterns.classes import DEFINITIONS, LENIENT, PATTERNS, STRICT, Definition
from darksecrets.paper.patterns.label_noise import LabelNoise, count_cells, widest
from darksecrets.paper.patterns.tables import EXAMPLE, MODEL

OTHERS = "other models"
"""Whose confusions shares are corrected for if no maps of the run's encoder were labelled."""
PRIOR = 10
"""Maps that the confusions of all encoders count for, beside an encoder's own."""
COLUMNS_OF: dict[Definition, str] = {LENIENT: "lenient", STRICT: "pattern"}
"""Column of classified maps with the class under each definition."""
_RIDGE = 1e-12  # for classes that are confused exactly alike, whose shares are not determined
_TRACE = 1e-6  # of every map, so that no class is missing in a resample
_FEASIBLE = -1e-9  # a share may be below 0 by rounding


def correct(shares: Floats, rates: Floats) -> Floats:
    """Correct the shares of predicted classes for the classifier's confusions.

    A classifier that takes a tenth of the diagonals for verticals predicts too many verticals. This
    returns the shares p, not negative and with sum 1, that minimize |Mᵀp - q|², where q are the
    predicted shares and M[i, j] is the share of maps of class i that are predicted as j. The
    correction is valid if maps of a run are confused as often as the labelled ones.

    The optimum is exact: the classes with a share above 0 form one of 31 sets, and on each set the
    optimum solves a linear system.

    Args:
        shares: [..., classes] shares of predicted classes.
        rates: [..., classes, classes] M; a class whose rates are 0, because no map of it was
            labelled, gets no share.

    Returns:
        [..., classes].
    """
    shape = np.broadcast_shapes(shares.shape, rates.shape[:-1])
    flat = np.broadcast_to(shares, shape).reshape(-1, shape[-1])
    matrices = np.broadcast_to(rates, (*shape, shape[-1])).reshape(-1, shape[-1], shape[-1])
    classes = np.flatnonzero(matrices.any(axis=(0, 2)))
    best = np.zeros(flat.shape)
    least = np.full(len(flat), np.inf)
    pending = np.arange(len(flat))
    for size in range(len(classes), 0, -1):
        for some in itertools.combinations(classes, size):
            found = _solve(flat[pending], matrices[pending][:, some, :], np.array(some))
            gaps = np.einsum("ni,nij->nj", found, matrices[pending]) - flat[pending]
            error = np.where(found.min(axis=-1) >= _FEASIBLE, (gaps**2).sum(axis=-1), np.inf)
            better = error < least[pending]
            best[pending[better]], least[pending[better]] = found[better], error[better]
        if size == len(classes):  # what is optimal without bounds, and within them, is optimal
            pending = pending[np.isinf(least)]
            if not len(pending):
                break
    best = best.clip(min=0)
    return (best / best.sum(axis=-1, keepdims=True)).reshape(shape)


def _solve(shares: Floats, rates: Floats, some: Integers) -> Floats:
    """The optimal shares of some classes with sum 1, possibly negative (Lagrange multipliers)."""
    size = len(some)
    products = rates @ np.swapaxes(rates, -1, -2)
    system = np.ones((*products.shape[:-2], size + 1, size + 1))
    system[..., :size, :size] = products
    system[..., size, size] = 0
    right = np.einsum("...ij,...j->...i", rates, shares)
    right = np.concatenate([right, np.ones((*right.shape[:-1], 1))], axis=-1)
    system[..., range(size), range(size)] += _RIDGE
    solution = np.linalg.solve(system, right[..., None])[..., 0]
    found = np.zeros((*solution.shape[:-1], shares.shape[-1]))
    found[..., some] = solution[..., :size]
    return found


def shares_by_example(maps: pd.DataFrame) -> Floats:
    """[examples, classes] share of each class among an example's maps.

    Args:
        maps: Columns ``idx`` and ``pattern``, a row per map.
    """
    counts = pd.crosstab(maps["idx"], maps["pattern"]).reindex(columns=list(PATTERNS), fill_value=0)
    numbers = counts.to_numpy(dtype=np.float64)
    return numbers / numbers.sum(axis=1, keepdims=True)


@dataclass(frozen=True)
class Labelled:
    """Labelled maps as the classifier predicts them, under one definition.

    Attributes:
        table: A row per map: ``encoder``, ``state``, ``example``, ``label``.
        predicted: [repetitions, maps] class that each training of the classifier predicts, as its
            place among the classes.
    """

    table: pd.DataFrame
    predicted: Integers

    @classmethod
    def of(
        cls, classifier: str, predictions: pd.DataFrame, left_out: str, definition: Definition
    ) -> Labelled:
        """Take them from the cross-validation, see `quality.predictions_of`."""
        rows = quality.predictions_of(classifier, predictions, left_out, definition)
        parts = [one.sort_values("map") for _, one in rows.groupby("repetition")]
        places = [one["predicted"].map(list(PATTERNS).index).to_numpy(np.int64) for one in parts]
        table = parts[0] if parts else rows
        predicted = np.stack(places) if places else np.zeros((1, 0), dtype=np.int64)
        return cls(table.reset_index(drop=True), predicted)

    def counts(self, repetition: int, weights: Values) -> Counted:
        """Count maps by encoder, state, label and prediction of one repetition.

        Args:
            repetition: From 0.
            weights: [..., maps] how often each map counts.
        """
        encoders, states, places, shape = self._places(repetition)
        cells = np.ravel_multi_index(places, shape)
        flat = (np.asarray(weights, np.float64) + _TRACE) @ np.eye(int(np.prod(shape)))[cells]
        return Counted(encoders, states, flat.reshape(*flat.shape[:-1], *shape))

    def redrawn_counts(
        self, repetition: int, weights: Integers, noise: LabelNoise, rng: np.random.Generator
    ) -> Counted:
        """Likewise, but each resample has labels of its own, drawn again."""
        encoders, states, places, shape = self._places(repetition)
        labels = noise.draw(places[2], self.table["encoder"].to_numpy(), len(weights), rng)
        before = np.ravel_multi_index(places[:2], shape[:2])
        cells = (before * shape[2] + labels) * shape[3] + places[3]
        flat = count_cells(cells, weights + _TRACE, int(np.prod(shape)))
        return Counted(encoders, states, flat.reshape(len(weights), *shape))

    def _places(
        self, repetition: int
    ) -> tuple[list[str], list[str], list[Integers], tuple[int, ...]]:
        """Encoders, states, and each map's place among these, the labels and the classes."""
        encoders, states = (
            sorted(self.table[name].fillna("").unique()) for name in ("encoder", "state")
        )
        count = len(PATTERNS)
        places = [
            self.table["encoder"].map(encoders.index).to_numpy(),
            self.table["state"].fillna("").map(states.index).to_numpy(),
            self.table["label"].map(list(PATTERNS).index).to_numpy(),
            self.predicted[repetition],
        ]
        return encoders, states, places, (len(encoders), len(states), count, count)


@dataclass(frozen=True)
class Counted:
    """Numbers of labelled maps.

    Attributes:
        encoders: Their names.
        states: Their names.
        numbers: [..., encoder, state, label, predicted].
    """

    encoders: list[str]
    states: list[str]
    numbers: Floats

    def rates(self, encoders: Sequence[str], state: str) -> Floats:
        """How often maps of a class are predicted as each class.

        Few maps say little. So the rates of an encoder in a state are drawn towards those of the
        encoder in all states, and these towards those of all maps, as if there were `PRIOR` more
        maps with such rates. A class without maps keeps rates of 0.

        Args:
            encoders: Names of the encoder; none for all encoders together.
            state: State of the maps to correct; another one than the labelled maps' adds nothing.

        Returns:
            [..., label, predicted].
        """
        found = _shrunk(self.numbers.sum(axis=(-4, -3)), None)
        places = [self.encoders.index(name) for name in encoders] or range(len(self.encoders))
        own = self.numbers[..., list(places), :, :, :].sum(axis=-4)
        if encoders:
            found = _shrunk(own.sum(axis=-3), found)
        if state in self.states:
            found = _shrunk(own[..., self.states.index(state), :, :], found)
        return found

    def undo(self, noise: LabelNoise) -> Counted:
        """The same by true classes, if labels' errors are independent of the classifier's."""
        by_state = np.swapaxes(self.numbers, -4, -3)  # [..., state, encoder, label, predicted]
        numbers = np.swapaxes(noise.undo(by_state, np.array(self.encoders)), -4, -3)
        return Counted(self.encoders, self.states, numbers)

    def errors(self) -> Floats:
        """[..., encoder, class] share of a class among labels, less its share as classified."""
        by_encoder = self.numbers.sum(axis=-3)
        totals = by_encoder.sum(axis=(-2, -1))[..., None]
        return (by_encoder.sum(axis=-1) - by_encoder.sum(axis=-2)) / totals


@dataclass(frozen=True)
class Known:
    """Confusions of labelled maps under one definition, for all models of a run.

    Attributes:
        once: For each repetition of the training.
        drawn: Of resamples of the labelled examples, [resamples, …]; resample n is of repetition n
            modulo their number, so that the first array has the first, that many later, and so on.
        redrawn: The same resamples, with labels drawn again, see `label_noise`.
        undone: The same, with confusions freed from those of the labels.
    """

    once: list[Counted]
    drawn: list[Counted]
    redrawn: list[Counted]
    undone: list[Counted]

    @classmethod
    def of(cls, labelled: Labelled, noise: LabelNoise, resamples: int, seed: int) -> Known:
        """Count confusions, and draw resamples."""
        rng = np.random.default_rng(seed)
        weights = cluster_weights(resamples, labelled.table["example"].to_numpy(), rng)
        repetitions = len(labelled.predicted)
        one = np.ones(len(labelled.table))
        drawn = [labelled.counts(n, weights[n::repetitions]) for n in range(repetitions)]
        return cls(
            [labelled.counts(n, one) for n in range(repetitions)],
            drawn,
            [
                labelled.redrawn_counts(n, weights[n::repetitions], noise, rng)
                for n in range(repetitions)
            ],
            [each.undo(noise) for each in drawn],
        )


def _shrunk(numbers: Floats, towards: Floats | None) -> Floats:
    """Rates of numbers [..., label, predicted], drawn towards other rates."""
    if towards is not None:
        numbers = numbers + PRIOR * towards
    totals = numbers.sum(axis=-1, keepdims=True)
    return np.divide(numbers, totals, out=np.zeros_like(numbers), where=totals > 0)


def count(
    classifier: str, predictions: pd.DataFrame, resamples: int, seed: int
) -> dict[tuple[str, Definition], Known]:
    """Count a classifier's confusions in a cross-validation, by what was left out and definition.

    Args:
        classifier: Its name.
        predictions: The table `PATTERN_PREDICTIONS`.
        resamples: Number of resamples for the intervals.
        seed: Seed of the resamples.

    Returns:
        Only what the table has rows of.
    """
    found = {}
    for left_out, definition in itertools.product((EXAMPLE, MODEL), DEFINITIONS):
        labelled = Labelled.of(classifier, predictions, left_out, definition)
        if len(labelled.table):
            noise = LabelNoise.of(predictions, definition)
            found[left_out, definition] = Known.of(labelled, noise, resamples, seed)
    return found


def table(
    maps: pd.DataFrame,
    known: Mapping[tuple[str, Definition], Known],
    encoder: str | None,
    state: str,
    resamples: int,
    seed: int,
) -> pd.DataFrame:
    """Shares of the patterns in one model's maps on one task, as classified and corrected.

    Args:
        maps: Columns ``idx``, ``pattern`` and ``lenient``, a row per map.
        known: From `count`, of the classifier that classified the maps.
        encoder: From `labelled_maps.encoder_of` of the run's encoder and the state; None if no maps
            of this encoder are labelled.
        state: State of the model.
        resamples: Number of resamples for the intervals, as for ``known``.
        seed: Seed of the resamples, another one than that of ``known``.

    Returns:
        A row per definition and class: ``definition``, ``pattern``, ``share``, ``ci_low``,
        ``ci_high``, ``corrected``, ``corrected_low``, ``corrected_high``, and ``confusions_of``:
        the name that the labelled maps have for this encoder, or ``OTHERS``. Definitions that no
        labelled map has are left out.
    """
    tables = []
    for definition, column in COLUMNS_OF.items():
        if (EXAMPLE, definition) not in known:
            continue
        inside = known[EXAMPLE, definition]
        own = [name for name in inside.once[0].encoders if name == encoder]
        used = inside if own else known.get((MODEL, definition), inside)
        shares = shares_by_example(maps.assign(pattern=maps[column]))
        found = estimate(shares, used, own, state, resamples, np.random.default_rng(seed))
        tables.append(found.assign(definition=definition, confusions_of=", ".join(own) or OTHERS))
    return pd.concat(tables, ignore_index=True)


def estimate(
    shares: Floats,
    known: Known,
    own: Sequence[str],
    state: str,
    resamples: int,
    rng: np.random.Generator,
) -> pd.DataFrame:
    """Estimate shares of patterns, and how far off they may be.

    If maps of the run's encoder were labelled, shares are corrected for their confusions, and the
    interval is a bootstrap over the run's examples, the labelled examples (the confusions of few
    are uncertain) and the repetitions of the training; it allows for wrong labels (`label_noise`).

    Other encoders are confused differently. Corrected for the confusions of the labelled ones,
    their shares were further off than as classified, when each labelled encoder was left out in
    turn (`benchmarks/results/pattern_coverage.md`). So they are not corrected. The interval spans
    two prediction intervals for one more encoder (`_predict`): about the shares as classified, with
    the errors that these had for the encoders left out; and about the corrected shares, with their
    spread over the encoders whose confusions they are corrected for. It allows for wrong labels,
    too.

    Args:
        shares: [examples, classes] share of each class among an example's maps.
        known: Confusions of labelled maps.
        own: Names of the run's encoder among the labelled ones; none if there are no maps of it.
        state: State of the run's model.
        resamples: Number of resamples.
        rng: Source of random numbers.

    Returns:
        A row per class, see `table`.
    """
    once = np.ones(len(shares), dtype=np.int64)
    drawn = multinomial_weights(resamples, once, rng) @ shares / len(shares)
    shown, several = shares.mean(axis=0), len(known.once)
    corrected = _mean_correction(shown, known.once, own, state)

    def corrected_resamples(counted: Sequence[Counted]) -> Floats:
        parts = [
            correct(drawn[n::several], each.rates(own, state)) for n, each in enumerate(counted)
        ]
        return np.concatenate(parts)

    varied = corrected_resamples(known.drawn)
    revised = [interval(corrected_resamples(each)) for each in (known.redrawn, known.undone)]
    if own:
        low, high = widest(interval(varied), *revised)
    else:
        names = known.once[0].encoders
        each = np.stack([_mean_correction(shown, known.once, [name], state) for name in names])
        errors: Floats = np.mean([one.errors() for one in known.once], axis=0)
        spans: list[Any] = [
            _predict(corrected, varied, each - corrected),
            _predict(shown, drawn, errors),
            *revised,
        ]
        (low, high), corrected = (np.min(spans, axis=0)[0], np.max(spans, axis=0)[1]), shown
    ends = interval(drawn)
    return pd.DataFrame(
        {
            "pattern": list(PATTERNS),
            "share": shown,
            "ci_low": ends[0],
            "ci_high": ends[1],
            "corrected": corrected,
            "corrected_low": low,
            "corrected_high": high,
        }
    )


def _mean_correction(
    shares: Floats, counted: Sequence[Counted], encoders: Sequence[str], state: str
) -> Floats:
    """[classes] shares, corrected for an encoder's confusions; mean over repetitions."""
    found = [correct(shares, one.rates(encoders, state)) for one in counted]
    return np.asarray(np.mean(found, axis=0), dtype=np.float64)


def _predict(centre: Floats, varied: Floats, errors: Floats) -> tuple[Floats, Floats]:
    """Prediction interval for an encoder that is drawn like the labelled ones.

    Args:
        centre: [classes] the estimate.
        varied: [resamples, classes] its bootstrap distribution.
        errors: [encoders, classes] how far the labelled encoders are from it.

    Returns:
        Lower and upper end, [classes] each: the estimate ± t · s. The variance s² is that of the
        bootstrap plus (1 + 1 / n) times the mean square of the n encoders' errors, of n - 1 degrees
        of freedom, as t. With one encoder nothing is known of others, and the interval is
        everything.
    """
    from scipy import stats

    count = len(errors)
    if count < 2:
        return np.zeros_like(centre), np.ones_like(centre)
    between = (errors**2).sum(axis=0) / (count - 1)
    spread = np.sqrt(varied.var(axis=0) + (1 + 1 / count) * between)
    reach = stats.t.ppf(1 - LEVEL / 2, count - 1) * spread
    return (centre - reach).clip(min=0), (centre + reach).clip(max=1)


def shares_by_head(maps: pd.DataFrame) -> pd.DataFrame:
    """Shares of the patterns in the maps of every head, over all examples.

    Args:
        maps: Columns ``layer``, ``head``, ``pattern``, a row per map.

    Returns:
        A row per head and class: ``layer``, ``head``, ``pattern``, ``share``.
    """
    counts = pd.crosstab([maps["layer"], maps["head"]], maps["pattern"])
    counts = counts.reindex(columns=list(PATTERNS), fill_value=0)
    shares = counts.div(counts.sum(axis=1), axis=0).reset_index()
    tidy = shares.melt(["layer", "head"], list(PATTERNS), "pattern", "share")
    return tidy.sort_values(["layer", "head"], kind="stable", ignore_index=True)
