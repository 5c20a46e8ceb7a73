"""Definitions of importance and their tables, against plain loops and SciPy."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
from glue import TASKS
from scipy.stats import spearmanr

from darksecrets.beyond.importance import declared as t
from darksecrets.beyond.importance.declared import RANDOM
from darksecrets.beyond.importance.measure import estimates as made
from darksecrets.beyond.importance.measure import pruning
from darksecrets.beyond.importance.measure.curves import score_orders
from darksecrets.beyond.importance.measure.gradients import Gradients
from darksecrets.beyond.importance.measure.orders import Order
from darksecrets.core.data.metrics import score
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.tables import identify

EXAMPLES, LAYERS, HEADS = 70, 3, 4
SHAPE = (EXAMPLES, LAYERS, HEADS)
MODEL = "finetuned/seed-1"


@pytest.fixture(scope="module")
def found() -> Gradients:
    rng = np.random.default_rng(3)
    output, kept = rng.normal(size=(2, *SHAPE))
    output[:, 0, 0] = 0.0  # a head that adds nothing
    return Gradients(
        output=output,
        kept=kept,
        exact={mode: rng.normal(size=SHAPE) for mode in ("zero", "uniform")},
        mlp=rng.normal(size=(EXAMPLES, LAYERS, 1)),
        mlp_exact=rng.normal(size=(EXAMPLES, LAYERS, 1)),
    )


@pytest.fixture(scope="module")
def importance(found: Gradients) -> pd.DataFrame:
    return made.head_importance(found, seed=5)


def of(table: pd.DataFrame, mode: str, name: str) -> np.ndarray:
    rows = table[(table["mode"] == mode) & (table["definition"] == name)]
    return rows.sort_values(["layer", "head"])["importance"].to_numpy().reshape(LAYERS, HEADS)


def test_definitions_are_those_of_loops(found, importance):
    for layer, head in np.ndindex(LAYERS, HEADS):
        place = layer, head
        slopes = [found.output[number, layer, head] for number in range(EXAMPLES)]
        expected = {
            ("zero", t.ABSOLUTE): sum(map(abs, slopes)) / EXAMPLES,
            ("zero", t.SIGNED): -sum(slopes) / EXAMPLES,
            ("zero", t.EXACT): found.exact["zero"][:, layer, head].mean(),
            ("uniform", t.ABSOLUTE): np.abs(found.kept[:, layer, head]).mean(),
            ("uniform", t.SIGNED): -found.kept[:, layer, head].mean(),
            ("uniform", t.EXACT): found.exact["uniform"][:, layer, head].mean(),
        }
        for (mode, name), value in expected.items():
            assert of(importance, mode, name)[place] == pytest.approx(value, rel=1e-12)


def test_intervals_are_as_wide_as_the_errors_of_means(found, importance):
    """Those of a mean of 70 examples: 1.96 standard errors, up to the noise of 1,000 resamples."""
    rows = importance[(importance["mode"] == "zero") & (importance["definition"] == t.EXACT)]
    half = (rows["ci_high"] - rows["ci_low"]).to_numpy() / 2
    error = found.exact["zero"].std(axis=0).ravel() / np.sqrt(EXAMPLES)
    assert half == pytest.approx(1.96 * error, rel=0.12)
    assert set(rows["examples"]) == {EXAMPLES}


def test_tables_are_complete(importance, tmp_path):
    t.HEAD_IMPORTANCE.write(identify(importance, "RTE", MODEL), tmp_path / "a.csv")
    assert len(importance) == 6 * LAYERS * HEADS


def test_agreement_is_spearmans_with_each_reference(found, importance, tmp_path):
    rng = np.random.default_rng(2)
    effects = pd.DataFrame(
        [(layer, head, rng.normal()) for layer in (1, 2, 3) for head in (1, 2, 3, 4)],
        columns=["layer", "head", "delta"],
    )
    table = made.importance_agreement(
        importance, found, effects, "uniform", {"permutations": 99, "seed": 1}
    )
    t.IMPORTANCE_AGREEMENT.write(identify(table, "RTE", MODEL), tmp_path / "a.csv")
    for row in table[table["part"] == "head"].to_dict("records"):
        values = of(importance, row["mode"], row["definition"]).ravel()
        if row["reference"] == t.EXAMPLES:
            continue
        reference = -effects["delta"] if row["reference"] == t.SCORE else None
        if row["reference"] == t.LOSS:
            reference = of(importance, row["mode"], t.EXACT).ravel()
            assert row["definition"] != t.EXACT
        assert row["spearman"] == pytest.approx(spearmanr(values, reference).statistic, abs=1e-9)
    _check_mlps(found, table[table["part"] == "MLP"])
    scored = table[table["reference"] == t.SCORE]
    assert set(scored["mode"]) == {"uniform"}, "the sweep's mode"
    assert set(scored["definition"]) == {t.ABSOLUTE, t.SIGNED, t.EXACT}


@pytest.mark.parametrize(("noise", "least", "most"), [(0.1, 0.95, 1), (100, -0.4, 0.4)])
def test_rankings_on_other_examples_agree_only_where_examples_do(found, noise, least, most):
    """Importances of many heads, with little or much noise, against halves drawn by a loop."""
    rng = np.random.default_rng(8)
    size = (EXAMPLES, 6, 8)
    heads = rng.normal(size=size[1:])
    noisy = {name: heads + noise * rng.normal(size=size) for name in ("output", "kept")}
    of_modes = {mode: heads + noise * rng.normal(size=size) for mode in ("zero", "uniform")}
    made_up = dataclasses.replace(found, **noisy, exact=of_modes)
    for row in made._agreement_of_halves(made_up, 5):
        signed = row["definition"] in (t.SIGNED, t.EXACT)
        assert not signed or least <= row["spearman"] <= most, row
        if (row["mode"], row["definition"]) != ("zero", t.SIGNED):
            continue
        again = []
        for _ in range(400):
            half = rng.permutation(EXAMPLES) < EXAMPLES // 2
            means = [noisy["output"][rows].mean(axis=0).ravel() for rows in (half, ~half)]
            again.append(spearmanr(*means).statistic)
        assert row["spearman"] == pytest.approx(np.mean(again), abs=0.1)


def _check_mlps(found: Gradients, rows: pd.DataFrame) -> None:
    """Spearman's correlations over layers, with intervals over examples, by a loop."""
    assert found.mlp is not None
    assert found.mlp_exact is not None
    slopes, exact = found.mlp[..., 0], found.mlp_exact[..., 0]
    values = {t.ABSOLUTE: np.abs(slopes), t.SIGNED: -slopes}
    assert set(rows["definition"]) == set(values)
    rng = np.random.default_rng(1)
    drawn = [rng.integers(EXAMPLES, size=EXAMPLES) for _ in range(300)]
    for row in rows.to_dict("records"):
        each = values[row["definition"]]
        expected = spearmanr(each.mean(axis=0), exact.mean(axis=0)).statistic
        assert row["spearman"] == pytest.approx(expected, abs=1e-9)
        assert (row["parts"], row["reference"], row["mode"]) == (LAYERS, t.LOSS, "zero")
        again = [spearmanr(each[k].mean(axis=0), exact[k].mean(axis=0)).statistic for k in drawn]
        ends = np.quantile(again, (0.025, 0.975))
        # The draws are others: of three layers, correlations are -1, -1/2, 1/2 or 1.
        assert [row["ci_low"], row["ci_high"]] == pytest.approx(ends, abs=0.5 + 1e-9)


