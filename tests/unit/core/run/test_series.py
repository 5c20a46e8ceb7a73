"""The atlas's numbers are those of the tables."""

import base64
import zlib

import numpy as np
import pandas as pd
import pytest
from atlas_run import METRICS, claims, findings, tables

from darksecrets.beyond.importance.declared import HEAD_IMPORTANCE
from darksecrets.core.run.series import CHOSEN, MEAN, NO_TASK, Model, average, find_series, shape_of
from darksecrets.core.run.shown import Shown
from darksecrets.pages import contracts
from darksecrets.pages.atlas import building, packing
from darksecrets.pages.atlas.measures import SHOWN
from darksecrets.pages.claims import registry
from darksecrets.pages.claims.tables import CLAIMS

SHAPE = (3, 4)


@pytest.fixture(scope="module")
def made():
    return tables(shape=SHAPE)


def series_of(made, name, value="", metrics=METRICS):
    (shown,) = (s for s in SHOWN if s.table.name == name and s.value == (value or s.value))
    return find_series(shown, made, metrics, SHAPE)


def rows_of(rows, series, task, model):
    """Rows of the table that a series shows, found one by one."""
    kind = series.kinds.get(task, series.kind)
    fixed = series.shown.fixed
    for row in rows:
        seed = row.get("seed", None)
        seed = None if seed is None or np.isnan(float(seed)) else int(seed)
        same = row.get("task", NO_TASK) == task and row.get("state", "finetuned") == model.state
        of_row = row.get(series.shown.kind or "", "")
        same &= (of_row if isinstance(of_row, str) else f"{of_row:g}") in (kind, "")
        same &= all(row[name] == value for name, value in fixed.items())
        of_head = not pd.isna([row.get("layer", 1), row["head"]]).any()
        if same and of_head and seed == model.seed:
            yield row


def chosen_of(rows, columns, by):
    """For every head the row whose number is most beyond the mean head's, by plain loops."""
    rows, found = list(rows), {}
    for row in rows:
        alike = [other[by] for other in rows if all(other[c] == row[c] for c in columns)]
        beyond = row[by] - sum(alike) / len(alike)
        place = row["layer"], row["head"]
        if place not in found or beyond > found[place][0]:
            found[place] = beyond, row
    return [row for _, row in found.values()]


def test_tables_that_sum_a_measure_up_are_declared():
    assert {name for shown in SHOWN for name in shown.summaries} <= set(contracts.TABLES)


@pytest.mark.parametrize("shown", SHOWN, ids=lambda s: f"{s.table.name}.{s.value}")
def test_every_number_is_that_of_the_table(shown, made):
    frame, compared = made[shown.table.name], 0
    records = frame.to_dict("records")
    for series in find_series(shown, made, METRICS, SHAPE):
        for task in series.tasks:
            for model in series.models:
                if model.seed == MEAN:
                    continue
                rows = rows_of(records, series, task, model)
                if shown.chosen:
                    rows = chosen_of(rows, shown.chosen, shown.chosen_by)
                for row in rows:
                    place = int(row.get("layer", SHAPE[0]) - 1), int(row["head"] - 1)
                    complete = all(row[name] in values for name, values in shown.tested.items())
                    row |= {} if complete else {shown.test: np.nan}
                    if shown.chosen:
                        words = [shown.words.get(row[name], row[name]) for name in shown.chosen]
                        row |= {CHOSEN: series.choices.index(", ".join(words))}
                    for column in series.columns:
                        found = series.of(task, model, column)[place]
                        assert found == row[column] or np.isnan([found, row[column]]).all()
                        compared += 1
    heads = SHAPE[1] * (SHAPE[0] if "layer" in frame else 1)
    parts = [shown.kind] if shown.kind and shown.kind not in shown.where else []
    models = frame[[name for name in ("task", "state", "seed", *parts) if name in frame]]
    assert compared >= heads * len(models.drop_duplicates())


def test_what_has_no_rows_is_missing(made):
    (of_noun, *_) = series_of(made, "cls_attention")
    values = of_noun.of("one", Model("pretrained", None), "weight")
    assert np.isnan(values[:-1]).all()
    assert not np.isnan(values[-1]).any()
    (frames, *_) = series_of(made, "framenet_heads")
    assert frames.tasks == (NO_TASK,)
    assert frames.of("one", Model("pretrained", None), "weight") is not None
    assert frames.of("one", Model("finetuned", 1), "weight") is None
    (shown,) = (s for s in SHOWN if s.table.name == "cosine")
    assert find_series(shown, {}, METRICS, SHAPE) == []


