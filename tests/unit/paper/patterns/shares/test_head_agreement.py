"""Agreement of heads' patterns: plain loops, scikit-learn, and models whose heads are shuffled."""

import itertools

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.shares.heads import pattern_agreement
from darksecrets.paper.patterns.tables import PATTERN_AGREEMENT

NAMES = list(PATTERNS)
LAYERS, HEADS = 4, 6
Models = dict[tuple[str, str, int | None], np.ndarray]


def table_of(models: Models) -> pd.DataFrame:
    """`pattern_heads` of models, each [layers * heads, patterns]."""
    parts = []
    for (task, state, seed), shares in models.items():
        numbers, patterns = np.indices(shares.shape)
        columns = {
            "task": task,
            "state": state,
            "seed": pd.array([seed] * shares.size, dtype="Int64"),
            "layer": numbers.ravel() // HEADS + 1,
            "head": numbers.ravel() % HEADS + 1,
            "pattern": np.array(NAMES)[patterns.ravel()],
            "share": shares.ravel(),
        }
        parts.append(pd.DataFrame(columns))
    return pd.concat(parts, ignore_index=True)


def peaked(rng: np.random.Generator, heads: int = LAYERS * HEADS) -> np.ndarray:
    return rng.dirichlet(np.full(5, 0.3), size=heads)


