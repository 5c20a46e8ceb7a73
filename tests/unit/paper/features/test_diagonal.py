"""Correlation of the attention to related tokens with the diagonal, against SciPy."""

import numpy as np
import pandas as pd
import pytest
from scipy import stats

from darksecrets.paper.features.diagonal import diagonal_correlations
from darksecrets.paper.features.labels import RELATIONS
from darksecrets.paper.features.tables import TOKEN_PAIR_CORRELATIONS

DRAWS = 999


def pairs(layers=3, heads=4):
    """Random weights of two tasks; `pretrained` has no seed; one task lacks a relation."""
    rng = np.random.default_rng(3)
    rows = [
        {"task": task, "state": state, "seed": seed, "relation": relation}
        | {"layer": layer + 1, "head": head + 1, "examples": 5}
        | {name: rng.random() for name in ("weight", "control", "diagonal")}
        for task in ("RTE", "SST-2")
        for state, seed in (("pretrained", None), ("finetuned", 1), ("finetuned", 2))
        for relation in (RELATIONS if task == "RTE" else RELATIONS[:3])
        for layer, head in np.ndindex(layers, heads)
    ]
    return pd.DataFrame(rows).sample(frac=1, random_state=1)


def test_every_state_seed_and_relation_has_its_correlations():
    table = pairs()
    found = diagonal_correlations(table, DRAWS, 0)
    assert len(found) == 3 * (4 + 3)
    assert (found["heads"] == 12).all()
    assert found["seed"].isna().sum() == 4 + 3
    for row in found.itertuples():
        seed = table["seed"].isna() if pd.isna(row.seed) else table["seed"] == row.seed
        heads = table[seed & (table["task"] == row.task) & (table["state"] == row.state)]
        heads = heads[heads["relation"] == row.relation]
        assert len(heads) == 12
        weight, control, diagonal = (
            heads[name].to_numpy() for name in ("weight", "control", "diagonal")
        )
        expected = stats.pearsonr(weight, diagonal).statistic
        assert row.weight == pytest.approx(expected, abs=1e-12)
        expected = stats.pearsonr(weight - control, diagonal).statistic
        assert row.over_control == pytest.approx(expected, abs=1e-12)


@pytest.mark.slow
def test_intervals_are_those_of_scipy():
    table = pairs(layers=2, heads=6)
    table = table[(table["task"] == "RTE") & (table["state"] == "pretrained")]
    found = diagonal_correlations(table, 4999, 0)
    for row in found.itertuples():
        heads = table[table["relation"] == row.relation]
        both = heads["weight"].to_numpy(), heads["diagonal"].to_numpy()
        drawn = np.random.default_rng(2).integers(12, size=(3000, 12))
        means = [stats.pearsonr(both[0][d], both[1][d]).statistic for d in drawn]
        np.testing.assert_allclose(
            (row.weight_low, row.weight_high), np.quantile(means, (0.025, 0.975)), atol=0.06
        )


def test_heads_that_are_all_alike_have_no_correlation():
    table = pairs().assign(weight=0.5)
    found = diagonal_correlations(table, DRAWS, 0)
    assert found["weight"].isna().all()
    assert found["over_control"].notna().all()


def test_no_relation_at_all():
    found = diagonal_correlations(pairs().head(0), DRAWS, 0)
    assert list(found.columns) == list(TOKEN_PAIR_CORRELATIONS.names)
    assert found.empty


def test_heads_that_reach_no_related_tokens_are_left_out():
    """Local attention: their weight and control are 0 because there are none."""
    table = pairs()
    reaches = table["layer"] > 1
    columns = {"examples": 0, "weight": 0.0, "control": 0.0}
    masked = table.assign(**{name: table[name].where(reaches, no) for name, no in columns.items()})
    found = diagonal_correlations(masked, DRAWS, 0)
    assert (found["heads"] == 8).all()
    pd.testing.assert_frame_equal(found, diagonal_correlations(table[reaches], DRAWS, 0))
