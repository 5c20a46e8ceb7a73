"""Figures of disabled heads and layers against the tables they are drawn from."""

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, cells_of, draw_with, headline_of, marked, mesh_of
from glue import TASKS
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.figure import Figure

from darksecrets.core.run.errors import InputError
from darksecrets.paper.ablation.figures import figure8, figure9, task_agreement

MAIN = {task: TASKS[task].metrics[0] for task in ALL}


def effects(tasks: list[str], layers: int, heads: int, seeds: tuple[int, ...]) -> pd.DataFrame:
    """Random effects of heads, for all metrics, and of a state that is not drawn."""
    rng = np.random.default_rng(4)
    rows = []
    for task in tasks:
        for seed in seeds:
            for metric in TASKS[task].metrics:
                for layer, head in np.ndindex(layers, heads):
                    delta = round(rng.normal(-0.3, 0.5), 1)
                    p = rng.random() ** 3
                    rows.append(
                        {"task": task, "state": "finetuned", "seed": seed, "layer": layer + 1}
                        | {"head": head + 1, "metric": metric, "baseline": 80.0 + seed}
                        | {"score": 80.0 + seed + delta, "delta": delta, "p_value": p}
                        | {"ci_low": delta - 0.4, "ci_high": delta + 0.5, "q_value": min(1, 2 * p)}
                    )
    table = pd.DataFrame(rows)
    other = table.assign(state="finetuned-from-normal", score=0.0, delta=-9.0, q_value=0.0)
    return pd.concat([table, other]).sample(frac=1, random_state=5)


def of_layers(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["head"] == 1].drop(columns="head")


def drawn_rows(table: pd.DataFrame, task: str) -> pd.DataFrame:
    """The rows of a task that are drawn: of fine-tuned models, on its first metric."""
    chosen = (table["task"] == task) & (table["state"] == "finetuned")
    return table[chosen & (table["metric"] == MAIN[task])]


def panel_of(figure: Figure, task: str) -> Axes:
    """The panel of a task's first metric; Figure 8 writes the intact model's score behind it."""
    title = f"{task} ({ {'f1': 'F1', 'accuracy': 'Acc', 'pearson': 'Pearson'}[MAIN[task]] })"
    return next(axes for axes in figure.axes if str(axes.get_label()).startswith(title))


def test_every_cell_is_the_mean_over_seeds_of_a_head_around_the_intact_model() -> None:
    table = effects(ALL, 3, 4, (1, 2, 5))
    figure = draw_with(figure8.draw, ALL, head_ablation=table)
    for task in ALL:
        axes = panel_of(figure, task)
        rows = drawn_rows(table, task)
        means = rows.groupby(["layer", "head"])["score"].mean()
        np.testing.assert_allclose(cells_of(figure, axes.get_label()).ravel(), means, atol=1e-9)
        low, high = mesh_of(axes).get_clim()
        assert (low + high) / 2 == pytest.approx(rows["baseline"].mean()), "white: intact"


def test_every_dot_is_a_score_without_a_layer_and_numbers_are_means_over_seeds() -> None:
    table = of_layers(effects(ALL, 3, 4, (1, 2, 5)))
    figure = draw_with(figure9.draw, ALL, layer_ablation=table)
    for task in ALL:
        axes, rows = panel_of(figure, task), drawn_rows(table, task)
        found = sorted((x, round(y)) for line in axes.lines[1:] for x, y in line.get_xydata())
        expected = sorted((row["score"], row["layer"] - 1) for row in rows.to_dict("records"))
        np.testing.assert_allclose(found, expected)
        written = {round(text.get_position()[1]): text.get_text() for text in axes.texts}
        means = rows.groupby("layer")["score"].mean()
        assert written == {layer - 1: f"{mean:.1f}" for layer, mean in means.items()}


def test_marked_are_scores_that_differ_significantly_one_way_for_most_seeds() -> None:
    table = effects(["RTE"], 6, 9, (1, 2, 3)).reset_index(drop=True)
    one_way = (table["layer"] == 2) & (table["head"] == 1)
    table.loc[one_way, ["delta", "q_value"]] = [-2.0, 0.001]
    both_ways = (table["layer"] == 3) & (table["head"] == 1)
    table.loc[both_ways, "q_value"] = 0.001
    table.loc[both_ways, "delta"] = table["seed"].map({1: 2.0, 2: -2.0, 3: 0.0})
    figure = draw_with(figure8.draw, ["RTE"], head_ablation=table)
    axes = panel_of(figure, "RTE")
    expected: dict[int, set[tuple[int, int]]] = {1: set(), -1: set()}
    rows = drawn_rows(table, "RTE")
    for place, of_head in rows.groupby(["layer", "head"]):
        for sign, found in expected.items():
            if sum((of_head["q_value"] < 0.05) & (of_head["delta"] * sign > 0)) >= 2:
                found.add(place)
    assert (2, 1) in expected[-1]
    assert (3, 1) not in expected[1] | expected[-1]
    for sign, places in expected.items():
        assert marked(axes, f"significant {sign}") == places
    said = " ".join(headline_of(figure).split())
    higher = len(expected[1]) or "none"
    assert f"falls significantly for {len(expected[-1])} of 54 heads" in said
    assert said.endswith(f"rises for {higher}")


def test_the_headline_of_layers_counts_those_needed_and_names_the_most_needed() -> None:
    table = of_layers(effects(["RTE", "QNLI"], 6, 1, (1, 2, 3))).assign(q_value=1.0)
    table.loc[table["layer"] == 4, "q_value"] = 0.001
    table["delta"] = np.where(table["layer"] == 4, -9.0, -1.0)
    table.loc[(table["task"] == "QNLI") & (table["layer"] == 4), "delta"] = -12.0
    said = " ".join(
        headline_of(draw_with(figure9.draw, ["RTE", "QNLI"], layer_ablation=table)).split()
    )
    assert said.startswith("2 of 12 layers are needed significantly")
    assert said.endswith("the most, layer 4 on QNLI, costs 12 points")


def test_scores_that_are_all_equal_are_drawn() -> None:
    table = effects(["RTE"], 2, 2, (1,)).assign(score=81.0, delta=0.0)
    FigureCanvasAgg(draw_with(figure8.draw, ["RTE"], head_ablation=table)).draw()
    FigureCanvasAgg(draw_with(figure9.draw, ["RTE"], layer_ablation=of_layers(table))).draw()


@pytest.mark.parametrize("diagonal", [True, False])
def test_every_pair_of_tasks_has_a_cell_with_its_correlation(diagonal: bool) -> None:
    rng = np.random.default_rng(3)
    rows = [
        {"state": state, "task": one, "other_task": other, "spearman": rng.uniform(-0.3, 0.9)}
        | {"q_value": rng.choice([0.01, 0.6])}
        for state in ("finetuned", "pretrained")
        for number, one in enumerate(ALL)
        for other in ALL[number if diagonal else number + 1 :]
    ]
    table = pd.DataFrame(rows).sample(frac=1, random_state=1)
    figure = draw_with(task_agreement.draw, ALL, task_agreement=table)
    values = cells_of(figure, "tasks")
    for row in table[table["state"] == "finetuned"].to_dict("records"):
        found = values[ALL.index(row["other_task"]), ALL.index(row["task"])]
        assert found == pytest.approx(row["spearman"])
    assert np.isnan(values[np.triu_indices(len(ALL), 0 if not diagonal else 1)]).all()
    with pytest.raises(InputError, match="no rows with state finetuned"):
        draw_with(task_agreement.draw, ["RTE"], task_agreement=table.iloc[:0])