def test_the_importance_of_mlps_is_that_of_loops(found, tmp_path):
    table = made.mlp_importance(found, seed=5)
    t.MLP_IMPORTANCE.write(identify(table, "RTE", MODEL), tmp_path / "a.csv")
    assert len(table) == 3 * LAYERS
    for row in table.to_dict("records"):
        slopes = [found.mlp[number, row["layer"] - 1, 0] for number in range(EXAMPLES)]
        effects = [found.mlp_exact[number, row["layer"] - 1, 0] for number in range(EXAMPLES)]
        value = {t.ABSOLUTE: sum(map(abs, slopes)), t.SIGNED: -sum(slopes), t.EXACT: sum(effects)}[
            row["definition"]
        ]
        assert row["importance"] == pytest.approx(value / EXAMPLES, rel=1e-12)
        assert row["ci_low"] < row["importance"] < row["ci_high"]


def test_an_encoder_whose_mlps_cannot_be_reached_has_none(found, tmp_path):
    alone = dataclasses.replace(found, mlp=None, mlp_exact=None)
    table = made.mlp_importance(alone, seed=5)
    t.MLP_IMPORTANCE.write(identify(table, "RTE", MODEL), tmp_path / "a.csv")
    assert t.MLP_IMPORTANCE.read(tmp_path / "a.csv").empty
    effects = pd.DataFrame(
        [(layer, head, layer - head) for layer in (1, 2, 3) for head in (1, 2, 3, 4)],
        columns=["layer", "head", "delta"],
    )
    draws = {"permutations": 9, "seed": 1}
    agreed = made.importance_agreement(
        made.head_importance(alone, 5), alone, effects, "zero", draws
    )
    assert set(agreed["part"]) == {"head"}


GREEDILY = [(layer, head) for head in (2, 1, 4, 3) for layer in (3, 1, 2)]


