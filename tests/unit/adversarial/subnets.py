"""Trials of subnetworks: random ones that are called good, masks of seeds and tasks that agree."""

from collections.abc import Iterator
from pathlib import Path

import made_up_heads
import numpy as np
import pandas as pd

from adversarial.models import SAMPLES, TASK
from adversarial.trials import CI, LEVEL, NULL, POWER, Size, Statements, Trial
from darksecrets.ablation.results import SweepResult
from darksecrets.subnetworks.comparing import (
    subnetwork_agreement,
    subnetwork_overlap,
    surviving_heads,
)
from darksecrets.subnetworks.parts import Parts
from darksecrets.subnetworks.results import sets_of
from darksecrets.subnetworks.statistics import magnitude_pruning, subnetwork_scores
from darksecrets.subnetworks.tables import AS_IT_IS, BAD, GOOD, RANDOM, SUBNETWORKS

_DRAWS, _EASY, _SPREAD = 20, 0.8, 0.3
"""Random subnetworks; mean margin of examples; how much subnetworks differ in quality."""
_SEEDS = 3
_NULL = "random subnetworks that are called good and bad"
_BEST = "the good one is best, the bad one worst"


def of_scores(size: Size, folder: Path) -> Iterator[Trial]:
    """Random subnetworks, each of a quality of its own, and ones of which one is better."""
    for kind, better, truth in ((_NULL, 0.0, NULL), (_BEST, 2.0, POWER)):
        rng, made = np.random.default_rng(35), Statements()
        for _ in range(2 * size.sweeps):
            quality = _SPREAD * rng.normal(size=2 + _DRAWS) + better * np.eye(2 + _DRAWS)[0]
            quality[1] -= better
            table = subnetwork_scores(
                *(_predictions(rng, size.examples, quality), _of_one_size(), TASK),
                trained=AS_IT_IS,
                resamples=SAMPLES.bootstrap,
                seed=3,
            )
            tested = table[table["subnetwork"] != RANDOM]
            ends = "over_random_low", "over_random_high"
            made.interval("subnetwork_scores", "over_random", tested, ends)
            made.each("subnetwork_scores: p_value < 0.05", tested["p_value"] < LEVEL)
        yield from made.trials(kind, truth)


def of_weights(size: Size, folder: Path) -> Iterator[Trial]:
    """Subnetworks, and models with fewer weights, that are as good as the whole model."""
    for kind, worse, truth in (("equal models", 0.0, NULL), ("all lose", -1.0, POWER)):
        rng, made = np.random.default_rng(36), Statements()
        for _ in range(size.sweeps):
            found = _predictions(rng, size.examples, np.full(2 + _DRAWS, worse), worse)
            options = {"resamples": SAMPLES.bootstrap, "seed": 3}
            made.interval(
                "magnitude_pruning", "delta", magnitude_pruning(found, TASK, **options), CI
            )
            scores = subnetwork_scores(found, _of_one_size(), TASK, trained=AS_IT_IS, **options)
            made.interval("subnetwork_scores", "delta", scores, CI)
        yield from made.trials(kind, truth)


def _predictions(
    rng: np.random.Generator, examples: int, quality: np.ndarray, of_weights: float = 0.0
) -> SweepResult:
    """The whole model, subnetworks of some qualities, and models with fewer weights."""
    names = ["whole", "good 1", "bad 1", *(f"random {n}" for n in range(1, _DRAWS + 1))]
    pruned = [f"magnitude 0.{left}" for left in range(9, 0, -1)]
    labels = (rng.random(examples) < 0.6).astype(np.int64)
    labels[:2] = 0, 1
    added = np.concatenate([[0.0], quality, np.full(len(pruned), of_weights)])
    noise = _SPREAD * rng.normal(size=(len(added), examples))
    right = _EASY + rng.normal(size=examples) + noise + added[:, None] > 0
    predictions = np.where(right, labels, 1 - labels)
    return SweepResult(sets_of([*names, *pruned]), predictions, labels, np.arange(examples))


def _of_one_size() -> pd.DataFrame:
    """The table of a good, a bad and a random subnetwork that keep as much."""
    one = Parts(np.eye(2, 3) > 0, np.array([True, False]))
    return _table([("RTE", 1, name, one) for name in (GOOD, BAD, RANDOM)])


