"""Means over heads and examples, their intervals and controls."""

import math

import numpy as np
import pytest
from scipy.stats import t

from darksecrets.beyond.faithfulness.declared import COMPARED, IMPORTANCE
from darksecrets.beyond.faithfulness.measure import statistics
from darksecrets.beyond.faithfulness.measure.explanations import Measured
from darksecrets.core.run.columns import TOKEN_KINDS
from darksecrets.core.stats.kendall import least_significant

EXAMPLES, LAYERS, HEADS = 20, 3, 2


def measured(rng: np.random.Generator, examples: int = EXAMPLES) -> Measured:
    shape = LAYERS, HEADS
    kinds = rng.gamma(3, size=(examples, len(TOKEN_KINDS), *shape))
    kinds[::4, 2] = np.nan  # examples without punctuation
    tau = np.clip(0.2 * rng.normal(size=(3, examples, len(COMPARED), *shape)), -1, 1)
    every = rng.gamma(3, size=(examples, *shape))
    return Measured(np.zeros(examples, np.int64), kinds, every, *tau, [])


def of_kind(table, column: str, kind: str, layer: int | None, head: int | None):
    layers = table["layer"].isna() if layer is None else table["layer"] == layer
    heads = table["head"].isna() if head is None else table["head"] == head
    (row,) = table[(table[column] == kind) & layers & heads].to_dict("records")
    return row


@pytest.fixture(scope="module")
def models() -> dict[str, Measured]:
    rng = np.random.default_rng(0)
    return {"finetuned/seed-1": measured(rng), "random/seed-1": measured(rng)}


def test_relative_gradients_are_ratios_of_means(models):
    table = statistics.gradients(models, "random/seed-1", 0)["finetuned/seed-1"]
    own, random = models.values()

    def expected(found: Measured, kind: int, layers: list[int], heads: list[int]) -> float:
        over, under = [], []
        for example in range(EXAMPLES):
            places = [(layer, head) for layer in layers for head in heads]
            values = [found.gradients[example, kind][place] for place in places]
            if not math.isnan(values[0]):
                over.append(sum(values) / len(values))
                every = [found.all_gradients[example][place] for place in places]
                under.append(sum(every) / len(every))
        return sum(over) / sum(under)

    for kind, name in enumerate(TOKEN_KINDS):
        cases = [(2, 1, [1], [0]), (3, None, [2], [0, 1]), (None, None, [0, 1, 2], [0, 1])]
        for layer, head, layers, heads in cases:
            row = of_kind(table, "kind", name, layer, head)
            assert row["relative"] == pytest.approx(expected(own, kind, layers, heads))
            control = expected(random, kind, layers, [0, 1])
            assert row["random"] == pytest.approx(control)
            assert row["relative_low"] < row["relative"] < row["relative_high"]
            assert row["examples"] == EXAMPLES - 5 * (name == "punctuation")


def test_kinds_without_tokens_have_no_rows(models):
    own = models["finetuned/seed-1"]
    own.gradients[:, 3] = np.nan
    table = statistics.gradients(models, "random/seed-1", 0)["finetuned/seed-1"]
    assert "word" not in set(table["kind"])


def test_no_gradient_at_all_has_no_ratio():
    nothing = np.zeros((8, 2))
    assert np.isnan(statistics.ratio(nothing, nothing, 0).value).all()


def test_agreement_is_a_mean_of_examples(models):
    tokens = [10] * EXAMPLES
    table = statistics.agreements(models, tokens, 0)["finetuned/seed-1"]
    own, least = models["finetuned/seed-1"], least_significant(10)
    for number, name in enumerate(COMPARED):
        row = of_kind(table, "compared", name, 1, 2)
        assert row["tau"] == pytest.approx(own.tau[:, number, 0, 1].mean())
        assert row["significant"] == (np.abs(own.tau[:, number, 0, 1]) > least).mean()
        row = of_kind(table, "compared", name, 3, None)
        difference = (own.tau - own.other_text)[:, number, 2].mean()
        assert row["over_control"] == pytest.approx(difference)
        row = of_kind(table, "compared", name, None, None)
        assert row["shuffled"] == pytest.approx(own.shuffled[:, number].mean())
        assert row["examples"] == EXAMPLES


def test_intervals_are_students():
    values = np.random.default_rng(1).normal(size=(12, 30))
    found = statistics.mean(values, 0)
    reach = t.isf(0.025, 11) * values.std(axis=0, ddof=1) / math.sqrt(12)
    np.testing.assert_allclose(found.high - found.low, 2 * reach, rtol=0.15)
    few = statistics.mean(values[:5], 0)
    assert np.isnan([few.low, few.high]).all()
    np.testing.assert_allclose(few.value, values[:5].mean(axis=0))


def test_layers_and_the_encoder_are_means_over_heads_with_a_value():
    values = np.array([[[[1.0, 3.0], [np.nan, 5.0]]]])
    np.testing.assert_allclose(statistics.stack_levels(values)[0, 0], [1, 3, np.nan, 5, 2, 5, 3])


def test_erased_tokens_are_compared_on_the_same_examples():
    rng = np.random.default_rng(2)
    found = {}
    for name in IMPORTANCE:
        found[name] = rng.uniform(0.1, 0.5, 10)
        found[f"{name} reversed"] = rng.uniform(0.5, 1, 10)
    found["weights"][3] = np.nan  # never changes
    found["random 1"], found["random 2"] = rng.uniform(0.2, 1, (2, 10))
    table = statistics.erased(found, 2, 0).set_index("importance")
    shares = np.nan_to_num(found["weights"], nan=1)
    random = (found["random 1"] + found["random 2"]) / 2
    row = table.loc["weights"]
    assert row["erased"] == pytest.approx(shares.mean())
    assert row["random"] == pytest.approx(random.mean())
    assert row["over_random"] == pytest.approx((shares - random).mean())
    assert row["reversed"] == pytest.approx(found["weights reversed"].mean())
