"""The figure of the stripes' tokens, against the table that it is drawn from."""

import numpy as np
import pandas as pd
import pytest
from drawn import ALL, LABEL, axes_named, written
from matplotlib.backends.backend_agg import FigureCanvasAgg

from darksecrets.patterns.stripe_tokens import COLOURS, stripe_tokens
from darksecrets.patterns.tables import SPECIAL, STRIPE_KINDS, STRIPE_TOKENS, WITH_COLUMNS
from darksecrets.run.errors import InputError


def made(tasks: list[str], seeds: tuple[int, ...] = (1,)) -> pd.DataFrame:
    rng = np.random.default_rng(1)
    parts = []
    for task in tasks:
        models = [("random", 1), ("pretrained", None), *(("finetuned", seed) for seed in seeds)]
        for state, seed in models:
            for layer in (None, 1):
                for pattern in WITH_COLUMNS:
                    first, separator, punctuation, word = rng.dirichlet([2, 2, 1, 1])
                    values = (first, separator, first + separator, punctuation, word)
                    model = {"task": task, "state": state, "seed": seed, "layer": layer}
                    for kind, share in zip(STRIPE_KINDS, values, strict=True):
                        ends = {"ci_low": share * 0.9, "ci_high": share * 0.9 + 0.1}
                        row = {"pattern": pattern, "kind": kind, "maps": 1234, "examples": 20}
                        parts.append(model | row | {"share": share, "control": 0.3} | ends)
    table = pd.DataFrame(parts).assign(
        over_control=lambda t: t["share"] - 0.3, over_control_low=0.0, over_control_high=0.0
    )
    return STRIPE_TOKENS.check(table[list(STRIPE_TOKENS.names)], "made", "")


def test_bars_are_the_shares_of_the_whole_encoder():
    tasks, table = ["RTE", "SST-2"], made(["RTE", "SST-2"], (1, 2))
    figure = stripe_tokens(table, tasks, LABEL)
    rows = table[table["layer"].isna()]
    for pattern in WITH_COLUMNS:
        axes = axes_named(figure, pattern)
        bars = iter(axes.patches)
        lines = iter(axes.lines)
        for task in tasks:
            for state in ("random", "pretrained", "finetuned"):
                mine = rows[(rows["pattern"] == pattern) & (rows["task"] == task)]
                means = mine[mine["state"] == state].groupby("kind")[["share", "ci_low"]].mean()
                left = 0.0
                for kind in COLOURS:
                    bar = next(bars)
                    assert bar.get_x() == pytest.approx(left)
                    assert bar.get_width() == pytest.approx(means.loc[kind, "share"])
                    left += bar.get_width()
                ends, control = next(lines).get_xdata(), next(lines).get_xdata()
                assert ends[0] == pytest.approx(means.loc[SPECIAL, "ci_low"])
                assert control == pytest.approx([0.3, 0.3])
        assert not list(bars)


def test_a_model_without_such_maps_says_so():
    table = made(["RTE"])
    none = (table["state"] == "random") & (table["pattern"] == "vertical")
    table.loc[none, "maps"] = 0
    table.loc[none, ["share", "ci_low", "ci_high", "control"]] = np.nan
    axes = axes_named(stripe_tokens(table, ["RTE"], LABEL), "vertical")
    assert [text.get_text() for text in axes.texts].count("no maps") == 1
    assert len(axes.patches) == 2 * len(COLOURS)


def test_a_table_with_holes_is_refused():
    table = made(["RTE"])
    with pytest.raises(InputError, match="lacks rows of vertical, MRPC, random"):
        stripe_tokens(table, ["MRPC"], LABEL)
    with pytest.raises(InputError, match="missing: control"):
        stripe_tokens(table.drop(columns="control"), ["RTE"], LABEL)


@pytest.mark.parametrize("tasks", [ALL[:1], ALL], ids=len)
def test_nothing_is_cut_off_and_no_texts_overlap(tasks, recwarn):
    figure = stripe_tokens(made(tasks), tasks, LABEL)
    canvas = FigureCanvasAgg(figure)
    canvas.draw()
    width, height = canvas.get_width_height()
    shown = [(text, text.get_window_extent(canvas.get_renderer())) for text in written(figure)]
    for number, (text, box) in enumerate(shown):
        inside = (box.x0 >= -0.5, box.y0 >= -0.5, box.x1 <= width + 0.5, box.y1 <= height + 0.5)
        assert all(inside), text
        for other, its in shown[:number]:
            wide = min(box.x1, its.x1) - max(box.x0, its.x0)
            high = min(box.y1, its.y1) - max(box.y0, its.y0)
            assert not (wide > 0.5 and high > 0.5), f"{text} overlaps {other}"
    assert not recwarn.list