def _table(every: list[tuple[str, int, str, Parts]]) -> pd.DataFrame:
    tables = [
        parts.table().assign(task=task, state="finetuned", seed=seed, subnetwork=name, draw=1)
        for task, seed, name, parts in every
    ]
    joined = pd.concat(tables, ignore_index=True).assign(weights=1, step=pd.NA)
    return SUBNETWORKS.check(joined[list(SUBNETWORKS.names)], "", "")


def of_masks(size: Size, folder: Path) -> Iterator[Trial]:
    """Masks of seeds and tasks that have nothing to do with each other, and ones that agree."""
    heads = made_up_heads.LAYERS, made_up_heads.HEADS
    for kind, copied, truth in (
        ("masks that have nothing in common", 0.0, NULL),
        ("masks that share most of their parts", 0.8, POWER),
    ):
        rng, made = np.random.default_rng(37), Statements()
        for _ in range(size.sweeps):
            shared, every = _mask(rng, heads), []
            for task in made_up_heads.METRICS:
                for seed in range(1, _SEEDS + 1):
                    own = _mask(rng, heads)
                    kept = np.where(rng.random(heads) < copied, shared.heads, own.heads)
                    every.append((task, seed, GOOD, Parts(kept, own.mlps)))
            table = _table(every)
            of_heads = subnetwork_agreement(table, seed=1)
            overlap = subnetwork_overlap(table, permutations=199, seed=1)
            if truth == POWER:
                of_heads = of_heads[of_heads["part"] == "head"]
                overlap = overlap[overlap["part"] == "head"]
            made.interval("subnetwork_agreement", "kappa", of_heads, CI)
            _of_overlap(overlap, made)
        yield from made.trials(kind, truth)


def _of_overlap(overlap: pd.DataFrame, made: Statements) -> None:
    heads = overlap[overlap["part"] == "head"]
    made.interval("subnetwork_overlap", "phi", heads, CI)
    for name in ("p_value", "p_within_layers"):
        made.each(f"subnetwork_overlap: {name} < 0.05", heads[name] < LEVEL)
    made.any("subnetwork_overlap: q_value < 0.05", heads["q_value"] < LEVEL)


def _mask(rng: np.random.Generator, shape: tuple[int, int]) -> Parts:
    """Half of the heads, and each MLP with an even chance."""
    drawn = rng.permutation(shape[0] * shape[1]).reshape(shape) < shape[0] * shape[1] // 2
    return Parts(drawn, rng.random(shape[0]) < 0.5)


def of_survivors(size: Size, folder: Path) -> Iterator[Trial]:
    """Statistics of heads that have nothing to do with surviving, and one that decides it."""
    shape = made_up_heads.LAYERS, made_up_heads.HEADS
    for kind, truth in (
        ("statistics that know nothing of surviving", NULL),
        ("a statistic that decides what survives", POWER),
    ):
        rng, made = np.random.default_rng(38), Statements()
        for _ in range(size.sweeps):
            measured = made_up_heads.statistics(rng)
            every = [
                (task, seed, GOOD, _mask(rng, shape))
                for task in made_up_heads.METRICS
                for seed in (1, 2)
            ]
            table = _table(every)
            if truth == POWER:
                measured = _deciding(measured, table)
            found = surviving_heads(
                *(table, made_up_heads.OF_STATISTICS),
                {made_up_heads.STATISTICS.name: measured},
                made_up_heads.METRICS,
                made_up_heads.DRAWS,
            )
            if truth == POWER:
                found = found[found["measure"].str.endswith(f".{made_up_heads.KINDS[0]}")]
            for name in ("p_value", "p_within_layers"):
                made.each(f"surviving_heads: {name} < 0.05", found[name] < LEVEL)
            for _, family in found.groupby("task"):
                for name in ("q_value", "q_within_layers"):
                    made.any(f"surviving_heads: {name} < 0.05", family[name] < LEVEL)
            made.interval("surviving_heads", "spearman", found, CI)
        yield from made.trials(kind, truth)


def _deciding(measured: pd.DataFrame, table: pd.DataFrame) -> pd.DataFrame:
    """The statistics, of which one kind is greater for heads that survive."""
    heads = table[table["part"] == "head"]
    shares = heads.groupby(["task", "layer", "head"])["kept"].mean().to_dict()
    added = measured[["task", "layer", "head"]].apply(tuple, axis=1).map(shares)
    first = measured[made_up_heads.KIND] == made_up_heads.KINDS[0]
    value = measured[made_up_heads.VALUE]
    return measured.assign(**{made_up_heads.VALUE: value.where(~first, value + 2 * added)})
