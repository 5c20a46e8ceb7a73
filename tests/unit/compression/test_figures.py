"""Both figures against the tables that they are drawn from, and the published numbers."""

import numpy as np
import pandas as pd
import pytest
from drawn import axes_named, draw_with

from darksecrets.compression import compression, compression_times, points, tables
from darksecrets.run.errors import InputError
from darksecrets.run.files import RESOURCES

PUBLISHED = tables.PUBLISHED.read(RESOURCES / "paper" / "compression_rogers2020.csv")


def made() -> pd.DataFrame:
    """Every method, by seeds and in two amounts: what is smaller retains less."""
    rows = [
        {"task": "RTE", "state": "finetuned", "seed": seed, "metric": "accuracy"}
        | {"method": method, "amount": amount}
        | {"packed_bytes": 1000 - 100 * number - 50 * amount * (number > 0)}
        | {"retention": kept, "retention_low": kept - 3, "retention_high": kept + 5}
        for seed in (1, 2)
        for number, method in enumerate(tables.METHODS)
        for amount in ((0.2, 0.4) if method == "heads removed" else (0,))
        for kept in [100 - 4 * number - 10 * amount + seed]
    ]
    return pd.DataFrame(rows)


def times(table: pd.DataFrame) -> pd.DataFrame:
    rows = table[table["method"] != tables.RANDOM][["task", "seed", "method", "amount"]]
    found = rows.merge(pd.DataFrame({"inputs": tables.INPUTS}), how="cross")
    speed = 1 + rows["amount"].iloc[0] + 0.5 * (found["inputs"] == tables.BATCH)
    return found.assign(speedup=speed, ci_low=speed - 0.25, ci_high=speed + 1)


def lines(axes, label: str) -> list:
    return [each.lines[0] for each in axes.containers if each.get_label() == label]


def test_points_are_means_over_seeds():
    figure = draw_with(compression.draw, ["RTE"], table=made(), published=PUBLISHED)
    axes = axes_named(figure, "RTE")
    (heads,) = lines(axes, "heads removed")
    assert heads.get_xdata() == pytest.approx([89, 88])
    assert heads.get_ydata() == pytest.approx([95.5, 93.5])
    (bars,) = (each for each in axes.containers if each.get_label() == "heads removed")
    first = bars.lines[2][0].get_segments()[0]
    assert first[:, 1].tolist() == pytest.approx([92.5, 100.5])
    (grey,) = (line for line in axes.lines if line.get_label() == "published")
    both = PUBLISHED.dropna(subset=["smaller", "retention"])
    assert grey.get_xdata() == pytest.approx(100 / both["smaller"].to_numpy())
    assert axes.get_xlim()[0] == 0


def test_times_are_shares_of_the_whole_model_with_one_example_open():
    table = made()
    given = {"table": table, "times": times(table), "published": PUBLISHED}
    figure = draw_with(compression_times.draw, ["RTE"], **given)
    single, batch = lines(axes_named(figure, "RTE"), "8 bits")
    assert single.get_xdata() == pytest.approx([100])
    assert batch.get_xdata() == pytest.approx([100 / 1.5])
    assert single.get_markerfacecolor() == "white" != batch.get_markerfacecolor()


def test_the_front_has_what_no_cheaper_model_beats():
    rng = np.random.default_rng(1)
    costs, kept = rng.integers(0, 9, 40).astype(float), rng.integers(0, 9, 40).astype(float)
    found = points.front(costs, kept)
    assert (np.diff(costs[found]) > 0).all()
    assert (np.diff(kept[found]) > 0).all()
    for one in range(40):
        beaten = any(
            costs[o] <= costs[one]
            and kept[o] >= kept[one]
            and (costs[o], kept[o]) != (costs[one], kept[one])
            for o in range(40)
        )
        listed = (costs[one], kept[one]) in set(zip(costs[found], kept[found], strict=True))
        assert listed == (not beaten)


def test_a_task_that_the_table_lacks_is_named():
    with pytest.raises(InputError, match="no rows with task RTE, state finetuned, metric f1"):
        points.rows_of(made(), "RTE", "f1")


def test_published_rows_are_those_of_the_survey():
    rows = PUBLISHED.set_index("model")
    assert len(rows) == 26
    assert rows.loc["DistilBERT", ["smaller", "retention", "speedup"]].tolist() == [1.5, 90, 1.6]
    assert rows.loc["BERT-QAT", ["smaller", "retention"]].tolist() == [4, 99]
    assert (rows["kind"].value_counts()["distillation"], rows["speedup"].notna().sum()) == (13, 15)
    assert rows["source"].notna().all()
    ranges = rows[rows["smaller"].isna()]
    assert ranges["note"].notna().all()


TRANSCRIBED = """
    BERT-small 26 91 -; DistilBERT 66 90 62; BERT6-PKD 62 98 52; BERT3-PKD 41 92 27;
    BERT-48 1 87 1; BERT-192 17 93 4; TinyBERT 13 96 10; MobileBERT 23 100 25; PD 62 98 40;
    WaLDORf 22 93 11; MiniLM 60 99 50; MiniBERT 16 98 3; BiLSTM-soft 0.9 91 0.2; Q-BERT-MP 7 98 -;
    BERT-QAT 25 99 -; GOBO 10 99 -; RPP 58 99 -; Soft_MvP 3 94 -; ALBERT-base 11 97 -;
    BERT-of-Theseus 62 98 52; PoWER-BERT 100 99 -
"""
"""Percent of BERT's size, score and time, as someone else has read and rounded them; no ranges."""


def test_published_rows_are_those_that_others_read():
    rows = PUBLISHED.set_index("model")
    read = [each.split() for each in TRANSCRIBED.split(";")]
    assert len(read) == 21
    for name, size, retention, seconds in read:
        own = rows.loc[name.replace("_", " ")]
        assert own["retention"] == float(retention), name
        assert 100 / own["smaller"] == pytest.approx(float(size), abs=1, rel=0.01), name
        if seconds == "-":
            assert np.isnan(own["speedup"]), name
        else:
            assert 100 / own["speedup"] == pytest.approx(float(seconds), abs=1, rel=0.01), name
