"""Levels, changes, trends and origins of attention, against loops, on made-up profiles."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from darksecrets.paper.features.changes import changes
from darksecrets.paper.features.comparisons import load
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.levels import level, levels
from darksecrets.paper.features.profiles import Collector, Profiles
from darksecrets.paper.features.tables import (
    ATTENTION_CHANGES,
    ATTENTION_LEVELS,
    ATTENTION_MEASURES,
    ATTENTION_ORIGINS,
    ATTENTION_TRENDS,
)
from darksecrets.paper.features.trends import origins, trends

EXAMPLES, LAYERS, HEADS = 24, 6, 5
CLS, SEP, NEGATION = (FEATURES.index(name) for name in ("[CLS]", "[SEP]", "negation"))


def features(rng, examples=EXAMPLES, length=12):
    """Every word has a feature with some chance; no example has a negation."""
    having = rng.random((examples, length, len(FEATURES))) < 0.2
    having[:, :, [NEGATION, CLS, SEP]] = False
    having[:, 0, CLS] = having[:, -1, SEP] = True
    return having


def profiles(having, rng, change=None):
    """Random weights of all measures; `change` is applied to those of the examples' features."""
    examples = len(having)
    absent = ~having.any(axis=1)

    def values(layers):
        drawn = rng.random((examples, len(FEATURES), layers, HEADS)) / 10 + 0.05
        drawn[absent] = np.nan
        return drawn

    sizes = {name: 1 if name == "from [CLS]" else LAYERS for name in ATTENTION_MEASURES}
    weights = {name: values(size) for name, size in sizes.items()}
    control = {name: values(sizes[name]) for name in ("greatest", "from [CLS]")}
    if change:
        change(weights, control)
    uniform = {name: np.full_like(weights[name][..., :1], 1 / 12) for name in sizes}
    for each in uniform.values():
        each[absent] = np.nan
    collector = Collector()
    collector.add(list(range(examples)), having, weights, uniform, control)
    return collector.profiles()


@pytest.fixture(scope="module")
def models():
    rng = np.random.default_rng(0)
    found = {}
    for task in ("RTE", "SST-2"):
        having = features(rng)
        found[task] = {
            "pretrained": [profiles(having, rng)],
            "finetuned": [profiles(having, rng) for _ in range(3)],
            "random": [profiles(having, rng)],
        }
    return found


def known_mean(values):
    """Mean over the examples that have a value."""
    return np.mean([v for v in values if not np.isnan(v)])


def select(table, **columns):
    for name, value in columns.items():
        table = table[table[name].isna() if value is None else table[name] == value]
    return table


def test_models_of_a_task_are_told_apart_by_their_state(monkeypatch):
    monkeypatch.setattr(Profiles, "load", staticmethod(lambda path: path))
    files = [
        (task, model, f"{task}/{model}")
        for task in ("A", "B")
        for model in ("pretrained", "finetuned/seed-1", "finetuned/seed-2", "random/seed-1")
    ]
    assert load(files) == {
        task: {
            "pretrained": [f"{task}/pretrained"],
            "finetuned": [f"{task}/finetuned/seed-1", f"{task}/finetuned/seed-2"],
            "random": [f"{task}/random/seed-1"],
        }
        for task in ("A", "B")
    }


def test_levels_are_means_over_heads_examples_and_seeds(models, tmp_path):
    table = levels(models, 200, 0)
    ATTENTION_LEVELS.write(table, tmp_path / "levels.csv")
    rows = 2 * 3 * 8 * (4 * (LAYERS + 1) + 1)
    assert len(table) == rows, "a feature that no example has, has no rows"
    rng = np.random.default_rng(1)
    for row in table.iloc[rng.permutation(rows)[:60]].itertuples():
        own, f = models[row.task][row.state], FEATURES.index(row.feature)
        assert row.seeds == len(own)
        assert row.examples == int((own[0].tokens[:, f] > 0).sum())
        assert row.tokens == pytest.approx(own[0].tokens[:, f].sum() / row.examples)

        def mean(part, f=f, own=own, row=row):
            layers = slice(None) if pd.isna(row.layer) or row.measure == "from [CLS]" else None
            values = [getattr(one, part)[row.measure][:, f] for one in own]
            if layers is None:
                values = [each[:, [int(row.layer) - 1]] for each in values]
            return np.mean([known_mean(each.mean(axis=1)) for each in values])

        assert row.weight == pytest.approx(mean("weights"))
        assert row.uniform == pytest.approx(mean("uniform"))
        controlled = row.measure in ("greatest", "from [CLS]")
        assert row.control == pytest.approx(mean("control") if controlled else np.nan, nan_ok=True)
        assert row.weight_low < row.weight < row.weight_high
        if row.measure == "from [CLS]":
            assert row.layer == LAYERS
        assert np.isnan(row.to_special) == (row.feature in ("[CLS]", "[SEP]"))
        if not np.isnan(row.to_special):
            assert row.to_special_low < row.to_special < row.to_special_high


