"""Scores and agreement of subnetworks, against plain loops."""

import itertools

import numpy as np
import pandas as pd
import pytest
from glue import TASKS
from scipy import stats

from darksecrets.beyond.subnetworks import declared as t
from darksecrets.beyond.subnetworks.measure.agreement import subnetwork_agreement
from darksecrets.beyond.subnetworks.measure.parts import Parts
from darksecrets.beyond.subnetworks.measure.running import add_retrained, sets_of
from darksecrets.beyond.subnetworks.measure.statistics import subnetwork_scores
from darksecrets.core.data import metrics
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify

EXAMPLES, DRAWN = 60, 20
IDX = np.arange(EXAMPLES)
OPTIONS = {"resamples": 300, "seed": 3}


def result(task: str, draws: int = DRAWN) -> SweepResult:
    """A model that is mostly right; the good subnetwork is worse, the random and bad ones worst."""
    rng, kind = np.random.default_rng(5), TASKS[task]
    names = ["whole", "good 1", "bad 1", *(f"random {n}" for n in range(1, draws + 1))]
    noise = [0.2, 0.3, 0.9, *rng.uniform(0.5, 0.7, draws)]
    if kind.is_regression:
        labels = rng.normal(size=EXAMPLES).astype(np.float32)
        found = np.stack([labels + 3 * n * rng.normal(size=EXAMPLES) for n in noise])
        return SweepResult(sets_of(names), found.astype(np.float32), labels, IDX, IDX)
    labels = rng.integers(0, 2, EXAMPLES)
    flipped = rng.random((len(names), EXAMPLES)) < np.array(noise)[:, None] / 2
    return SweepResult(sets_of(names), np.where(flipped, 1 - labels, labels), labels, IDX, IDX)


def masks(*of_tasks: tuple[str, int, Parts, Parts]) -> pd.DataFrame:
    """The table of good, bad and two random subnetworks of some models."""
    tables = []
    for task, seed, good, bad in of_tasks:
        for name, draw, parts in ((t.GOOD, 1, good), (t.BAD, 1, bad), (t.RANDOM, 1, good)):
            table = parts.table().assign(subnetwork=name, draw=draw, step=pd.NA)
            weights = np.where(table["part"] == "MLP", 40, 10)
            model = {"task": task, "state": "finetuned", "seed": seed, "weights": weights}
            tables.append(table.assign(**model))
    joined = pd.concat(tables, ignore_index=True)[list(t.SUBNETWORKS.names)]
    return t.SUBNETWORKS.check(joined, "", "")


def parts(heads: int, mlps: int, shape: tuple[int, int] = (2, 3)) -> Parts:
    flags = np.arange(shape[0] * shape[1]).reshape(shape) < heads
    return Parts(flags, np.arange(shape[0]) < mlps)


TABLE = masks(("RTE", 1, parts(4, 1), parts(2, 1)))


def reach_of(of_examples: float, of_draws: float) -> float:
    """Half an interval with both parts of the variance."""
    share = of_examples / (of_examples + of_draws)
    critical = share * 1.96 + (1 - share) * stats.t.ppf(0.975, DRAWN - 1)
    return critical * np.sqrt(of_examples + of_draws)


@pytest.mark.parametrize("task", ["RTE", "MRPC", "STS-B"])
def test_scores_are_those_of_loops(task, tmp_path):
    found, kind = result(task), TASKS[task]
    table = subnetwork_scores(found, TABLE, kind, trained=t.AS_IT_IS, **OPTIONS)
    t.SUBNETWORK_SCORES.write(identify(table, task, "finetuned/seed-1"), tmp_path / "a.csv")
    assert len(table) == len(t.KINDS) * len(kind.metrics)
    rng = np.random.default_rng(9)
    drawn = rng.integers(EXAMPLES, size=(300, EXAMPLES))
    for metric in kind.metrics:
        plain = metrics.METRICS[metric].plain

        def score(row: int, rows=slice(None), plain=plain) -> float:
            return 100 * plain(found.predictions[row][rows], found.labels[rows])

        at_random = list(range(3, 3 + DRAWN))
        rows = table[table["metric"] == metric].set_index("subnetwork")
        mean = np.mean([score(n) for n in at_random])
        spread = np.std([score(n) for n in at_random], ddof=1)
        for name, numbers in ((t.GOOD, [1]), (t.BAD, [2]), (t.RANDOM, at_random)):
            row = rows.loc[name]
            own = np.mean([score(n) for n in numbers])
            assert row["baseline"] == pytest.approx(score(0))
            assert row["score"] == pytest.approx(own)
            assert row["delta"] == pytest.approx(own - score(0))
            if name == t.RANDOM:
                assert row[["over_random", "p_value", "over_random_low"]].isna().all()
                means = [
                    np.mean([score(n, some) for n in at_random]) - score(0, some)
                    for some in drawn[:100]
                ]
                reach = reach_of(np.var(means), spread**2 / DRAWN)
                ends = row[["ci_low", "ci_high"]].to_numpy(float) - row["delta"]
                assert ends == pytest.approx([-reach, reach], rel=0.25)
                continue
            assert row["over_random"] == pytest.approx(own - mean)
            others = np.array([score(n) for n in at_random])
            beyond = (others >= own) if name == t.GOOD else (others <= own)
            assert row["p_value"] == pytest.approx((1 + beyond.sum()) / (1 + DRAWN))
            again = np.array([score(numbers[0], some) - score(0, some) for some in drawn])
            ends = np.quantile(again, [0.025, 0.975])
            assert row[["ci_low", "ci_high"]].to_numpy(float) == pytest.approx(
                ends, abs=0.2 * np.ptp(ends)
            )
            # The interval of the difference to random ones has both parts of the variance.
            few = np.array(
                [
                    score(numbers[0], some) - np.mean([score(n, some) for n in at_random])
                    for some in drawn[:100]
                ]
            )
            reach = reach_of(few.var(), spread**2 * (1 + 1 / DRAWN))
            assert row["over_random_high"] - row["over_random"] == pytest.approx(reach, rel=0.25)


