"""Effects of reset layers, against scikit-learn and plain loops."""

import numpy as np
import pandas as pd
import pytest
from glue import TASKS
from made_up_landscape import MadeUp
from sklearn.metrics import accuracy_score, f1_score

from darksecrets.beyond.landscape.declared import RESET_TABLES
from darksecrets.beyond.landscape.measure.results import Reset
from darksecrets.beyond.landscape.measure.statistics import score
from darksecrets.core.run.errors import InputError
from darksecrets.paper.ablation.statistics import Resampling

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
    return score(found, TASK, "finetuned", DRAWS)


def test_every_table_fits_its_declaration(tables, tmp_path):
    for table in RESET_TABLES:
        path = tmp_path / table.file
        table.write(tables[table.name], path)
        assert len(table.read(path)) == len(tables[table.name]) > 0


def test_scores_are_those_of_scikit_learn(found, tables):
    table = tables["reset_layers"]
    for seed, result in found.items():
        intact = result.finetuned
        for place, swap in result.swaps[seed::4].iterrows():
            outputs = result.swapped[int(str(place))]
            what = ["kind", "first_layer", "last_layer"]
            own = table[(table["seed"] == seed) & (table[what] == swap[what]).all(axis=1)]
            rows = own.set_index("metric")
            for metric, of in (("f1", f1_score), ("accuracy", accuracy_score)):
                before, after = (
                    100 * of(result.labels, one.argmax(axis=1)) for one in (intact, outputs)
                )
                assert rows.loc[metric, "baseline"] == pytest.approx(before)
                assert rows.loc[metric, "score"] == pytest.approx(after)
                assert rows.loc[metric, "delta"] == pytest.approx(after - before, abs=1e-9)


def test_means_are_over_seeds_and_wider_than_one_of_them(found, tables):
    key = ["kind", "first_layer", "last_layer", "metric"]
    per_seed = tables["reset_layers"].groupby(key)[["delta"]].mean()
    means = tables["reset_means"].set_index(key)
    assert len(means) == len(per_seed)
    for column in per_seed:
        expected = per_seed.loc[means.index, column].to_numpy()
        assert means[column].to_numpy() == pytest.approx(expected)
    assert set(means["seeds"]) == {2}
    assert (means["ci_low"] <= means["delta"]).all()
    assert (means["ci_high"] >= means["delta"]).all()


def test_one_seed_has_intervals_over_examples(found):
    one = score({1: found[1]}, TASK, "finetuned", DRAWS)
    means, own = one["reset_means"], one["reset_layers"]
    assert means["delta"].to_numpy() == pytest.approx(own["delta"].to_numpy())
    both = [frame["ci_high"] - frame["ci_low"] for frame in (means, own)]
    assert np.median(both[0] / both[1]) == pytest.approx(1, abs=0.1)


def test_seeds_with_other_examples_are_refused(found):
    other = Reset(**{**vars(found[2]), "idx": found[2].idx + 1})
    with pytest.raises(InputError, match="different examples"):
        score({1: found[1], 2: other}, TASK, "finetuned", DRAWS)
