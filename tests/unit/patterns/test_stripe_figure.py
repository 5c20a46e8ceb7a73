"""The figure of the stripes' tokens, against the table that it is drawn from."""

from itertools import product
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from drawn import axes_named, bars_of, draw_from_file, draw_with
from matplotlib.colors import to_hex

from darksecrets.patterns.stripe_tokens import COLOURS, draw
from darksecrets.patterns.tables import STRIPE_KINDS, STRIPE_TOKENS, WITH_COLUMNS
from darksecrets.run.errors import InputError

STATES = ("random", "pretrained", "finetuned")


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


def test_bars_are_the_shares_of_the_whole_encoder() -> None:
    tasks, table = ["RTE", "SST-2"], made(["RTE", "SST-2"], (1, 2))
    figure = draw_with(draw, tasks, table=table)
    rows = table[table["layer"].isna()]
    for pattern in WITH_COLUMNS:
        axes = axes_named(figure, pattern)
        bars = bars_of(axes)
        for place, (task, state) in zip((0, 1, 2, 4, 5, 6), product(tasks, STATES), strict=True):
            mine = rows[(rows["pattern"] == pattern) & (rows["task"] == task)]
            means = mine[mine["state"] == state].groupby("kind")[["share"]].mean()
            end = 0.0
            for kind in reversed(COLOURS):
                left, width = bars.pop((place, to_hex(COLOURS[kind])))
                assert left == pytest.approx(end)
                assert width == pytest.approx(means.loc[kind, "share"])
                end += width
        assert not bars


def test_a_table_with_holes_is_refused(tmp_path: Path) -> None:
    table = made(["RTE"])
    with pytest.raises(InputError, match="no rows with task MRPC, state random"):
        draw_with(draw, ["RTE", "MRPC"], table=table)
    with pytest.raises(InputError, match=r"found the columns .*expected .*control"):
        draw_from_file(draw, "RTE", table.drop(columns="control"), tmp_path)
