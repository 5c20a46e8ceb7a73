"""The tables of norms, against loops, and on made-up encoders in which the truth is known."""

from dataclasses import replace

import numpy as np
import pytest
from made_up_norms import EXAMPLES, HEADS, LAYERS, kinds_of_tokens, measured, stripes
from scipy.stats import t

from darksecrets.beyond.norms.declared import KINDS, NORM_LEVELS, NORM_STATISTICS
from darksecrets.beyond.norms.measure.statistics import (
    distances_to_other_heads,
    drawn_means,
    means,
    tables,
)
from darksecrets.core.run.tables import identify
from darksecrets.core.stats.correlation import correlate_moments

NAME = "finetuned/seed-1"


@pytest.fixture(scope="module")
def encoders():
    """Two encoders on the same examples: one with short separators, one with random lengths."""
    rng = np.random.default_rng(0)
    kinds = kinds_of_tokens(rng)
    weights = stripes(rng, kinds)
    sizes = np.exp(0.3 * rng.normal(size=weights.shape))
    short = sizes * np.where(kinds[..., 1], 0.4, 1)[:, :, None, None]
    random = measured(rng.permuted(weights, axis=1), sizes, kinds, rng)
    return {
        "short": (weights, short, kinds),
        "models": {NAME: measured(weights, short, kinds, rng), "random/seed-1": random},
    }


def test_tables_match_their_declarations(encoders):
    for name, both in tables(encoders["models"], "random/seed-1", 1).items():
        for table, declared in zip(both, (NORM_STATISTICS, NORM_LEVELS), strict=True):
            declared.check(identify(table, "RTE", name), "table", "")


def test_numbers_are_those_of_loops(encoders):
    heads, levels = tables(encoders["models"], "random/seed-1", 1)[NAME]
    weights, sizes, kinds = encoders["short"]
    separator = KINDS.index("separator")
    rows = heads[heads["kind"] == "separator"].set_index(["layer", "head"])
    of_heads, pooled = [], []
    for layer in range(LAYERS):
        for head in range(HEADS):
            shares, norms, lengths, x, y = [], [], [], [], []
            for example in range(EXAMPLES):
                own = kinds[example, :, separator]
                weight, size = weights[example, :, layer, head], sizes[example, :, layer, head]
                shares.append(weight[own].sum())
                norms.append((weight * size)[own].sum() / (weight * size).sum())
                lengths.append(size[own].mean() / size.mean())
                x += np.log(weight[own]).tolist()
                y += np.log(size[own]).tolist()
            row = rows.loc[(layer + 1, head + 1)]
            of_heads.append((np.mean(shares), np.mean(norms), np.mean(lengths)))
            pooled.append(np.corrcoef(x, y)[0, 1])
            found = row["weight"], row["norm"], row["length"]
            np.testing.assert_allclose(found, of_heads[-1], rtol=1e-9)
            assert row["correlation"] == pytest.approx(pooled[-1], abs=1e-9)
            assert row["norm_weight_ratio"] == pytest.approx(row["norm"] / row["weight"])
            assert row["over_control"] == pytest.approx(row["norm"] - row["shuffled"])
    encoder = levels[levels["layer"].isna() & (levels["kind"] == "separator")].iloc[0]
    found = encoder["weight"], encoder["norm"], encoder["length"]
    np.testing.assert_allclose(found, np.mean(of_heads, axis=0), rtol=1e-9)
    assert encoder["correlation"] == pytest.approx(np.mean(pooled), abs=1e-9)


def test_intervals_are_those_of_a_bootstrap_over_examples(encoders):
    """Whole examples are drawn; means and pooled correlations of each sample are made anew."""
    weights, sizes, kinds = encoders["short"]
    model = encoders["models"][NAME]
    drawn, rng = drawn_means(model, seed=3), np.random.default_rng(3)
    picked = rng.integers(EXAMPLES, size=(1000, EXAMPLES))[17]
    own = kinds[picked][:, :, 1]
    x, y = np.log(weights[picked][:, :, 0, 0][own]), np.log(sizes[picked][:, :, 0, 0][own])
    assert drawn.correlation[17, 1, 0, 0] == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    assert drawn.weight[17, 1, 0, 0] == pytest.approx(model.weight[picked, 1, 0, 0].mean())


