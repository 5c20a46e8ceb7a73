"""Intervals and differences of scores, against plain formulas on samples drawn one by one."""

import csv
import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from glue import TASKS
from scipy.stats import pearsonr, rankdata

from darksecrets.core.data.coverage import Coverage
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.learned import unlearned
from darksecrets.core.stats.correlation import standardized
from darksecrets.core.stats.permutation import (
    correlation_permutation,
    permutation_p,
    swapped_differences,
)
from darksecrets.paper.finetuning import tables
from darksecrets.paper.finetuning.comparison import (
    COMPARISONS,
    Outcomes,
    Resampling,
    compare,
    exchangeable,
    learned,
    read,
)

EXAMPLES = 50
PLAIN = {
    "accuracy": lambda y, p: np.mean(y == p),
    "f1": lambda y, p: 2 * np.sum(y & p) / (np.sum(y) + np.sum(p)),
    "pearson": lambda y, p: np.corrcoef(y, p)[0, 1],
    "spearman": lambda y, p: np.corrcoef(rankdata(y), rankdata(p))[0, 1],
}
SKILL = {"pretrained": 0.5, "frozen": 0.7, "finetuned-from-normal": 0.6, "finetuned": 0.9}


def outcomes(task: str, seeds: int) -> Outcomes:
    """Random predictions; regressions of noise and the label, classes that are often right."""
    rng = np.random.default_rng([seeds, *task.encode()])
    if TASKS[task].is_regression:
        labels = rng.uniform(0, 5, EXAMPLES)
        noise = {name: rng.normal(0, 4 * (1 - s), (seeds, EXAMPLES)) for name, s in SKILL.items()}
        predictions = {name: labels + noise[name] for name in SKILL}
        predictions |= {"majority": np.full((1, EXAMPLES), 2.5)}
    else:
        classes = TASKS[task].num_labels
        labels = rng.integers(classes, size=EXAMPLES)
        guesses = rng.integers(classes, size=(len(SKILL), seeds, EXAMPLES))
        predictions = {
            name: np.where(rng.random((seeds, EXAMPLES)) < s, labels, guess)
            for (name, s), guess in zip(SKILL.items(), guesses, strict=True)
        }
        predictions |= {"majority": np.ones((1, EXAMPLES), dtype=np.int64)}
    return Outcomes(TASKS[task], labels, np.arange(len(labels)), predictions, range(1, seeds + 1))


@pytest.mark.slow
@pytest.mark.parametrize(("task", "seeds"), [("MRPC", 1), ("STS-B", 3), ("MNLI", 3)])
def test_intervals_are_those_of_a_plain_bootstrap(task, seeds):
    """The variance over examples, from 500 samples drawn and scored one by one."""
    given = outcomes(task, seeds)
    means, differences, _ = compare([given], Resampling(4000, 1))
    rng = np.random.default_rng(5)
    samples = [rng.integers(EXAMPLES, size=EXAMPLES) for _ in range(500)]
    for metric in given.task.metrics:
        scores = {
            name: np.array(
                [
                    [PLAIN[metric](given.labels[rows], p[rows]) for p in predictions]
                    for rows in [np.arange(EXAMPLES), *samples]
                ]
            )
            for name, predictions in given.predictions.items()
            if name != "majority"
        }
        for name, values in scores.items():
            row = means[(means["model"] == name) & (means["metric"] == metric)].iloc[0]
            assert row["score"] == pytest.approx(100 * values[0].mean())
            assert (row["seeds"], row["examples"], row["constant"]) == (seeds, EXAMPLES, 0)
            if seeds == 1:
                reach = 196 * values[1:].mean(axis=1).std(ddof=1)
                # 500 samples give a standard deviation to 3 %; the ends may be cut at 100.
                assert row["score"] - row["ci_low"] == pytest.approx(reach, rel=0.15)
            else:
                assert row["sd"] == pytest.approx(100 * values[0].std(ddof=1))
        for first, second in COMPARISONS:
            if second == "majority":
                continue
            pair = (differences["model"] == first) & (differences["reference"] == second)
            row = differences[pair & (differences["metric"] == metric)].iloc[0]
            gaps = scores[first] - scores[second]
            assert row["difference"] == pytest.approx(100 * gaps[0].mean(), abs=1e-9)
            over_examples = gaps[1:].mean(axis=1).var(ddof=1)
            over_seeds = gaps[0].var(ddof=1) / seeds if seeds > 1 else 0.0
            critical = 1.96 if seeds == 1 else 4.303  # normal; Student's t with 2 degrees
            share = over_seeds / (over_seeds + over_examples)
            reach = ((1 - share) * 1.96 + share * critical) * np.sqrt(over_seeds + over_examples)
            assert row["ci_high"] - row["difference"] == pytest.approx(100 * reach, rel=0.15)