@pytest.fixture(scope="module")
def table(importance: pd.DataFrame) -> pd.DataFrame:
    return pruning.orders(importance, GREEDILY, draws=5, seed=4)


def test_orders_have_every_head_once_the_least_important_first(table, importance, tmp_path):
    t.PRUNING_ORDERS.write(table, tmp_path / "orders.csv")
    assert t.PRUNING_ORDERS.read(tmp_path / "orders.csv").equals(table)
    planned = pruning.plan(table)
    by_name: dict[str, list[Order]] = {}
    for order in planned.orders:
        by_name.setdefault(order.name, []).append(order)
        assert sorted(order.heads) == sorted(GREEDILY)
    assert {name: len(of) for name, of in by_name.items()} == {
        **dict.fromkeys((*t.DEFINITIONS, t.GREEDY, t.REVERSED), 1),
        RANDOM: 5,
    }
    assert by_name[t.GREEDY][0].heads == tuple(GREEDILY)
    assert by_name[t.REVERSED][0].heads == by_name[t.ABSOLUTE][0].heads[::-1]
    assert pruning.least_important_first(table) == by_name[t.ABSOLUTE][0]
    assert len({order.heads for order in by_name[RANDOM]}) == 5
    for name in t.DEFINITIONS:
        values = of(importance, "zero", name)
        ordered = [values[layer - 1, head - 1] for layer, head in by_name[name][0].heads]
        assert ordered == sorted(ordered)


def test_mlps_are_ordered_by_their_absolute_gradients():
    """Other definitions, which say the opposite, play no part; without MLPs there is no order."""
    values = {1: 0.3, 2: 0.1, 3: 0.2}
    rows = [
        {"definition": definition, "layer": layer, "importance": sign * value}
        for definition, sign in ((t.EXACT, -1), (t.ABSOLUTE, 1), (t.SIGNED, -1))
        for layer, value in values.items()
    ]
    found = pd.DataFrame(rows)
    assert (
        pruning.least_important_mlps(found) == sorted(values, key=values.__getitem__) == [2, 3, 1]
    )
    assert pruning.least_important_mlps(found.iloc[:0]) == []


def test_tied_heads_are_ordered_at_random(importance):
    """An order by number would remove the first layers first, for no reason."""
    tied = importance.assign(importance=1.0)
    firsts = {
        pruning.plan(pruning.orders(tied, GREEDILY, draws=2, seed=seed)).orders[0].heads[0]
        for seed in range(30)
    }
    assert len(firsts) > 6


def test_layers_keep_the_heads_with_the_greatest_exact_effects(table, importance):
    layers = pruning.layer_sets(table)
    assert len(layers) == LAYERS * (HEADS - 1)
    shape = pruning.plan(table).shape
    exact = of(importance, "zero", t.EXACT)
    for name, (layer, kept) in layers.items():
        ((of_layer, heads),) = shape.parse(name).items()
        assert (of_layer, len(heads)) == (layer, HEADS - kept)
        left = set(range(1, HEADS + 1)) - heads
        assert min(exact[layer - 1, head - 1] for head in left) >= max(
            exact[layer - 1, head - 1] for head in heads
        )


@pytest.fixture(scope="module")
def result(table: pd.DataFrame) -> SweepResult:
    """Predictions of random classes, worse the more heads are removed."""
    from darksecrets.core.interventions.sweep import Settings

    names = pruning.settings(Settings(TASKS["MRPC"], 1, 64), table).sets
    rng = np.random.default_rng(6)
    labels = rng.integers(0, 2, 90)
    shape = pruning.plan(table).shape
    wrong = [0.1, *(0.1 + 0.03 * sum(map(len, shape.parse(name).values())) for name in names)]
    flips = rng.random((len(names) + 1, 90)) < np.array(wrong)[:, None]
    kinds = ["baseline"] + ["set"] * len(names)
    sets = pd.DataFrame({"kind": kinds, "layer": pd.NA, "head": pd.NA, "name": ["none", *names]})
    return SweepResult(sets, np.where(flips, 1 - labels, labels), labels, *2 * [np.arange(90)])


