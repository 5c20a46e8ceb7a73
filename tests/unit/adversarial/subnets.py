"""Trials of subnetworks: random ones that are called good, masks of seeds that agree."""

from collections.abc import Iterator
from pathlib import Path

import made_up_heads
import numpy as np
import pandas as pd

from adversarial.models import SAMPLES, TASK
from adversarial.trials import CI, LEVEL, NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.subnetworks.declared import AS_IT_IS, BAD, GOOD, RANDOM, SUBNETWORKS
from darksecrets.beyond.subnetworks.measure.agreement import subnetwork_agreement
from darksecrets.beyond.subnetworks.measure.parts import Parts
from darksecrets.beyond.subnetworks.measure.running import sets_of
from darksecrets.beyond.subnetworks.measure.statistics import subnetwork_scores
from darksecrets.core.interventions.results import SweepResult

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
    """Subnetworks that are as good as the whole model."""
    for kind, worse, truth in (("equal models", 0.0, NULL), ("all lose", -1.0, POWER)):
        rng, made = np.random.default_rng(36), Statements()
        for _ in range(size.sweeps):
            found = _predictions(rng, size.examples, np.full(2 + _DRAWS, worse))
            options = {"resamples": SAMPLES.bootstrap, "seed": 3}
            scores = subnetwork_scores(found, _of_one_size(), TASK, trained=AS_IT_IS, **options)
            made.interval("subnetwork_scores", "delta", scores, CI)
        yield from made.trials(kind, truth)


def _predictions(rng: np.random.Generator, examples: int, quality: np.ndarray) -> SweepResult:
    """The whole model, and subnetworks of some qualities."""
    names = ["whole", "good 1", "bad 1", *(f"random {n}" for n in range(1, _DRAWS + 1))]
    labels = (rng.random(examples) < 0.6).astype(np.int64)
    labels[:2] = 0, 1
    added = np.concatenate([[0.0], quality])
    noise = _SPREAD * rng.normal(size=(len(added), examples))
    right = _EASY + rng.normal(size=examples) + noise + added[:, None] > 0
    predictions = np.where(right, labels, 1 - labels)
    return SweepResult(sets_of(names), predictions, labels, *2 * [np.arange(examples)])


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
    """Masks of seeds that have nothing to do with each other, and ones that agree."""
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
            if truth == POWER:
                of_heads = of_heads[of_heads["part"] == "head"]
            made.interval("subnetwork_agreement", "kappa", of_heads, CI)
        yield from made.trials(kind, truth)


def _mask(rng: np.random.Generator, shape: tuple[int, int]) -> Parts:
    """Half of the heads, and each MLP with an even chance."""
    drawn = rng.permutation(shape[0] * shape[1]).reshape(shape) < shape[0] * shape[1] // 2
    return Parts(drawn, rng.random(shape[0]) < 0.5)