def test_tokens_that_cls_does_not_reach_have_no_row():
    """Local attention in the last layer: no verb is in reach, and nouns in some examples only."""
    rng = np.random.default_rng(0)
    having, far = features(rng), np.arange(EXAMPLES) < EXAMPLES // 2
    noun, verb = FEATURES.index("noun"), FEATURES.index("verb")

    def out_of_reach(weights, control):
        for each in (weights["from [CLS]"], control["from [CLS]"]):
            each[:, verb] = np.nan
            each[far, noun] = np.nan

    table = levels({"RTE": {"pretrained": [profiles(having, rng, out_of_reach)]}}, 50, 0)
    assert not table["weight"].isna().any()
    assert not len(select(table, measure="from [CLS]", feature="verb"))
    assert len(select(table, measure="greatest", feature="verb")) == LAYERS + 1
    for measure, examples in (("from [CLS]", ~far), ("greatest", ~far | True)):
        rows = select(table, measure=measure, feature="noun")
        counts = having[examples][:, :, noun].sum(axis=1)
        assert set(rows["examples"]) == {(counts > 0).sum()}
        assert rows["tokens"].to_numpy() == pytest.approx(counts[counts > 0].mean())


def test_of_a_feature_in_five_examples_nothing_is_said_and_it_is_nobodys_rival(tmp_path):
    """It would be the greatest by far: its row is there, without any interval or verdict."""
    rng, verb = np.random.default_rng(3), FEATURES.index("verb")
    having = features(rng)
    having[5:, :, verb] = False
    having[:5, 3, verb] = True

    def greatest(weights, control):
        for each in weights.values():
            each[:5, verb] += 0.5

    tables = []
    for absent in (False, True):
        own = having.copy()
        own[:, :, verb] &= not absent
        drawn = np.random.default_rng(8)
        models = {"pretrained": [profiles(own, drawn, None if absent else greatest)]}
        tables.append(levels({"RTE": models}, 60, 0))
    ATTENTION_LEVELS.write(tables[0], tmp_path / "levels.csv")
    rare = select(tables[0], feature="verb")
    assert len(rare) == 4 * (LAYERS + 1) + 1
    assert (rare["examples"] == 5).all()
    assert (rare["weight"] > 0.5).all()
    ends = [name for name in rare if name.endswith(("_low", "_high"))]
    said = ["greatest_of_features", "greatest_of_tasks", "over_rivals", *ends]
    assert rare[said].isna().all(axis=None)
    others = [t[t["feature"] != "verb"].reset_index(drop=True) for t in tables]
    pd.testing.assert_frame_equal(*others)


def test_of_a_change_or_a_trend_in_five_examples_there_is_no_interval():
    rng, verb = np.random.default_rng(4), FEATURES.index("verb")
    having = features(rng)
    having[5:, :, verb] = False
    having[:5, 3, verb] = True
    models = {"RTE": {state: [profiles(having, rng)] for state in ("pretrained", "finetuned")}}
    for table, columns in (
        (changes(models, 99, 50, 0), ["change_low", "over_control_high"]),
        (trends(models, 99, 50, 0), ["correlation_low", "correlation_high"]),
    ):
        is_rare = table["feature"] == "verb"
        assert table.loc[is_rare, columns].isna().all(axis=None)
        assert table.loc[~is_rare, columns].notna().all(axis=None)


def test_the_ratio_to_special_tokens_is_over_the_same_examples(models):
    table = levels(models, 50, 0)
    (one,) = models["RTE"]["pretrained"]
    weights, noun = one.weights["per token"], FEATURES.index("noun")
    over, under = [], []
    for example in range(EXAMPLES):
        if one.tokens[example, noun]:
            over.append(weights[example, noun].mean())
            under.append(weights[example, [CLS, SEP]].mean())
    row = select(table, task="RTE", state="pretrained", measure="per token", feature="noun")
    assert select(row, layer=None)["to_special"].item() == pytest.approx(sum(over) / sum(under))