def test_mean_differences_average_accuracy_or_the_main_metric_over_tasks():
    names = ["MRPC", "STS-B", "RTE"]
    given = [outcomes(name, 2) for name in names]
    _, differences, averaged = compare(given, Resampling(500, 1))
    chosen = {"MRPC": "accuracy", "STS-B": "pearson", "RTE": "accuracy"}
    for row in averaged.to_dict("records"):
        of_pair = differences[
            (differences["model"] == row["model"]) & (differences["reference"] == row["reference"])
        ].set_index(["task", "metric"])["difference"]
        expected = np.mean([of_pair[name, metric] for name, metric in chosen.items()])
        assert row["difference"] == pytest.approx(expected)
        assert (row["tasks"], row["seeds"], row["examples"]) == (3, 2, 3 * EXAMPLES)
    assert len(averaged) == len(COMPARISONS)
    alone = compare(given[2:], Resampling(500, 1))
    columns = ["difference", "ci_low", "ci_high", "p_value"]
    pd.testing.assert_frame_equal(alone[1][columns], alone[2][columns])


def test_the_interval_of_a_mean_over_tasks_is_that_of_independent_tasks():
    """Of one seed, half-widths add up in squares, over the number of tasks: not over its root."""
    given = [outcomes(name, 1) for name in ("MRPC", "RTE", "MNLI")]
    _, differences, averaged = compare(given, Resampling(4000, 1))
    differences = differences[differences["metric"] == "accuracy"]
    for row in averaged.to_dict("records"):
        of_pair = differences[
            (differences["model"] == row["model"]) & (differences["reference"] == row["reference"])
        ]
        half = of_pair["ci_high"] - of_pair["difference"]
        expected = np.sqrt((half**2).sum()) / 3
        assert row["ci_high"] - row["difference"] == pytest.approx(expected, rel=1e-6)
        assert row["difference"] - row["ci_low"] == pytest.approx(expected, rel=1e-6)


def test_a_few_examples_that_differ_are_no_evidence():
    """Four of fifty, all for one model: an interval excludes 0, a permutation says 2 / 2⁴."""
    labels = np.arange(EXAMPLES) % 2
    worse = np.where(np.arange(EXAMPLES) < 4, 1 - labels, labels)
    rows = {"finetuned": labels[None], "pretrained": worse[None], "majority": 0 * labels[None]}
    given = Outcomes(TASKS["RTE"], labels, np.arange(len(labels)), rows, [1])
    _, differences, _ = compare([given], Resampling(4000, 1))
    row = differences.set_index(["model", "reference"]).loc[("finetuned", "pretrained")]
    assert row["ci_low"] > 0
    assert row["p_value"] == pytest.approx(2 / 2**4, abs=0.02)


def test_q_values_are_over_all_rows_and_nothing_is_missing(tmp_path):
    from scipy.stats import false_discovery_control

    found = compare([outcomes("MRPC", 1), outcomes("STS-B", 1)], Resampling(200, 1))
    declared = (tables.SCORE_MEANS, tables.SCORE_DIFFERENCES, tables.MEAN_DIFFERENCES)
    for table, frame in zip(declared, found, strict=True):
        table.write(frame, tmp_path / table.file)
        if "q_value" in frame:
            assert set(frame["p_value"].map(type)) == {float}
            expected = false_discovery_control(frame["p_value"])
            np.testing.assert_allclose(frame["q_value"], expected)
    means = found[0].set_index(["task", "model"])
    assert (means.loc[(slice(None), "majority"), "constant"] == 1).all()
    assert means.loc[("STS-B", "majority"), "score"].tolist() == [0, 0]


