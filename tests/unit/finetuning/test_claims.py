"""Scores beside those that the paper prints."""

import pandas as pd
import pytest

from darksecrets.finetuning.claims import minus_published


def test_scores_are_compared_with_the_cell_of_their_task_state_and_metric():
    rows = [
        ("MRPC", "finetuned", "f1", 88.9),  # 87.9 in the paper
        ("MRPC", "finetuned", "accuracy", 80.3),  # 82.3
        ("MNLI", "finetuned-from-normal", "accuracy", 61.0),  # printed as MNLI-m
        ("STS-B", "pretrained", "pearson", 30.1),  # 33.1, printed as Acc
        ("STS-B", "pretrained", "spearman", 30.1),
        ("MRPC", "frozen", "f1", 88.9),
    ]
    means = pd.DataFrame(rows, columns=["task", "model", "metric", "score"])
    means = means.assign(ci_low=means["score"] - 2, ci_high=means["score"] + 3, seeds=3)
    found = minus_published(means)
    assert found["value"].to_list() == pytest.approx([1.0, -2.0, 0.0, -3.0])
    assert (found["value"] - found["low"]).to_list() == pytest.approx([2] * 4)
    assert (found["high"] - found["value"]).to_list() == pytest.approx([3] * 4)
