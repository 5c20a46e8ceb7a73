"""Effects of exchanged weights, against scikit-learn, plain loops, and models of pure noise."""

import numpy as np
import pandas as pd
import pytest
import torch
from glue import TASKS
from made_up_landscape import HEADS, LAYERS, POINTS, MadeUp
from scipy.stats import spearmanr
from sklearn.metrics import accuracy_score, f1_score, log_loss

from darksecrets.ablation.statistics import Resampling
from darksecrets.landscape.joining import change_and_cost
from darksecrets.landscape.results import Reset
from darksecrets.landscape.statistics import changes_of_maps, score
from darksecrets.landscape.swaps import interpolations
from darksecrets.landscape.tables import TABLES
from darksecrets.run.errors import InputError
from darksecrets.stats.ranks import Draws, paired_agreement

TASK = TASKS["MRPC"]
DRAWS = Resampling(bootstrap=400, permutations=199, splits=10, seed=5)
SEEDS = (1, 2)


def results(**asked: np.ndarray | float) -> dict[int, Reset]:
    rng = np.random.default_rng(7)
    task = MadeUp.draw(rng)
    return {seed: task.model(rng, **asked) for seed in SEEDS}  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def found() -> dict[int, Reset]:
    return results(exchanged=0.8)


@pytest.fixture(scope="module")
def tables(found: dict[int, Reset]) -> dict[str, pd.DataFrame]:
    return score(found, {}, TASK, "finetuned", DRAWS)


def test_every_table_fits_its_declaration(tables, tmp_path):
    for table in TABLES:
        path = tmp_path / table.file
        table.write(tables[table.name], path)
        assert len(table.read(path)) == len(tables[table.name]) > 0


def test_scores_and_losses_are_those_of_scikit_learn(found, tables):
    table = tables["reset_layers"]
    for seed, result in found.items():
        swaps = result.swaps
        whole = (swaps["kind"] == "up to") & (swaps["last_layer"] == LAYERS)
        pretrained = result.swapped[np.flatnonzero(whole & (swaps["direction"] == "reset"))[0]]
        for place, swap in swaps[seed::4].iterrows():
            intact = result.finetuned if swap["direction"] == "reset" else pretrained
            outputs = result.swapped[int(str(place))]
            what = ["direction", "kind", "first_layer", "last_layer"]
            own = table[(table["seed"] == seed) & (table[what] == swap[what]).all(axis=1)]
            rows = own.set_index("metric")
            for metric, of in (("f1", f1_score), ("accuracy", accuracy_score)):
                before, after = (
                    100 * of(result.labels, one.argmax(axis=1)) for one in (intact, outputs)
                )
                assert rows.loc[metric, "baseline"] == pytest.approx(before)
                assert rows.loc[metric, "score"] == pytest.approx(after)
                assert rows.loc[metric, "delta"] == pytest.approx(after - before, abs=1e-9)
            changed = 100 * np.mean(intact.argmax(axis=1) != outputs.argmax(axis=1))
            assert rows.loc["f1", "flips"] == pytest.approx(changed)
            added = loss(result, outputs) - loss(result, intact)
            assert rows.loc["accuracy", "loss_delta"] == pytest.approx(added, abs=1e-9)
            assert rows.loc["f1", "loss_low"] < added < rows.loc["f1", "loss_high"]


def loss(result: Reset, outputs: np.ndarray) -> float:
    shares = torch.softmax(torch.from_numpy(outputs).double(), dim=-1).numpy()
    return float(log_loss(result.labels, shares))


def test_losses_have_the_interval_of_a_mean(found, tables):
    """Within a tenth of ± 1.96 standard errors."""
    result, rows = found[1], tables["reset_heads"].query("seed == 1 and metric == 'f1'")
    for (layer, head), (low, high) in zip(
        np.ndindex(LAYERS, HEADS), rows[["loss_low", "loss_high"]].to_numpy(), strict=True
    ):
        added = np.array(
            [
                -np.log(softmax(after)[label]) + np.log(softmax(before)[label])
                for before, after, label in zip(
                    result.finetuned, result.heads[layer, head], result.labels, strict=True
                )
            ]
        )
        width = 2 * 1.96 * added.std(ddof=1) / np.sqrt(len(added))
        assert high - low == pytest.approx(width, rel=0.15)
        assert (low + high) / 2 == pytest.approx(added.mean(), abs=0.15 * width)


def softmax(outputs: np.ndarray) -> np.ndarray:
    powers = np.exp(outputs.astype(np.float64))
    made: np.ndarray = powers / powers.sum()
    return made


def test_means_are_over_seeds_and_wider_than_one_of_them(found, tables):
    key = ["direction", "kind", "first_layer", "last_layer", "metric"]
    per_seed = tables["reset_layers"].groupby(key)[["delta", "loss_delta", "flips"]].mean()
    means = tables["reset_means"].set_index(key)
    assert len(means) == len(per_seed)
    for column in per_seed:
        expected = per_seed.loc[means.index, column].to_numpy()
        assert means[column].to_numpy() == pytest.approx(expected)
    assert set(means["seeds"]) == {2}
    assert (means["ci_low"] <= means["delta"]).all()
    assert (means["ci_high"] >= means["delta"]).all()


def test_one_seed_has_intervals_over_examples(found):
    one = score({1: found[1]}, {}, TASK, "finetuned", DRAWS)
    means, own = one["reset_means"], one["reset_layers"]
    assert means["delta"].to_numpy() == pytest.approx(own["delta"].to_numpy())
    both = [frame["loss_high"] - frame["loss_low"] for frame in (means, own)]
    assert np.median(both[0] / both[1]) == pytest.approx(1, abs=0.1)
    assert one["interpolation"]["spread"].isna().all()