def test_sizes_say_whether_the_rest_was_too_small():
    table = subnetwork_scores(result("RTE"), TABLE, TASKS["RTE"], trained=t.AS_IT_IS, **OPTIONS)
    rows = table.set_index("subnetwork")
    assert rows.loc[t.GOOD, ["heads", "mlps"]].tolist() == [4, 1]
    assert rows.loc[t.BAD, ["heads", "mlps"]].tolist() == [2, 1]
    assert rows["same_size"].to_dict() == {t.GOOD: True, t.BAD: False, t.RANDOM: True}
    assert rows.loc[t.GOOD, "weights"] == pytest.approx((4 * 10 + 40) / (6 * 10 + 2 * 40))


def test_retrained_subnetworks_stand_beside_the_whole_model():
    found = result("RTE")
    names = ["good 1", "bad 1", "random 1", "random 2"]
    tables = {
        name: pd.DataFrame({"idx": found.idx, "prediction": found.predictions[n]})
        for n, name in enumerate(names)
    }
    again = add_retrained(found, tables)
    assert again.sets["name"].tolist() == ["whole", *names]
    assert (again.predictions == found.predictions[[0, 0, 1, 2, 3]]).all()
    scores = subnetwork_scores(again, TABLE, TASKS["RTE"], trained="re-trained", **OPTIONS)
    assert scores.set_index("subnetwork").loc[t.GOOD, "delta"] == 0
    assert set(scores["draws"]) == {2}
    tables["bad 1"] = tables["bad 1"].assign(idx=found.idx + 1)
    with pytest.raises(InputError, match="re-trained subnetwork bad 1 are of other examples"):
        add_retrained(found, tables)


def good(task: str, seed: int, rng: np.random.Generator, heads: int = 10) -> tuple:
    drawn = np.zeros(20, bool)
    drawn[rng.permutation(20)[:heads]] = True
    flags = Parts(drawn.reshape(4, 5), rng.random(4) < 0.5)
    return task, seed, flags, flags


def test_kappa_is_that_of_a_loop_and_undefined_for_one_seed(tmp_path):
    rng = np.random.default_rng(1)
    models = [good("RTE", seed, rng) for seed in (1, 2, 3)]
    models += [good("MRPC", seed, rng) for seed in (1, 2)]
    models += [
        good("QQP", 1, rng),
        *((("SST-2", seed, *[parts(20, 4, (4, 5))] * 2)) for seed in (1, 2)),
    ]
    table = masks(*models)
    found = subnetwork_agreement(table, seed=1)
    t.SUBNETWORK_AGREEMENT.write(found, tmp_path / "a.csv")
    heads = found[found["part"] == "head"].set_index("task")
    assert heads["seeds"].to_dict() == {"RTE": 3, "MRPC": 2, "QQP": 1, "SST-2": 2}
    undefined = heads.loc[["QQP", "SST-2"], ["kappa", "ci_low", "ci_high"]]
    assert undefined.isna().all(axis=None)
    for task in ("RTE", "MRPC"):
        flags = [each[2].heads.ravel() for each in models if each[0] == task]
        pairs = list(itertools.combinations(flags, 2))
        agreed = np.mean([(one == other).mean() for one, other in pairs])
        share = np.mean(flags)
        expected = share**2 + (1 - share) ** 2
        row = heads.loc[task]
        assert row["kappa"] == pytest.approx((agreed - expected) / (1 - expected))
        assert -1 <= row["ci_low"] < row["kappa"] < row["ci_high"] <= 1
        assert row["kept"] == 10


def test_equal_subnetworks_agree_perfectly():
    rng = np.random.default_rng(1)
    one = good("RTE", 1, rng)
    table = masks(*((("RTE", seed, *one[2:])) for seed in (1, 2, 3)))
    row = subnetwork_agreement(table, seed=1).set_index("part").loc["head"]
    assert row[["kappa", "ci_low", "ci_high"]].tolist() == [1, 1, 1]
