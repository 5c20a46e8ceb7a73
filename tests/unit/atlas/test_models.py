"""Numbers of whole models in the atlas: those of the tables, and nothing where a run lacks them."""

from typing import Any

import numpy as np
import pandas as pd
import pytest
from atlas_run import tables_of_models

from darksecrets.atlas import measures, models

METRICS = {"two": ["accuracy"], "one": ["f1", "accuracy"]}
FIGURES = {"figures/flatness.svg": ["flatness", "flatness_means"], "figures/other.svg": ["table1"]}
ALL = (
    (
        "Seeds of fine-tuning (4.3)",
        ("seed_grid", "seed_variance", "expected_maximum", "early_stopping"),
    ),
    ("Flatness (4.3)", ("flatness", "flatness_means")),
    ("Loss surface (4.3)", ("loss_surfaces", "surface_points")),
)


def shown(found: dict[str, pd.DataFrame]) -> list[dict[str, Any]]:
    return models.content(measures.MODELS, found, METRICS, FIGURES)


def small(found: dict[str, pd.DataFrame], name: str, seed: str = "") -> dict[str, Any]:
    """The one small table with a name, of a seed."""
    (one,) = [each for each in shown(found) if (each["name"], each["seed"]) == (name, seed)]
    return one


def values(one: dict[str, Any]) -> np.ndarray:
    return np.array([[cell[0] for cell in row] for row in one["cells"]], dtype=float)


def same(found: np.ndarray, frame: pd.DataFrame) -> bool:
    return bool(np.allclose(found, frame.to_numpy(dtype=float), rtol=1e-4, equal_nan=True))


def test_flatness_is_that_of_the_chosen_seed_or_the_mean_with_the_difference():
    made = tables_of_models(seeds=(3, 7))
    name = "How sharply the loss rises"
    wide = {"index": "measure", "columns": "state"}
    order = ["sharpness", "rise", "trace", "top_eigenvalue"]
    for seed in (3, 7):
        rows = made["flatness"].query(f"seed == {seed}").pivot(**wide, values="value")
        one = small(made, name, str(seed))
        assert [column["name"] for column in one["columns"]] == ["fine-tuned", "random init."]
        assert [row[0] for row in one["rows"]] == [
            *("sharpness (%)", "mean rise", "trace of the Hessian", "top eigenvalue")
        ]
        assert same(values(one), rows.loc[order, ["finetuned", "finetuned-from-normal"]])
    states = ["finetuned", "finetuned-from-normal", "difference"]
    mean = small(made, name, "mean")
    for number, column in enumerate(("value", "ci_low", "ci_high")):
        rows = made["flatness_means"].pivot(**wide, values=column).loc[order, states]
        cells = np.array(mean["cells"], dtype=float)[..., number]
        assert same(cells, rows), column
    assert mean["about"] == ["training examples"], "what all rows are about is said once"
    assert mean["figures"] == ["figures/flatness.svg"]


def test_whether_models_have_learned_is_shown_of_every_seed():
    made = tables_of_models()
    made["flatness"].loc[made["flatness"]["seed"] == 2, "loss"] = 0.6
    one = small(made, "Whether these models are at an optimum")
    assert [row[:2] for row in one["rows"]] == [
        [state, seed] for state in ("fine-tuned", "random init.") for seed in ("1", "2")
    ]
    assert values(one).tolist() == [[0.1, 0.69, 0.1], [0.6, 0.69, 0.1]] * 2


@pytest.mark.parametrize("split", ["validation", "train"])
def test_a_loss_surface_is_the_plane_of_the_models(split):
    made = tables_of_models()
    name = {"validation": "Loss of validation examples", "train": "Loss of training examples"}
    rows = made["loss_surfaces"].query(f"split == '{split}' and plane == 'models'")
    one = small(made, name[split], "1")
    for number, column in enumerate(("loss", "ci_low", "ci_high")):
        cells = np.array(one["cells"], dtype=float)[..., number]
        assert same(cells, rows.pivot(index="row", columns="column", values=column)), column
    places = {
        mark["name"][2:]: (
            float(one["columns"][mark["column"]]["name"]),
            float(one["rows"][mark["row"]][0]),
        )
        for mark in one["marks"]
    }
    assert places == {"fine-tuned": (0, 0), "pre-trained": (1, 0), "random init.": (0, 1)}


def test_models_of_the_plane_have_their_losses():
    made = tables_of_models()
    points = made["surface_points"]
    points["loss"] = np.linspace(0.1, 0.9, len(points))
    one = small(made, "Loss of models in this plane", "1")
    assert [row[0] for row in one["rows"]] == ["pre-trained", "fine-tuned", "random init."] + [
        "path"
    ] * 3
    assert [row[1] for row in one["rows"]] == ["", "", "", "0", "5", "9"]
    for column, split in enumerate(("validation", "train")):
        assert same(values(one)[:, column], points.query(f"split == '{split}'")["loss"])


def test_seeds_are_of_the_main_metric_and_the_last_epoch():
    made = tables_of_models()
    for name, table, columns in (
        ("Variance of the final score", "seed_variance", ["sd", "variance", "share", "q_value"]),
        ("The best of n fine-tunings", "expected_maximum", ["expected", "held_out"]),
        (
            "Stopping bad fine-tunings early",
            "early_stopping",
            ["spearman", "q_value", "stopped", "saved", "lost", "lost_at_random"],
        ),
    ):
        rows = made[table].query("metric == 'f1'")
        one = small(made, name)
        assert same(values(one), rows[columns]), name
    one = small(made, "Variance of the final score")
    rows = made["seed_variance"].query("metric == 'f1'")
    ends = np.array([row[1][1:] for row in one["cells"]])
    assert same(ends, rows[["ci_low", "ci_high"]])
    final = made["seed_grid"].query("metric == 'f1' and epoch == 4")
    one = small(made, "Final score of every fine-tuning")
    assert same(values(one), final.pivot(index="init_seed", columns="order_seed", values="score"))


def test_a_run_without_a_part_has_no_card_of_it():
    made = tables_of_models()
    everything = [group for group, _ in ALL]
    assert list(dict.fromkeys(each["group"] for each in shown(made))) == everything
    assert {each["task"] for each in shown(made)} == {"one"}, "the other task has no such rows"
    for group, own in ALL:
        less = {name: frame for name, frame in made.items() if name not in own}
        assert {each["group"] for each in shown(less)} == {*everything} - {group}
    assert shown({}) == []
    one_epoch = made | {"early_stopping": made["early_stopping"].iloc[:0]}
    names = {each["name"] for each in shown(one_epoch)}
    assert "Stopping bad fine-tunings early" not in names