def test_equal_models_have_no_difference():
    given = outcomes("MRPC", 2)
    same = dict.fromkeys(given.predictions, given.predictions["frozen"])
    _, differences, averaged = compare(
        [dataclasses.replace(given, predictions=same)], Resampling(200, 1)
    )
    for table in (differences, averaged):
        assert (table[["difference", "ci_low", "ci_high"]] == 0).all(axis=None)
        assert (table[["p_value", "q_value"]] == 1).all(axis=None)


def test_means_over_tasks_are_of_the_seeds_that_all_tasks_have():
    two, three = outcomes("RTE", 2), outcomes("MRPC", 3)
    resampling = Resampling(200, 1)
    _, differences, averaged = compare([two, three], resampling)
    assert differences.groupby("task")["seeds"].first().to_dict() == {"MRPC": 3, "RTE": 2}
    _, _, expected = compare([two, three.of([1, 2])], resampling)
    pd.testing.assert_frame_equal(averaged, expected)
    assert set(averaged["seeds"]) == {2}


def test_a_state_that_is_missing_is_not_compared():
    given = outcomes("RTE", 1)
    some = {name: p for name, p in given.predictions.items() if name != "frozen"}
    means, differences, averaged = compare(
        [dataclasses.replace(given, predictions=some)], Resampling(200, 1)
    )
    assert "frozen" not in set(means["model"])
    for table in (differences, averaged):
        assert not {"frozen"} & {*table["model"], *table["reference"]}
        assert len(table) == 5


def test_swapping_correlations_is_the_test_of_the_sweep():
    """`correlation_permutation` swaps standardized predictions, too, in its own code."""
    rng = np.random.default_rng(4)
    labels = rng.normal(size=40)
    first, second = (labels + rng.normal(0, s, 40) for s in (0.6, 1.2))
    score = exchangeable("pearson", 7 * first[None] + 3, second[None], labels=labels)
    found = swapped_differences(score, np.arange(40), 20000, np.random.default_rng(0))
    assert found[0] == pytest.approx(
        pearsonr(labels, first).statistic - pearsonr(labels, second).statistic
    )
    rows = standardized(np.array([second, first]))
    expected = correlation_permutation(rows, standardized(labels), 20000, np.random.default_rng(1))
    assert permutation_p(found) == pytest.approx(expected[1], abs=0.02)


@pytest.mark.parametrize("task", ["MRPC", "STS-B"])
def test_three_copies_of_every_example_say_what_one_says(task):
    given = outcomes(task, 2)
    units = np.tile(given.units, 3)
    predictions = {name: rows[:, units] for name, rows in given.predictions.items()}
    copies = dataclasses.replace(
        given, labels=given.labels[units], units=units, predictions=predictions
    )
    for one, three in zip(
        compare([given], Resampling(200, 1)), compare([copies], Resampling(200, 1)), strict=True
    ):
        counts = [name for name in one if name == "examples"]
        pd.testing.assert_frame_equal(one.drop(columns=counts), three.drop(columns=counts))


# --- Reading ----------------------------------------------------------------------------------


def write(folder: Path, state: str, seed: int, idx: list[int]) -> Path:
    path = folder / f"{state}-{seed}.csv"
    rows = {"task": "RTE", "state": state, "seed": seed, "idx": idx, "label": [0, 1, 1]}
    logits = {"logit_0": [0.5, 0.1, 0.2], "logit_1": [0.1, 0.5, 0.1]}
    tables.predictions(2).write(pd.DataFrame({**rows, "prediction": [0, 1, 0], **logits}), path)
    return path


def write_baselines(folder: Path) -> Path:
    path = folder / "baselines.csv"
    rows = [
        {"task": "RTE", "baseline": name, "idx": idx, "text": text, "label": label, "prediction": 1}
        for name in tables.BASELINE_NAMES
        for idx, text, label in zip([5, 3, 9], [0, 1, 0], [0, 1, 1], strict=True)
    ]
    tables.BASELINE_PREDICTIONS.write(pd.DataFrame(rows), path)
    return path


