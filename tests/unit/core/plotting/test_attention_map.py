import numpy as np
import pytest

from darksecrets.core.plotting.attention_map import draw_map, saturation, written
from darksecrets.core.plotting.style import new_figure


def test_rows_attend_and_columns_are_attended_with_the_first_token_at_the_top_left():
    weights = np.array([[0.0, 1.0, 0.0], [0.25, 0.5, 0.25], [0.0, 0.75, 0.25]], dtype=np.float16)
    axes = new_figure(2, 2).add_subplot()
    image = draw_map(axes, weights, ["a", "b", "c"], darkest=1.0)
    assert np.array_equal(np.asarray(image.get_array()), weights.astype(np.float32))
    assert [text.get_text() for text in axes.get_yticklabels()] == ["a", "b", "c"]
    assert [text.get_text() for text in axes.get_xticklabels()] == ["a", "b", "c"]
    assert axes.get_ylim()[0] > axes.get_ylim()[1]
    dark, pale = image.to_rgba(1.0), image.to_rgba(0.0)
    assert sum(dark[:3]) < sum(pale[:3])


def test_a_full_column_is_drawn_darkest_and_one_outlier_does_not_hide_it():
    column = np.full((4, 4), 0.1)
    column[:, 2] = 0.7
    assert saturation(column) == pytest.approx(0.7)
    column[0] = [0, 0, 1.0, 0]
    assert saturation(column) == pytest.approx(0.7)


def test_all_tokens_are_written_or_those_that_get_most_attention_as_far_as_there_is_room():
    weights = np.tile([0.1, 0.3, 0.2, 0.05, 0.25, 0.1], (6, 1))
    assert written(weights, 1) == [0, 1, 2, 3, 4, 5]
    assert written(weights, 2) == [1, 4]
    assert written(weights[:, ::-1], 2) == [1, 4]


def test_marks_of_spaces_are_not_written_but_a_piece_of_nothing_else_is():
    axes = new_figure(4, 4).add_subplot()
    draw_map(axes, np.eye(4), ["<s>", "▁the", "Ġcat", "▁"], 1.0)
    assert [label.get_text() for label in axes.get_yticklabels()] == ["<s>", "the", "cat", "▁"]