def test_curves_are_means_over_seeds(found, tables):
    table = tables["interpolation"]
    assert set(table["part"]) == {"model", "encoder", "embeddings", "layer"}
    for number, (part, layer) in enumerate(interpolations(LAYERS)):
        own = table[(table["part"] == part) & (table["layer"].fillna(0) == layer)]
        for split, quantity in (("validation", "loss"), ("train", "loss"), ("validation", "f1")):
            rows = own[(own["split"] == split) & (own["quantity"] == quantity)]
            assert rows["alpha"].tolist() == POINTS.tolist()
            values = np.array(
                [
                    [value(quantity, *result.curves(split), number, point) for point in range(3)]
                    for result in found.values()
                ]
            )
            assert rows["value"].to_numpy() == pytest.approx(values.mean(axis=0))
            assert rows["spread"].to_numpy() == pytest.approx(values.std(axis=0, ddof=1))
            assert rows["difference"].iloc[-1] == rows["ci_low"].iloc[-1] == 0
    assert not set(table[table["split"] == "train"]["quantity"]) - {"loss"}


def value(quantity: str, outputs: np.ndarray, labels: np.ndarray, part: int, point: int) -> float:
    one = outputs[part, point]
    if quantity == "f1":
        return float(100 * f1_score(labels, one.argmax(axis=1)))
    return float(
        np.mean([-np.log(softmax(row)[label]) for row, label in zip(one, labels, strict=True)])
    )


def test_a_regression_has_squared_errors_and_no_flips():
    rng = np.random.default_rng(3)
    made = results()
    labels = rng.normal(size=len(made[1].labels)).astype(np.float32)
    reduced = {
        seed: Reset(
            **{
                **vars(result),
                **{
                    name: getattr(result, name)[..., :1]
                    for name in ("finetuned", "swapped", "heads", "validation", "train")
                },
                "labels": labels,
                "train_labels": labels[::2],
            }
        )
        for seed, result in made.items()
    }
    found = score(reduced, {}, TASKS["STS-B"], "finetuned", DRAWS)
    assert found["reset_layers"]["flips"].isna().all()
    assert set(found["change_and_cost"]["cost"]) == {"loss", "score"}
    row = found["reset_layers"].query("seed == 1 and metric == 'pearson'").iloc[0]
    squares = (reduced[1].swapped[0, :, 0] - labels) ** 2 - (
        reduced[1].finetuned[:, 0] - labels
    ) ** 2
    assert row["loss_delta"] == pytest.approx(squares.mean())


def test_the_join_is_the_mean_of_the_rank_correlations_of_seeds():
    change = np.random.default_rng(2).random((LAYERS, HEADS))
    made = results(heads=3 * change, change=change)
    maps = {seed: np.random.default_rng(90 + seed).random((LAYERS, HEADS)) for seed in SEEDS}
    table = change_and_cost(made, maps, TASK, DRAWS).set_index(["scope", "change", "cost"])
    of_losses = tables_of(made)
    for name, changes in (("weights", dict.fromkeys(SEEDS, change)), ("maps", maps)):
        expected = np.mean(
            [
                spearmanr(changes[seed].ravel(), of_losses.query(f"seed == {seed}")["loss_delta"])[
                    0
                ]
                for seed in SEEDS
            ]
        )
        assert table.loc[("heads", name, "loss"), "spearman"] == pytest.approx(expected)
    strong = table.loc[("heads", "weights", "loss")]
    assert strong["p_value"] == strong["p_within_layers"] == 1 / 200
    assert 0.3 < strong["ci_low"] < strong["spearman"] < strong["ci_high"]
    assert table.loc[("heads", "maps", "loss"), "p_value"] > 0.01
    assert table.loc["layers"]["p_within_layers"].isna().all()
    assert (table["q_value"] >= table["p_value"]).all()
    assert table.loc["layers"]["ci_low"].isna().all(), "three layers are too few"


def tables_of(made: dict[int, Reset]) -> pd.DataFrame:
    table = score(made, {}, TASK, "finetuned", DRAWS)["reset_heads"]
    return table[table["metric"] == "f1"]


def test_paired_permutations_are_those_of_a_loop():
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 3, 6))
    second[0] += first[0]
    layers = np.array([0, 0, 0, 1, 1, 1])
    draws = Draws(layers, 0, 99, 4)
    found = paired_agreement(first, second, draws)
    rho = np.mean([spearmanr(*pair)[0] for pair in zip(first, second, strict=True)])
    assert found.rho == pytest.approx(rho)
    beyond = 0
    for order in draws.permuted(within=False):
        moved = np.mean([spearmanr(a, b[order])[0] for a, b in zip(first, second, strict=True)])
        beyond += abs(moved) >= abs(rho) - 1e-12
    assert found.p == pytest.approx((1 + beyond) / 100)
    assert not paired_agreement(first, np.ones_like(second), draws).known


def test_seeds_with_other_examples_are_refused(found):
    other = Reset(**{**vars(found[2]), "idx": found[2].idx + 1})
    with pytest.raises(InputError, match="different examples"):
        score({1: found[1], 2: other}, {}, TASK, "finetuned", DRAWS)


def test_a_change_is_one_minus_the_cosine():
    table = pd.DataFrame(
        {"layer": [2, 1, 2, 1], "head": [1, 2, 2, 1], "similarity": [0.5, 0.9, 0.75, 1.0]}
    )
    assert changes_of_maps(table) == pytest.approx(np.array([[0, 0.1], [0.5, 0.25]]))