def test_the_first_effect_is_of_every_tasks_main_metric(made):
    main, *others = series_of(made, "head_ablation")
    assert main.kinds == {"one": "f1", "<b>two</b>": "accuracy"}
    assert [one.kind for one in others] == ["f1", "accuracy"]
    seeds = Model("finetuned", 2)
    for task, metric in main.kinds.items():
        own = next(one for one in others if one.kind == metric)
        assert (main.of(task, seeds, "delta") == own.of(task, seeds, "delta")).all()


def test_a_mean_is_the_tables_or_else_that_of_the_seeds(made):
    main, *_ = series_of(made, "head_ablation")
    means = made["seed_effects"].set_index(["task", "metric", "layer", "head"])
    found = average(main, "one", "finetuned")
    assert found["delta"][1, 2] == means.loc[("one", "f1", 2, 3), "delta"]
    assert found["ci_low"][1, 2] == means.loc[("one", "f1", 2, 3), "ci_low"]
    pair, *_ = series_of(made, "token_pairs")
    mean = average(pair, "one", "finetuned")
    both = [pair.of("one", Model("finetuned", seed), "weight") for seed in (1, 2)]
    assert np.allclose(mean["weight"], (both[0] + both[1]) / 2)
    tests = [pair.of("one", Model("finetuned", seed), "q_value") for seed in (1, 2)]
    assert (mean["q_value"] == np.maximum(*tests)).all()
    norm, *_ = series_of(made, "norm_statistics", "norm")
    of_norm = average(norm, "one", "finetuned")
    assert "over_control" in of_norm
    assert "over_control_low" not in of_norm, "the mean of intervals is none"


def test_one_seed_has_an_empty_table_of_means():
    made = tables(seeds=(1,), shape=SHAPE)
    empty = tables(shape=SHAPE)["seed_effects"].iloc[:0]
    main, *_ = series_of(made | {"seed_effects": empty}, "head_ablation")
    assert main.models == (Model("finetuned", 1),)
    alone = main.of("one", Model("finetuned", 1), "ci_low")
    assert (average(main, "one", "finetuned")["ci_low"] == alone).all()


def test_the_page_has_these_numbers(made):
    """Decoded without the code that packs them, by the places that the page is told."""
    run = building.Run("r", "label", METRICS, (1, 2), False, {})
    papers = registry.read(registry.files())
    content, numbers = building.content(run, made, findings(), claims(), papers, {})
    raw = zlib.decompress(base64.b64decode(numbers))
    count = len(raw) // 3
    planes = [raw[k * count : (k + 1) * count] for k in range(3)]
    values = np.frombuffer(
        b"".join(bytes([0, c, b, a]) for a, b, c in zip(*planes, strict=True)), "<f4"
    )
    entry = next(m for m in content["measures"] if m["key"] == "stripes.weight.[SEP]")
    frame = made["stripes"]
    rows = frame[(frame["feature"] == "[SEP]") & (frame["task"] == "<b>two</b>")]
    rows = rows[(rows["state"] == "finetuned") & (rows["seed"] == 2)]
    task, model = entry["tasks"].index("<b>two</b>"), entry["models"].index(["finetuned", 2])
    size = SHAPE[0] * SHAPE[1]
    for column in entry["columns"]:
        at = entry["start"] + (task * len(entry["models"]) + model) * len(entry["columns"])
        at += entry["columns"].index(column)
        expected = rows.sort_values(["layer", "head"])[column].to_numpy(float)
        assert values[at * size : (at + 1) * size] == pytest.approx(
            expected, rel=packing.FLOAT_ERROR
        )


def test_only_what_a_run_has_is_offered(made):
    few = {name: made[name] for name in ("cosine", "stripes")}
    run = building.Run("r", "label", {"one": ["f1"]}, (1,), False, {})
    content, _ = building.content(
        run, few, findings(), claims(), registry.read(registry.files()), {}
    )
    keys = [entry["key"] for entry in content["measures"]]
    assert keys[0] == "cosine.similarity"
    assert len(keys) > 1
    assert all(key.startswith("stripes.weight") for key in keys[1:])
    assert shape_of(few) == SHAPE


def test_a_declaration_that_does_not_fit_its_table_is_refused():
    cosine = next(s for s in SHOWN if s.table.name == "cosine").table
    with pytest.raises(ValueError, match="no columns wight"):
        Shown(cosine, "wight", "name", "group")
    with pytest.raises(ValueError, match="a head: which definition, mode"):
        Shown(HEAD_IMPORTANCE, "importance", "name", "group")
    two = {"mode": ("zero", "uniform")}
    with pytest.raises(ValueError, match="several rows for a head: choose one"):
        Shown(HEAD_IMPORTANCE, "importance", "name", "group", kind="definition", where=two)
    with pytest.raises(ValueError, match="no rows of heads"):
        Shown(CLAIMS, "value", "name", "group")