def test_the_greatest_is_found_and_equals_share():
    def favour(weights, control):
        weights["from [CLS]"][:, SEP] += 0.2
        weights["per token"][:] = np.where(np.isnan(weights["per token"]), np.nan, 1 / 12)

    rng = np.random.default_rng(2)
    having = features(rng)
    of_tasks = {"a": profiles(having, rng, favour), "b": profiles(having, rng)}
    table = levels({task: {"pretrained": [one]} for task, one in of_tasks.items()}, 300, 0)
    rows = select(table, task="a", measure="from [CLS]")
    assert (rows["greatest_of_features"] > 0.99).tolist() == (rows["feature"] == "[SEP]").tolist()
    assert ((rows["over_rivals_low"] > 0) == (rows["feature"] == "[SEP]")).all()
    (sep,) = rows.loc[rows["feature"] == "[SEP]", "greatest_of_tasks"]
    assert sep > 0.99
    rows = select(table, task="a", measure="per token", layer=3)
    np.testing.assert_allclose(rows["greatest_of_features"], 1 / 8)
    np.testing.assert_allclose(rows["over_rivals"], 0, atol=1e-9)
    assert (rows["over_rivals_low"] * rows["over_rivals_high"] < 0).all(), "ties are open"
    assert (table.groupby(["task", "measure", "layer"])["greatest_of_features"].sum() < 1.001).all()


def test_changes_are_paired_and_net_of_the_control(models, tmp_path):
    table = changes(models, 999, 300, 0)
    ATTENTION_CHANGES.write(table, tmp_path / "changes.csv")
    assert len(table) == 2 * 8 * (LAYERS + 1)
    for row in table.iloc[::5].itertuples():
        own, f = models[row.task], FEATURES.index(row.feature)
        layers = slice(None) if pd.isna(row.layer) else [int(row.layer) - 1]

        def mean(part, f=f, own=own, layers=layers):
            after, before = (
                [known_mean(getattr(one, part)["greatest"][:, f, layers].mean(1)) for one in own[s]]
                for s in ("finetuned", "pretrained")
            )
            return np.mean(after) - np.mean(before)

        assert row.change == pytest.approx(mean("weights"))
        assert row.control == pytest.approx(mean("control"))
        assert row.over_control == pytest.approx(row.change - row.control)
        assert row.change_low < row.change < row.change_high
        assert row.seeds == 3
    for whole in (True, False):
        family = table[table["layer"].isna() == whole]
        q = stats.false_discovery_control(family["p_value"])
        np.testing.assert_allclose(family["q_value"], q)


def test_heads_that_differ_as_their_controls_do_leave_no_doubt_about_the_excess():
    rng = np.random.default_rng(4)

    def below_by_the_same(weights, control):
        control["greatest"] = weights["greatest"] - 0.01

    models = [profiles(features(rng), rng, below_by_the_same)]
    found = level(models, "greatest", 200, seed=0, task=0)
    over_uniform, over_control = found.excess[:, :, found.known.any(axis=0)]
    np.testing.assert_allclose(over_control, 0.01, atol=1e-9)
    assert (over_uniform.std(axis=0) > 1e-3).all()


def p_of_signs(values, draws=20_000):
    """How often random signs give a sum as far from 0."""
    signs = np.random.default_rng(1).choice([-1, 1], size=(draws, len(values)))
    return np.mean(np.abs(signs @ values) >= np.abs(values.sum()) - 1e-12)


def net_change(states, part, control_part, select):
    """What the finetuned models have more than the pretrained one, beyond their controls."""
    means = {}
    for state in ("pretrained", "finetuned"):
        own, control = (
            np.mean([select(getattr(one, name)["greatest"]) for one in states[state]], axis=0)
            for name in (part, control_part)
        )
        means[state] = own - control
    return means["finetuned"] - means["pretrained"]


def test_p_values_of_changes_are_the_larger_of_two_over_examples_and_over_heads(models):
    draws = 9999
    table = changes(models, draws, 20, 0).set_index(["task", "feature", "layer"])
    larger = set()
    for feature, layer in (("noun", 2), ("verb", 5), ("[CLS]", 1), ("pronoun", 3)):
        place = FEATURES.index(feature), layer - 1
        by_example, by_head = (
            p_of_signs(np.nan_to_num(net_change(models["RTE"], *parts)))
            for parts in (
                ("weights", "control", lambda values, place=place: values[:, *place]),
                ("heads", "control_heads", lambda values, place=place: values[place]),
            )
        )
        expected = max(by_example, by_head)
        larger.add(by_head > by_example)
        found = table.loc[("RTE", feature, layer), "p_value"]
        assert found == pytest.approx(expected, abs=4 * np.sqrt(1.5 * 0.25 / draws))
    assert larger == {True, False}