def test_predictions_are_read_by_state_and_seed(tmp_path):
    paths = [
        write(tmp_path, state, seed, [5, 3, 9])
        for seed in (2, 1)
        for state in ("frozen", "finetuned")
    ]
    found = read(TASKS["RTE"], paths, write_baselines(tmp_path))
    assert {name: rows.shape for name, rows in found.predictions.items()} == {
        "frozen": (2, 3),
        "finetuned": (2, 3),
        "majority": (1, 3),
        "bag of words": (1, 3),
    }
    assert found.labels.tolist() == [0, 1, 1]
    assert found.predictions["frozen"].tolist() == [[0, 1, 0]] * 2


def test_predictions_of_other_examples_or_seeds_are_refused(tmp_path):
    one, other = (write(tmp_path, state, 1, [5, 3, 9]) for state in ("frozen", "finetuned"))
    baselines = write_baselines(tmp_path)
    shuffled = write(tmp_path, "pretrained", 1, [3, 5, 9])
    with pytest.raises(InputError, match=r"pretrained-1.csv: these predictions are of other"):
        read(TASKS["RTE"], [one, other, shuffled], baselines)
    more = write(tmp_path, "finetuned", 2, [5, 3, 9])
    with pytest.raises(InputError, match=r"different seeds, frozen \[1\], finetuned \[1, 2\]"):
        read(TASKS["RTE"], [one, other, more], baselines)


SEEN = dict.fromkeys(
    ("MNLI", "STS-B", "RTE"),
    Coverage(
        examples=40,
        cut=10,
        words=100,
        unknown=2,
        shown=("xyzzy",),
        lower=False,
        texts=40,
        seen=40,
        typed=0,
        max_length=32,
    ),
)


def learners(right: dict[str, float], examples: int = 400, seeds: int = 3) -> Outcomes:
    """Models that are right in shares of the examples; five classes, the majority's one in four."""
    rng = np.random.default_rng(3)
    labels = np.where(rng.random(examples) < 0.25, 0, rng.integers(1, 5, examples))
    wrong = (labels + rng.integers(1, 5, (len(right), seeds, examples))) % 5
    predictions = {
        name: np.where(rng.random((seeds, examples)) < share, labels, others)
        for (name, share), others in zip(right.items(), wrong, strict=True)
    }
    predictions |= {"bag of words": predictions["bag of words"][:1]}
    predictions |= {"majority": np.zeros((1, examples), dtype=np.int64)}
    task = dataclasses.replace(TASKS["MNLI"], labels=tuple("abcde"))
    return Outcomes(task, labels, np.arange(len(labels)), predictions, range(1, seeds + 1))


@pytest.mark.parametrize(
    ("finetuned", "words", "expected"),
    [
        (0.9, 0.5, True),
        (0.25, 0.2, False),  # no better than the majority class
        (0.5, 0.99, False),  # below a bag of words
        (0.1, 0.05, False),  # significantly different from the majority, and worse
    ],
)
def test_a_model_has_learned_if_it_is_better_than_what_ignores_sentences(
    finetuned, words, expected, tmp_path
):
    found = learners({"finetuned": finetuned, "bag of words": words})
    table = learned([found], Resampling(500, 1), SEEN)
    tables.LEARNED.write(table, tmp_path / "learned.csv")
    assert table["learned"].tolist() == [expected] * 4
    assert table["seed"].isna().tolist() == [True, False, False, False]
    for row, seeds in zip(table.itertuples(), ([0, 1, 2], [0], [1], [2]), strict=True):
        right = found.predictions["finetuned"][seeds] == found.labels
        assert row.score == pytest.approx(100 * right.mean())
        assert row.majority == pytest.approx(100 * (found.labels == 0).mean())
    for rows in (table.to_dict("records"), csv.DictReader((tmp_path / "learned.csv").open())):
        found_by_task = unlearned(rows)
        assert list(found_by_task) == ([] if expected else ["MNLI"])
        for said in found_by_task.values():
            assert said.endswith("; 25% of the texts are cut (`fine_tuning.max_length`)")