def test_curves_are_scores_on_all_examples(table, result, tmp_path):
    """The score is that of Table 1, also F1."""
    task, planned = TASKS["MRPC"], pruning.plan(table)
    curves, pruned = score_orders(result, planned, task, tolerance=1, resamples=200, seed=1)
    t.PRUNING_CURVES.write(identify(curves, "MRPC", MODEL), tmp_path / "curves.csv")
    t.PRUNED_HEADS.write(identify(pruned, "MRPC", MODEL), tmp_path / "pruned.csv")
    number = {name: row for row, name in enumerate(result.sets["name"])}
    whole = score(task, result.predictions[0], result.labels)
    for row in curves.to_dict("records"):
        chosen = [order for order in planned.orders if order.name == row["order"]]
        scores = [
            score(
                task, result.predictions[number[planned.name(order, row["heads"])]], result.labels
            )[row["metric"]]
            for order in chosen
        ]
        assert row["score"] == pytest.approx(100 * np.mean(scores), abs=1e-9)
        assert row["baseline"] == pytest.approx(100 * whole[row["metric"]], abs=1e-9)
        assert row["draws"] == len(chosen)


def test_smaller_models_are_scored_where_they_were_not_chosen(table, result, tmp_path):
    """Also the intact one, if no head can be removed."""
    task, planned = TASKS["MRPC"], pruning.plan(table)
    curves, _ = score_orders(result, planned, task, tolerance=1, resamples=100, seed=1)
    numbers = dict(zip(t.CHOOSING, [0, *planned.counts], strict=False))
    chosen = pd.DataFrame(
        [(name, metric, 1.0, numbers[name], 40) for name in t.CHOOSING for metric in task.metrics],
        columns=list(t.PRUNING_CHOICES.names),
    )
    found = pruning.smaller_models(curves, chosen)
    t.SMALLER_MODELS.write(identify(found, "MRPC", MODEL), tmp_path / "smaller.csv")
    assert len(found) == len(chosen)
    number = {name: row for row, name in enumerate(result.sets["name"])}
    for row in found.to_dict("records"):
        (order,) = (order for order in planned.orders if order.name == row["order"])
        place = number[planned.name(order, row["removed"])] if row["removed"] else 0
        expected = 100 * score(task, result.predictions[place], result.labels)[row["metric"]]
        assert row["removed"] == numbers[row["order"]]
        assert row["score"] == pytest.approx(expected, abs=1e-9)
        assert row["delta"] == pytest.approx(row["score"] - row["baseline"], abs=1e-9)
        assert row["ci_low"] <= row["delta"] <= row["ci_high"]


def test_what_a_layer_needs_is_the_score_with_its_other_heads_removed(table, result, tmp_path):
    task, layers = TASKS["MRPC"], pruning.layer_sets(table)
    needs = pruning.layer_needs(result, layers, task, tolerance=5, resamples=400, seed=1)
    t.LAYER_NEEDS.write(identify(needs, "MRPC", MODEL), tmp_path / "needs.csv")
    number = {name: row for row, name in enumerate(result.sets["name"])}
    names = {place: name for name, place in layers.items()}
    for row in needs.to_dict("records"):
        set_ = result.predictions[number[names[row["layer"], row["kept"]]]]
        expected = 100 * score(task, set_, result.labels)[row["metric"]]
        assert row["score"] == pytest.approx(expected, abs=1e-9)
        assert row["delta"] == pytest.approx(row["score"] - row["baseline"], abs=1e-9)
        assert row["tolerated"] == (row["delta"] >= -5)
        assert row["noninferior"] == (row["ci_low"] >= -5)
        assert row["ci_low"] <= row["delta"] <= row["ci_high"]
    assert len(needs) == 2 * LAYERS * (HEADS - 1)


def test_the_heads_that_survive_are_those_removed_last(table, result, tmp_path):
    task, planned = TASKS["MRPC"], pruning.plan(table)
    _, pruned = score_orders(result, planned, task, tolerance=20, resamples=50, seed=1)
    left = pruning.remaining_heads(table, pruned, "f1")
    t.REMAINING_HEADS.write(identify(left, "MRPC", MODEL), tmp_path / "left.csv")
    assert set(left["order"]) == {*t.DEFINITIONS, t.GREEDY}
    for order in planned.orders:
        if order.name in (RANDOM, t.REVERSED):
            continue
        rows = pruned[(pruned["order"] == order.name) & (pruned["metric"] == "f1")]
        (removed,) = rows["largest"]
        own = left[left["order"] == order.name].set_index(["layer", "head"])
        gone = {place for place, survives in own["survives"].items() if not survives}
        assert gone == set(order.heads[:removed])
        assert (own["chance"] == 1 - removed / (LAYERS * HEADS)).all()
    assert 0 < left["survives"].mean() < 1, "some are removed"


def test_the_sweep_removes_each_set_once(table):
    from darksecrets.core.interventions.sweep import Settings

    made = pruning.settings(Settings(TASKS["RTE"], 1, 64), table)
    assert (made.mode, made.parts) == ("zero", False)
    assert len(made.sets) == len(set(made.sets))
    assert {*pruning.plan(table).sets, *pruning.layer_sets(table)} == set(made.sets)