def noisy(shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """The same heads on 30 other maps each."""
    return np.stack([rng.multinomial(30, row) / 30 for row in shares])


def shuffled(shares: np.ndarray, rng: np.random.Generator) -> np.ndarray:
    """Heads in another order within their layers."""
    layers = shares.reshape(LAYERS, HEADS, 5)
    return np.concatenate([rng.permutation(layer) for layer in layers])


def agreement(models: Models, resamples: int = 200, permutations: int = 199) -> pd.DataFrame:
    table = pattern_agreement(table_of(models), resamples, 1, permutations)
    full = table[list(PATTERN_AGREEMENT.names)]
    PATTERN_AGREEMENT.check(full, "table", "")
    return table


def test_the_table_is_the_loops():
    rng = np.random.default_rng(1)
    base = peaked(rng)
    models: Models = {
        (task, "finetuned", seed): noisy(base, rng)
        for task, seed in itertools.product(("MRPC", "RTE", "QQP"), (1, 2))
    }
    models |= {(task, "pretrained", None): noisy(base, rng) for task in ("MRPC", "RTE", "QQP")}
    table = agreement(models)
    assert len(table) == 2 * (3 + 1) + (3 + 1)
    for row in table.itertuples():
        named = row.task != ""
        pairs = [
            (a, b)
            for a, b in itertools.combinations([key for key in models if key[1] == row.state], 2)
            if ((a[0] == b[0]) == (row.compared == "seeds"))
            and (not named or {a[0], b[0]} == {row.task, row.other_task})
        ]
        assert row.pairs == len(pairs)
        same, in_layer, kappas = [], [], []
        for a, b in pairs:
            p, q = models[a], models[b]
            product = [[float(p[h] @ q[g]) for g in range(len(q))] for h in range(len(p))]
            same.append(np.mean([product[h][h] for h in range(len(p))]))
            in_layer.append(
                np.mean(
                    [
                        product[h][g]
                        for h in range(len(p))
                        for g in range(len(q))
                        if h // HEADS == g // HEADS
                    ]
                )
            )
            kappas.append(cohen_kappa_score(p.argmax(axis=1), q.argmax(axis=1)))
        assert row.agreement == pytest.approx(np.mean(same))
        assert row.expected == pytest.approx(np.mean(in_layer))
        assert row.kappa == pytest.approx(np.mean(kappas))
        assert row.ci_low < row.agreement < row.ci_high
        assert row.kappa_low <= row.kappa <= row.kappa_high
        assert row.p_value < 0.01
        assert pd.isna(row.q_value) == (not named)
        assert pd.isna(row.seeds) == (row.state == "pretrained")


def test_intervals_are_those_of_resampled_heads():
    rng = np.random.default_rng(2)
    base = peaked(rng, LAYERS * HEADS)
    models: Models = {(task, "random", 1): noisy(base, rng) for task in ("MRPC", "RTE")}
    row = agreement(models, 1000).iloc[0]
    p, q = models.values()
    drawn = rng.integers(len(p), size=(1000, len(p)))
    means = (p * q).sum(axis=1)[drawn].mean(axis=1)
    ends = np.quantile(means, [0.025, 0.975])
    assert [row["ci_low"], row["ci_high"]] == pytest.approx([*ends], abs=0.01)
    kappas = [cohen_kappa_score(p[some].argmax(axis=1), q[some].argmax(axis=1)) for some in drawn]
    ends = np.quantile(kappas, [0.025, 0.975])
    assert [row["kappa_low"], row["kappa_high"]] == pytest.approx([*ends], abs=0.03)


@pytest.mark.slow
def test_shuffled_heads_seldom_agree():
    """Tasks whose heads are shuffled within layers, seeds alike; layers differ in their patterns.

    The agreement of layers is there, and only permutations within layers see through it.
    """
    rng = np.random.default_rng(3)
    within, of_seeds, trials = [], [], 40
    for _ in range(trials):
        base = np.concatenate(
            [rng.dirichlet(rng.dirichlet(np.full(5, 0.3)) * 4 + 0.1, HEADS) for _ in range(LAYERS)]
        )
        models: Models = {}
        for task in ("MRPC", "RTE", "QQP"):
            heads = shuffled(base, rng)
            models |= {(task, "finetuned", seed): noisy(heads, rng) for seed in (1, 2)}
        table = pattern_agreement(table_of(models), 20, 1, 99)
        means = table[table["task"] == ""].set_index("compared")
        within.append(means.loc["tasks", "p_value"])
        of_seeds.append(means.loc["seeds", "p_value"])
    limit = 3 * np.sqrt(0.05 * 0.95 / trials)
    assert np.mean(np.array(within) <= 0.05) <= 0.05 + limit
    assert np.mean(np.array(of_seeds) <= 0.05) > 0.95, "heads of two seeds are the same"


@pytest.mark.slow
def test_shuffled_seeds_seldom_agree():
    """All tasks have the same heads; each seed shuffles them, alike on all tasks."""
    rng = np.random.default_rng(4)
    p_values = []
    for _ in range(40):
        base, models = peaked(rng), {}
        for seed in (1, 2):
            heads = shuffled(base, rng)
            for task in ("MRPC", "RTE", "QQP"):
                models[task, "finetuned", seed] = noisy(heads, rng)
        table = pattern_agreement(table_of(models), 20, 1, 99)
        rows = table[(table["compared"] == "seeds") & (table["task"] == "")]
        p_values.append(rows["p_value"].iloc[0])
    assert np.mean(np.array(p_values) <= 0.05) <= 0.05 + 3 * np.sqrt(0.05 * 0.95 / 40)


def test_heads_that_agree_by_chance_have_no_kappa():
    rng = np.random.default_rng(5)
    models: Models = {
        (task, "finetuned", 1): peaked(rng) for task in ("MRPC", "RTE", "QQP", "MNLI")
    }
    mean = agreement(models).iloc[-1]
    assert mean["kappa_low"] < 0.1
    assert abs(mean["kappa"]) < 0.15
    assert mean["agreement"] == pytest.approx(mean["expected"], abs=0.05)


def test_heads_of_one_pattern_agree_without_kappa():
    same = np.tile(np.eye(5)[4], (LAYERS * HEADS, 1))
    row = agreement({(task, "random", 1): same for task in ("MRPC", "RTE")}).iloc[0]
    assert row["agreement"] == row["expected"] == row["p_value"] == 1
    assert pd.isna(row["kappa"])
    assert pd.isna(row["kappa_low"])


def test_one_task_and_seed_compare_with_nothing():
    rng = np.random.default_rng(6)
    models: Models = {
        ("RTE", "finetuned", 1): peaked(rng),
        ("RTE", "pretrained", None): peaked(rng),
    }
    assert agreement(models).empty


@pytest.mark.parametrize(
    "seeds",
    [
        {"A": (1, 2), "B": (1, 3)},
        {"A": (1,), "B": (1, 3), "C": (1, 4, 5)},
        {"A": (7, 1), "B": (1, 2, 3), "C": (9, 1)},
    ],
)
def test_tasks_may_have_other_seeds_than_each_other(seeds):
    """A pair of seeds is compared as if the others were not there."""
    rng = np.random.default_rng(2)
    base = peaked(rng)
    models: Models = {
        (task, "finetuned", seed): noisy(base, rng) for task, own in seeds.items() for seed in own
    }
    table = agreement(models)
    between_seeds = table[(table["compared"] == "seeds") & (table["task"] != "")]
    expected = {task: len(own) * (len(own) - 1) // 2 for task, own in seeds.items() if len(own) > 1}
    assert dict(zip(between_seeds["task"], between_seeds["pairs"], strict=True)) == expected
    for task in expected:
        alone = {name: shares for name, shares in models.items() if name[0] == task}
        own = agreement(alone)
        row = own[(own["compared"] == "seeds") & (own["task"] == task)].iloc[0]
        found = between_seeds[between_seeds["task"] == task].iloc[0]
        for column in ("pairs", "agreement", "kappa", "ci_low", "ci_high", "expected"):
            assert found[column] == pytest.approx(row[column], rel=1e-12), column
        assert found["p_value"] == pytest.approx(0.005), "heads that agree"


def test_q_values_are_over_the_pairs_of_tasks():
    """One task is of other heads, so that p-values differ."""
    from scipy.stats import false_discovery_control

    rng = np.random.default_rng(6)
    base = peaked(rng)
    shares = {"A": base, "B": base, "C": peaked(rng), "D": shuffled(base, rng)}
    table = agreement({(task, "finetuned", 1): noisy(one, rng) for task, one in shares.items()})
    rows = table[(table["compared"] == "tasks") & (table["task"] != "")]
    assert rows["p_value"].nunique() > 2
    np.testing.assert_allclose(rows["q_value"], false_discovery_control(rows["p_value"]))
    assert (rows["q_value"] > rows["p_value"]).any()
