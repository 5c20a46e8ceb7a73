"""Effects over seeds, against plain loops, and on sweeps in which no head matters."""

import dataclasses

import numpy as np
import pytest
from glue import TASKS
from sweeps import sweep

from darksecrets.core.data import metrics
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.resampling import bootstrap_weights
from darksecrets.core.stats.seeds import mean_over_seeds
from darksecrets.paper.ablation.seeds import effects_over_seeds
from darksecrets.paper.ablation.statistics import Resampling
from darksecrets.paper.ablation.tables import SEED_EFFECTS

RESAMPLING = Resampling(bootstrap=200, permutations=100, splits=20, seed=7)


def sweeps(task="RTE", seeds=(1, 2), examples=30, **settings) -> dict[int, SweepResult]:
    """Sweeps of the same examples, with other predictions for each seed."""
    first = sweep(task, examples, seed=seeds[0], **settings)
    return {
        seed: dataclasses.replace(
            sweep(task, examples, seed=seed, **settings), labels=first.labels, idx=first.idx
        )
        for seed in seeds
    }


def checked(table):
    """The table, as it is written."""
    complete = table.assign(task="RTE", state="finetuned")
    return SEED_EFFECTS.check(complete[list(SEED_EFFECTS.names)], "made", "correct")


def scores(result, task, metric, drawn) -> np.ndarray:
    """[sets] scores on some examples, one set at a time."""
    kind = TASKS[task]
    return np.array(
        [metrics.score(kind, p[drawn], result.labels[drawn])[metric] for p in result.predictions]
    )


@pytest.mark.parametrize("task", ["MRPC", "STS-B"])
def test_effects_are_means_over_seeds_with_the_noise_of_the_same_resamples(task):
    results = sweeps(task, (1, 2, 5))
    effects = effects_over_seeds(results, TASKS[task], RESAMPLING)
    for metric in TASKS[task].metrics:
        rng, loop = np.random.default_rng(RESAMPLING.seed), []
        for weights in bootstrap_weights(RESAMPLING.bootstrap, 30, rng):
            for counts in weights:
                drawn = np.repeat(np.arange(30), counts)
                each = [scores(r, task, metric, drawn) for r in results.values()]
                loop.append(np.mean([s - s[0] for s in each], axis=0))
        each = [scores(r, task, metric, np.arange(30)) for r in results.values()]
        deltas = 100 * np.array([s - s[0] for s in each])
        for kind, columns in (("head", slice(1, 7)), ("layer", slice(7, 9))):
            mine = effects[(effects["metric"] == metric) & (effects["kind"] == kind)]
            drawn = 100 * np.array(loop)[:, columns]
            expected = mean_over_seeds(deltas[:, columns], drawn.var(axis=0), family=True)
            for name, values in (("delta", expected.mean), ("ci_low", expected.low)):
                assert mine[name].to_numpy() == pytest.approx(values, abs=1e-9)
            assert mine["p_value"].to_numpy() == pytest.approx(expected.p, abs=1e-9)


def test_every_head_and_layer_has_a_row_for_each_metric():
    found = effects_over_seeds(sweeps("MRPC", (1, 2, 5)), TASKS["MRPC"], RESAMPLING)
    effects = checked(found)
    assert len(effects) == 2 * (6 + 2)
    assert (effects["seeds"] == 3).all()


def test_with_one_seed_there_are_no_rows():
    assert checked(effects_over_seeds(sweeps("RTE", (1,)), TASKS["RTE"], RESAMPLING)).empty


def test_seeds_with_other_examples_are_refused():
    results = sweeps("RTE", (1, 2))
    results[2] = dataclasses.replace(results[2], idx=results[2].idx + 1)
    with pytest.raises(InputError, match=r"RTE: the sweeps of seeds 1 and 2 have different"):
        effects_over_seeds(results, TASKS["RTE"], RESAMPLING)
