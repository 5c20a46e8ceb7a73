"""Scores of the heads that gates keep, beside those of as many others."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from darksecrets.ablation.joint_effects import DECIMALS, score_of_most_frequent, weights_of_draws
from darksecrets.ablation.tables import RANDOM
from darksecrets.arrays import Floats, Values
from darksecrets.data.metrics import METRICS, PERCENT, predict
from darksecrets.importance.tables import LEARNED_GATES
from darksecrets.stats.resampling import interval
from darksecrets.stats.weighted import resampled

if TYPE_CHECKING:
    from darksecrets.data.tasks import Task
    from darksecrets.importance.learned import Found


def learned_gates(
    found: Found, labels: Values, task: Task, *, resamples: int, seed: int
) -> pd.DataFrame:
    """Score every set of heads, against all heads and against as many at random.

    Intervals are percentiles of a bootstrap over examples, the same for all sets; for random sets,
    the sets are drawn, too. The p-value asks whether a set is better than random ones: under the
    null hypothesis, it is one of them, and its rank among them is uniform.

    Args:
        found: What gates have learned.
        labels: [validation examples].
        task: The task.
        resamples: Number of bootstrap samples.
        seed: Their seed.

    Returns:
        `LEARNED_GATES` without the columns of the model.
    """
    logits = [*found.intact.values(), *(each.logits for each in found.kept)]
    predictions = np.stack([predict(task, each) for each in logits])
    heads = len(found.gates[["layer", "head"]].drop_duplicates())
    about = {"heads": heads, "examples": len(labels)}
    rows: list[dict[str, Any]] = []
    for metric in task.metrics:
        rng = np.random.default_rng(seed)
        score = METRICS[metric].weighted(predictions, labels)
        plain = score(np.ones((1, len(labels)), dtype=np.int64))
        scores = PERCENT * np.concatenate([plain, resampled(score, len(labels), resamples, rng)])
        chance = score_of_most_frequent(labels, metric, task)
        rows += [
            {**row, **about, "metric": metric, "chance": chance}
            for row in _of_metric(found, scores, rng)
        ]
    table = pd.DataFrame(rows).assign(share=lambda rows: rows["kept"] / rows["heads"])
    return table[[name for name in LEARNED_GATES.names if name in table]]


def _of_metric(found: Found, scores: Floats, rng: np.random.Generator) -> Iterator[dict[str, Any]]:
    """Rows of one metric, from scores [1 + resamples, sets]; the first are of the intact models."""
    baselines = dict(zip(found.intact, scores.T, strict=False))
    places: dict[tuple[float, str, str], list[int]] = {}
    for number, each in enumerate(found.kept, start=len(baselines)):
        places.setdefault((each.penalty, each.weights, each.chosen_by), []).append(number)
    for (penalty, weights, name), own in places.items():
        score = _mean(scores[:, own], rng)
        delta = np.round(score - baselines[weights], DECIMALS)
        low, high = interval(delta[1:])
        row = {"penalty": penalty, "chosen_by": name, "weights": weights, "draws": len(own)}
        row |= {"kept": found.kept[own[0] - len(baselines)].heads, "score": score[0]}
        row |= {"baseline": baselines[weights][0], "delta": delta[0], "ci_low": low}
        row |= {"ci_high": high}
        drawn = places.get((penalty, weights, RANDOM), [])
        yield row | (_over(score, scores[:, drawn], rng) if drawn and name != RANDOM else {})


def _mean(scores: Floats, rng: np.random.Generator) -> Floats:
    """[1 + resamples] mean over sets, [1 + resamples, sets], that are drawn, too."""
    return np.vecdot(weights_of_draws(scores.shape[1], len(scores), rng), scores)


def _over(score: Floats, drawn: Floats, rng: np.random.Generator) -> dict[str, float]:
    """What a set's score, [1 + resamples], has over random sets, [1 + resamples, draws]."""
    over = np.round(score - _mean(drawn, rng), DECIMALS)
    low, high = interval(over[1:])
    as_good = np.round(drawn[0] - score[0], DECIMALS) >= 0
    return {
        "over_random": over[0],
        "over_random_low": low,
        "over_random_high": high,
        "p_random": (1 + as_good.sum()) / (1 + len(as_good)),
    }
