"""Means over tasks, and the bands around them."""

import pandas as pd
import pytest

from darksecrets.core.plotting.lines import average_over_tasks, means_in_words

ROWS = pd.DataFrame(
    [
        ("A", 1, 1, 0.2, 0.1, 0.3),
        ("A", 2, 1, 0.4, 0.3, 0.5),
        ("B", 1, 1, 0.9, 0.7, 1.0),
        ("A", 1, 2, 0.5, 0.4, 0.6),
    ],
    columns=["task", "seed", "layer", "share", "low", "high"],
)
ENDS = ("low", "high")


def test_tasks_count_the_same_whatever_their_number_of_seeds():
    found = average_over_tasks(ROWS, "share", ["layer"], ENDS)
    assert found["layer"].tolist() == [1, 2]
    assert found["mean"].tolist() == pytest.approx([(0.3 + 0.9) / 2, 0.5])
    assert found["least"].tolist() == pytest.approx([0.3, 0.5])
    assert found["greatest"].tolist() == pytest.approx([0.9, 0.5])


def test_the_band_of_a_single_task_is_its_interval():
    one = ROWS[ROWS["task"] == "A"]
    found = average_over_tasks(one, "share", ["layer"], ENDS)
    assert found["mean"].tolist() == pytest.approx([0.3, 0.5])
    assert found["least"].tolist() == pytest.approx([0.2, 0.4])
    assert found["greatest"].tolist() == pytest.approx([0.4, 0.6])


def test_words_say_what_bands_are():
    of_tasks = "Bands: smallest to largest value of a task."
    assert means_in_words(["A", "B"]) == f"Mean over tasks. {of_tasks}"
    assert means_in_words(["A", "B"], "heads") == f"Mean over heads and tasks. {of_tasks}"
    assert means_in_words(["A"], "heads") == "Mean over heads."
    assert means_in_words(["A"], intervals=True) == "Bands: 95% intervals."