def test_a_seed_that_fails_is_named_beside_those_that_learn():
    found = learners({"finetuned": 0.9, "bag of words": 0.5})
    found.predictions["finetuned"][1] = 0
    table = learned([found], Resampling(500, 1), SEEN).set_index("seed")
    assert not table.loc[2, "learned"]
    assert table.loc[[1, 3], "learned"].all()


def test_a_seed_is_judged_as_if_it_were_the_only_one():
    """Scores of other states change nothing, either: figures need the fine-tuned models only."""
    found, resampling = learners({"finetuned": 0.4, "bag of words": 0.3}), Resampling(300, 1)
    table = learned([found], resampling, SEEN)
    more = {**learners({"frozen": 0.6, "bag of words": 0.9}).predictions, **found.predictions}
    others = dataclasses.replace(found, predictions=more)
    pd.testing.assert_frame_equal(learned([others], resampling, SEEN), table)
    for seed in found.seeds:
        alone = learned([found.of([seed])], resampling, SEEN)
        row = table[table["seed"] == seed].reset_index(drop=True)
        pd.testing.assert_frame_equal(row.drop(columns="seed"), alone.drop(columns="seed"))


def test_two_seeds_that_differ_have_both_learned():
    """The test over two seeds had p = 0.08 of 70 and 77 % beside 50 %: nothing is significant."""
    found = learners({"finetuned": 0.9, "bag of words": 0.3}, seeds=2)
    found.predictions["finetuned"][0, ::3] = 0  # the majority's class
    resampling = Resampling(999, 1)
    over_seeds = compare([found], resampling)[1].set_index("reference").loc["majority"]
    table = learned([found], resampling, SEEN)
    assert over_seeds["p_value"] > 0.05
    assert table["learned"].tolist() == [True] * 3
    assert (table["p_value"] < 0.01).all()


def test_most_seeds_have_to_learn():
    """One of three is so good that the mean is significantly better."""
    found = learners({"finetuned": 0.95, "bag of words": 0.2})
    found.predictions["finetuned"][1:] = 0
    table = learned([found], Resampling(500, 1), SEEN)
    assert table["p_value"][0] < 0.01
    assert table["learned"].tolist() == [False, True, False, False]
    found.predictions["finetuned"][1] = found.predictions["finetuned"][0]
    assert learned([found], Resampling(500, 1), SEEN)["learned"].tolist() == [
        True,
        True,
        True,
        False,
    ]


def test_half_of_the_seeds_are_not_most():
    found = learners({"finetuned": 0.95, "bag of words": 0.2}, seeds=2)
    found.predictions["finetuned"][1] = 0
    table = learned([found], Resampling(500, 1), SEEN)
    assert table["p_value"][0] < 0.01
    assert table["learned"].tolist() == [False, True, False]


def test_the_p_value_of_models_at_hand_is_that_of_signs_flipped_one_by_one():
    found = learners({"finetuned": 0.31, "bag of words": 0.2}, examples=150)
    gaps = (found.predictions["finetuned"] == found.labels).mean(axis=0) - (found.labels == 0)
    rng, flips = np.random.default_rng(4), 4000
    flipped = (gaps * rng.choice([-1, 1], (flips, len(gaps)))).mean(axis=1)
    expected = np.mean(np.abs(flipped) >= abs(gaps.mean()) - 1e-9)
    assert 0.02 < expected < 0.9
    p_value = learned([found], Resampling(4000, 1), SEEN)["p_value"][0]
    assert p_value == pytest.approx(expected, abs=0.03)


def test_models_at_chance_seldom_pass_for_ones_that_learned():
    """At most 5 % of 100 models that guess as often right as the majority class, and 2 errors."""
    rng, passed = np.random.default_rng(0), 0
    for _ in range(100):
        labels = rng.integers(2, size=100)
        guesses = rng.integers(2, size=(1, 100))
        predictions = {"finetuned": guesses, "majority": np.zeros((1, 100), dtype=np.int64)}
        predictions["bag of words"] = predictions["majority"]
        outcome = Outcomes(TASKS["RTE"], labels, np.arange(len(labels)), predictions, [1])
        passed += learned([outcome], Resampling(200, 1), SEEN)["learned"].item()
    assert passed / 100 <= 0.05 + 2 * np.sqrt(0.05 * 0.95 / 100)
