"""Numbers of layers on the cards: main metrics, means over seeds, no embeddings."""

import json

from atlas_run import METRICS, tables_of_layers

from darksecrets.pages.atlas import layers
from darksecrets.pages.contracts import TABLES

EFFECT, PROBE = "Score with all its heads disabled, difference", "Probe finds tense"


def rows(seeds):
    return layers.content(tables_of_layers(seeds=seeds), METRICS)


def test_each_layer_has_the_mean_over_seeds_of_the_main_metric():
    found = [row for row in rows((1, 2)) if row["name"] == EFFECT]
    assert {(row["task"], row["layer"]): row["value"] for row in found} == {
        (task, layer): -layer - 0.75 for task in METRICS for layer in (1, 2, 3)
    }
    assert not any("low" in row for row in found), "no interval of a mean over seeds"
    (first, *_) = [row for row in rows((2,)) if row["name"] == EFFECT]
    assert (first["value"], first["low"], first["high"]) == (-2, -2.5, 0.25)


def test_probes_stand_beside_word_types_and_start_above_the_embeddings():
    found = [row for row in rows((1,)) if row["name"] == PROBE]
    assert [row["layer"] for row in found] == [1, 2, 3]
    assert [row["value"] for row in found] == [0.8, 0.7, 0.6]
    assert {row["task"] for row in found} == {""}
    assert found[0]["control"] == {"name": "majority", "value": 0.25}


def test_numbers_that_are_unknown_are_left_out():
    tables = tables_of_layers(seeds=(1,))
    effects, probes = tables["layer_ablation"], tables["layer_probes"]
    effects.loc[effects["layer"] == 1, "delta"] = None
    effects.loc[effects["layer"] == 2, "ci_low"] = None
    probes["majority"] = None
    found = layers.content(tables, METRICS)
    assert {row["layer"] for row in found if row["name"] == EFFECT} == {2, 3}
    assert {row["layer"] for row in found if "low" in row and row["name"] == EFFECT} == {3}
    assert not any("control" in row for row in found)
    json.dumps(found, allow_nan=False)


def test_tables_that_a_run_lacks_are_left_out():
    assert layers.content({}, METRICS) == []


def test_tables_have_a_row_for_every_layer():
    for measure in layers.MEASURES:
        declared = TABLES[measure.table.name]
        own = {"task", "state", "seed", "layer", "metric", measure.kind} - {""}
        assert {*declared.key} <= own, f"{declared.name} has several rows for a layer"
