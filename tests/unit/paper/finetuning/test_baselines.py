"""Baselines solve tasks that words alone can solve, but not the shipped tasks."""

from typing import Any

import numpy as np
import pytest
from glue import TASKS, in_folder
from sklearn.metrics import accuracy_score, f1_score

from darksecrets.core.data import metrics
from darksecrets.core.data.sources import read_files
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.finetuning import tables
from darksecrets.paper.finetuning.baselines import bag_of_words, evaluate_baselines, majority


def _scores(task: Task, predictions: Any, labels: Any) -> dict[str, float]:
    return metrics.score(task, predictions, np.asarray(labels))


# Main metric and the most that a bag of words may reach; by chance 0.5, for MNLI 0.33, for MRPC
# 0.67, for QQP 0.63, for the correlation 0. Three standard errors of 500 examples are 0.07.
_BOUNDS = {
    "MRPC": ("accuracy", 0.70),
    "STS-B": ("pearson", 0.30),
    "SST-2": ("accuracy", 0.62),
    "QQP": ("accuracy", 0.66),
    "RTE": ("accuracy", 0.60),
    "QNLI": ("accuracy", 0.60),
    "MNLI": ("accuracy", 0.44),
}


@pytest.mark.slow
@pytest.mark.parametrize("name", list(TASKS))
def test_words_alone_do_not_solve_the_tasks_that_ship(name):
    data = read_files(in_folder(name, RESOURCES / "corpus"))
    predictions = bag_of_words(data["train"], data["validation"], TASKS[name])
    scores = _scores(TASKS[name], predictions, data["validation"]["label"])
    metric, most = _BOUNDS[name]
    assert set(scores) == set(TASKS[name].metrics)
    assert scores[metric] < most


def test_words_alone_solve_what_words_tell():
    good = [f"a good {word}" for word in ("film", "book", "play", "song")] * 10
    bad = [f"a bad {word}" for word in ("film", "book", "play", "song")] * 10
    table = {"sentence1": good + bad, "label": [1] * 40 + [0] * 40}
    assert bag_of_words(table, table, TASKS["SST-2"]).tolist() == table["label"]


def test_each_sentence_of_a_pair_has_its_own_words():
    # The label depends on which sentence has "good": the words of both together do not tell.
    first = ["good"] * 20 + ["bad"] * 20
    second = ["bad"] * 20 + ["good"] * 20
    table = {"sentence1": first, "sentence2": second, "label": [1] * 20 + [0] * 20}
    assert bag_of_words(table, table, TASKS["MRPC"]).tolist() == table["label"]


def test_similarity_is_predicted_by_regression():
    words = ["same", "near", "far", "none"]
    table = {
        "sentence1": ["a sentence"] * 40,
        "sentence2": words * 10,
        "label": [5.0, 3.0, 1.0, 0.0] * 10,
    }
    predictions = bag_of_words(table, table, TASKS["STS-B"])
    assert _scores(TASKS["STS-B"], predictions, table["label"])["pearson"] > 0.95


def test_the_commonest_label():
    train = {"sentence1": [""] * 5, "sentence2": [""] * 5, "label": [1, 1, 0, 1, 0]}
    truth = [0, 1, 1, 0, 1, 1]
    scores = _scores(TASKS["MRPC"], majority(train, {"label": truth}, TASKS["MRPC"]), truth)
    assert scores["accuracy"] == pytest.approx(accuracy_score(truth, [1] * 6))
    assert scores["f1"] == pytest.approx(f1_score(truth, [1] * 6))
    mean = majority({"label": [1.0, 4.0]}, {"label": [0.0, 5.0, 2.0]}, TASKS["STS-B"])
    assert mean.tolist() == [2.5, 2.5, 2.5]
    assert _scores(TASKS["STS-B"], mean, [0.0, 5.0, 2.0]) == {"pearson": 0.0, "spearman": 0.0}


def test_the_tables_hold_both_baselines(tmp_path):
    train = {"sentence1": [*["good"] * 30, *["bad"] * 29], "label": [*[1] * 30, *[0] * 29]}
    validation = {"idx": [7, 4], "sentence1": ["bad", "good"], "label": [0, 0]}
    scores, predictions = evaluate_baselines(train, validation, TASKS["SST-2"])
    tables.BASELINES.write(scores, tmp_path / "scores.csv")
    tables.BASELINE_PREDICTIONS.write(predictions, tmp_path / "predictions.csv")
    assert predictions["idx"].tolist() == [7, 4, 7, 4]
    assert predictions["prediction"].tolist() == [1, 1, 0, 1]
    accuracy = scores[scores["metric"] == "accuracy"].set_index("baseline")["score"]
    assert accuracy.to_dict() == {"majority": 0, "bag of words": 50}


@pytest.mark.parametrize("labels", [[2, 0, 2, 0, 1], [0, 2, 0, 2, 1]])
def test_equally_frequent_labels_are_decided_by_the_tasks_list_not_by_rows(labels):
    assert majority({"label": labels}, {"label": [1, 1]}, TASKS["MNLI"]).tolist() == [0, 0]
