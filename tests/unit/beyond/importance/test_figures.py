"""Figures of sections 4.3 to 5, further: what they draw are the numbers of their tables."""

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from made_up_figures import METRICS, drawing, sources
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[4]
MAIN = {task: metrics[0] for task, metrics in METRICS.items()}
CASES = {
    "weights_and_norms": (
        *("norm_levels", ["weight", "norm"]),
        "layer.notna() and kind != 'special' and state != 'finetuned-from-normal'",
        ["state", "kind", "layer"],
    ),
    "stripes_by_measure": (
        *("attention_levels_by_measure", ["weight"]),
        "layer.notna() and measure == 'greatest' and state == 'finetuned' "
        "and feature in ('[CLS]', '[SEP]')",
        ["attention", "feature", "layer"],
    ),
    "learned_gates": (
        *("learned_gates", ["score"], "state == 'finetuned' and main"),
        ["task", "weights", "chosen_by", "penalty"],
    ),
    "subnetwork_scores": (
        *("subnetwork_scores", ["score"], "state == 'finetuned' and main"),
        ["task", "subnetwork", "trained"],
    ),
    "surviving_parts": (
        *("subnetworks", ["kept"], "subnetwork == 'good' and part == 'head'"),
        ["task", "layer"],
    ),
    "loss_surfaces": (
        *("loss_surfaces", ["loss"], "plane == 'line' and seed == 1 and row == 1"),
        ["task", "split", "column"],
    ),
    "flatness": (
        *("flatness", ["rise"], "seed > 0"),
        ["task", "state", "seed"],
    ),
    "importance_agreement": (
        *("importance_agreement", ["spearman"], "part == 'head'"),
        ["task", "mode", "definition", "reference"],
    ),
    "compression": (
        *("compression", ["retention"], "state == 'finetuned' and main"),
        ["task", "method", "amount"],
    ),
    "seed_variance": ("expected_maximum", ["expected", "held_out"], "main", ["task"]),
}
"""By figure: its table, columns, the rows that it shows, and what it averages over."""


def drawn(figure: Figure) -> np.ndarray:
    """All numbers of lines and of matrices."""
    lines = [np.ravel(line.get_xydata()) for axes in figure.axes for line in axes.lines]
    every = [collection.get_array() for axes in figure.axes for collection in axes.collections]
    return np.concatenate([*lines, *(np.ravel(each) for each in every if each is not None)])


@pytest.mark.parametrize("name", CASES)
def test_the_numbers_of_the_table_are_drawn(name, tmp_path):
    table, columns, shown, by = CASES[name]
    found = drawn(drawing(ROOT, name)(sources(ROOT, name, tmp_path)))
    rows = pd.read_csv(tmp_path / f"{table}.csv")
    if "metric" in rows:
        rows["main"] = rows["metric"] == rows["task"].map(MAIN)
    means = rows.query(shown).groupby(by)[columns].mean().to_numpy(float).ravel()
    missing = [mean for mean in means if not np.isclose(found, mean, rtol=1e-5, atol=1e-7).any()]
    assert len(means) > 2
    assert not missing