def test_the_control_is_the_mean_of_the_random_encoders_layer(encoders):
    found = tables(encoders["models"], "random/seed-1", 1)
    of_random = found["random/seed-1"][0]
    expected = of_random.groupby(["kind", "layer"])["over_control"].mean()
    for row in found[NAME][0].to_dict("records"):
        assert row["random"] == pytest.approx(expected[row["kind"], row["layer"]])


def test_short_vectors_take_the_stripe_away(encoders):
    _, levels = tables(encoders["models"], "random/seed-1", 1)[NAME]
    row = levels[levels["layer"].isna()].set_index("kind").loc["separator"]
    assert row["over_control_high"] < -0.1
    assert row["norm_weight_ratio_high"] < 0.8
    assert row["length_high"] < 0.6
    assert row["correlation_low"] < 0 < row["correlation_high"], "alike within the kind"


def test_intervals_of_levels_are_about_other_heads_too(encoders):
    """Student's t over the heads of a layer, by hand."""
    mean = means(encoders["models"][NAME])
    moved = distances_to_other_heads(mean, seed=1)
    kind = KINDS.index("separator")
    for place in range(LAYERS + 1):
        for name in ("over_control", "length", "correlation"):
            values = getattr(mean, name)[kind]
            own = (values if place == LAYERS else values[place]).ravel()
            error = own.std(ddof=1) / np.sqrt(len(own))
            low, high = np.quantile(moved[name][:, kind, place], [0.025, 0.975])
            expected = 2 * t.ppf(0.975, len(own) - 1) * error
            assert high - low == pytest.approx(expected, rel=0.25)
    ratios = (mean.norm / mean.weight)[kind, 0]
    assert np.abs(moved["norm_weight_ratio"][:, kind, 0]).max() > 0
    assert moved["norm_weight_ratio"][:, kind, 0].std() < 10 * ratios.std()
    proportional = distances_to_other_heads(replace(mean, norm=2 * mean.weight), seed=1)
    assert np.abs(proportional["norm_weight_ratio"]).max() < 1e-12, "all heads have one ratio"


def test_kinds_that_are_absent_have_no_rows_and_few_examples_no_intervals():
    rng = np.random.default_rng(0)
    kinds = kinds_of_tokens(rng, examples=5)
    kinds[..., 5] |= kinds[..., 3]
    kinds[..., 3] = False
    weights = stripes(rng, kinds)
    model = measured(weights, np.ones_like(weights), kinds, rng)
    heads, levels = tables({"random/seed-1": model}, "random/seed-1", 1)["random/seed-1"]
    for table, declared in ((heads, NORM_STATISTICS), (levels, NORM_LEVELS)):
        assert "punctuation" not in set(table["kind"])
        assert table.filter(regex="_(low|high)$").isna().all(axis=None)
        assert table["correlation"].isna().all(), "lengths do not vary"
        declared.check(identify(table, "RTE", "random/seed-1"), "table", "")
    np.testing.assert_allclose(means(model).norm[:3], means(model).weight[:3])


def test_correlations_from_moments_add_up_over_parts():
    rng = np.random.default_rng(0)
    x, y = rng.normal(size=(2, 40)) + 5
    y = y + 0.5 * x

    def moments(x, y):
        return np.array([len(x), x.sum(), y.sum(), x @ x, y @ y, x @ y])

    parts = moments(x[:15], y[:15]) + moments(x[15:], y[15:])
    assert correlate_moments(parts, 1e-4) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    assert correlate_moments(parts / 7, 1e-4) == pytest.approx(np.corrcoef(x, y)[0, 1], abs=1e-9)
    constant = np.full(40, 3.0)
    assert np.isnan(correlate_moments(moments(x, constant), 1e-4))
    assert np.isnan(correlate_moments(np.zeros(6), 1e-4))