def test_a_rise_is_found_and_told_from_a_rise_of_everything():
    rng = np.random.default_rng(3)
    having = features(rng)
    noun, verb = FEATURES.index("noun"), FEATURES.index("verb")

    def rise(weights, control):
        weights["greatest"][:, noun] += 0.02
        weights["greatest"][:, verb] += 0.02
        control["greatest"][:, verb] += 0.02

    states = {"pretrained": [profiles(having, rng)], "finetuned": [profiles(having, rng, rise)]}
    whole = select(changes({"RTE": states}, 999, 300, 0), layer=None).set_index("feature")
    assert (whole.loc[["noun", "verb"], "change_low"] > 0).all()
    assert whole.loc["noun", "q_value"] < 0.05
    assert whole.loc["noun", "over_control_low"] > 0
    assert whole.loc["verb", "q_value"] > 0.05
    same = changes({"RTE": {**states, "finetuned": states["pretrained"]}}, 999, 300, 0)
    assert (same["p_value"] == 1).all()
    assert (same[["change", "change_low", "change_high"]] == 0).all(axis=None)
    assert changes({"RTE": {"pretrained": states["pretrained"]}}, 9, 9, 0).empty


def test_trends_are_of_the_mean_over_examples_and_seeds(models, tmp_path):
    table = trends(models, 99, 200, 0)
    ATTENTION_TRENDS.write(table, tmp_path / "trends.csv")
    assert len(table) == 2 * 3 * 8
    for row in table.itertuples():
        own, f = models[row.task][row.state], FEATURES.index(row.feature)
        for part, found in (("weights", row.correlation), ("control", row.control)):
            means = [
                np.mean([known_mean(getattr(one, part)["greatest"][:, f, n]) for one in own])
                for n in range(LAYERS)
            ]
            assert found == pytest.approx(stats.spearmanr(means, range(LAYERS)).statistic)
    of_state = select(table, state="finetuned")
    np.testing.assert_allclose(
        of_state["q_value"], stats.false_discovery_control(of_state["p_value"])
    )


def test_a_trend_is_found():
    def climb(weights, control):
        weights["greatest"][:, SEP] += 0.05 * np.arange(LAYERS)[:, None]
        weights["greatest"][:, CLS] -= 0.008 * np.arange(LAYERS)[:, None]

    rng = np.random.default_rng(4)
    states = {"pretrained": [profiles(features(rng), rng, climb)]}
    found = trends({"RTE": states}, 99, 300, 0).set_index("feature")
    assert found.loc["[SEP]", "correlation"] == pytest.approx(1)
    assert found.loc["[CLS]", "correlation_high"] < 0
    assert found.loc["[SEP]", "p_value"] == pytest.approx(2 / 720)
    assert found.loc["[SEP]", "q_value"] < 0.05


def test_origins_are_correlations_over_heads(models, tmp_path):
    table = origins(models, 300, 0)
    ATTENTION_ORIGINS.write(table, tmp_path / "origins.csv")
    for row in table.itertuples():
        own, f = models[row.task], FEATURES.index(row.feature)
        of = {s: [one.heads["greatest"][f].ravel() for one in own[s]] for s in own}
        for state, found in (("pretrained", row.correlation), ("random", row.random)):
            values = [stats.pearsonr(of[state][0], after).statistic for after in of["finetuned"]]
            assert found == pytest.approx(np.mean(values))
        assert row.difference == pytest.approx(row.correlation - row.random)
        assert row.heads == LAYERS * HEADS
    covers = (table["correlation_low"] < 0) & (table["correlation_high"] > 0)
    assert covers.mean() > 0.7, "the models have nothing in common"
    own = {**models["RTE"], "finetuned": models["RTE"]["pretrained"]}
    same = origins({"RTE": own}, 300, 0)
    assert same["correlation"].to_numpy() == pytest.approx(1)
    assert (same["difference_low"] > 0.2).all()
    assert origins({"RTE": {"pretrained": own["pretrained"]}}, 9, 0).empty
