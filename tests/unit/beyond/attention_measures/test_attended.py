"""Tables of several measures and models at once are those of each by itself, from a store."""

import json
from dataclasses import replace
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from encoders import FAMILIES, PAIRS

from darksecrets.beyond.attention_measures import declared as d
from darksecrets.beyond.attention_measures.measure.heads import attended, linked
from darksecrets.beyond.attention_measures.measure.running import Running, run
from darksecrets.beyond.attention_measures.measure.statistics import compared, split_measures
from darksecrets.core.attention.store import AttentionStore, write_store
from darksecrets.core.models.loading import Draw
from darksecrets.core.models.reading import Reading
from darksecrets.core.run.columns import MEASURES
from darksecrets.core.run.tables import identify
from darksecrets.paper.features.measuring import measure
from darksecrets.paper.features.profiles import Collector, Profiles
from darksecrets.paper.features.tables import TOKEN_PAIR_CORRELATIONS, TOKEN_PAIRS
from darksecrets.paper.features.tokens import describe
from darksecrets.paper.framenet import heads as framenet
from darksecrets.paper.framenet.links import Annotation, Element

pytestmark = pytest.mark.slow

COPIES = 3
"""Intervals need 6 examples."""
SENTENCES = {name: texts * COPIES for name, texts in PAIRS.items()}
IDX = list(range(len(SENTENCES["sentence1"])))
CLOSE = {"rtol": 2e-6, "atol": 1e-7}
"""Sums over batches are added up in another order; entropies in single precision."""


@pytest.fixture(scope="module", params=["BERT", "ModernBERT"])
def folder(request, tmp_path_factory) -> Path:
    return FAMILIES[request.param].save(tmp_path_factory.mktemp("attended") / "model")


def models_of(folder: Path) -> dict[str, Reading]:
    """The same encoder with its own weights and with random ones."""
    random = Reading(folder, 128, 5, Draw(1, 0.02))
    return {"pretrained": Reading(folder, 128, 5), "random/seed-1": random}


@pytest.fixture(scope="module")
def maps(folder: Path) -> Running:
    return run(models_of(folder), {"idx": IDX, **SENTENCES}, MEASURES)


def words(text: str) -> list[dict]:
    """A made-up annotation: verbs have subjects, and pronouns stand for nouns."""
    found, start = [], 0
    for number, word in enumerate(text.split()):
        place = text.index(word, start)
        start = place + len(word)
        tag, dep = (("PRP", "nsubj"), ("VBZ", "ROOT"), ("NN", "dobj"))[number % 3]
        head = number + 1 if dep == "nsubj" else number
        antecedent = number - 1 if tag == "PRP" and number else None
        span = {"text": word, "start": place, "end": start, "tag": tag, "dep": dep}
        found.append(span | {"head": head, "antecedent": antecedent})
    found[-1]["head"] = len(found) - 1
    return found


@pytest.fixture(scope="module")
def annotation(tmp_path_factory) -> Path:
    path = tmp_path_factory.mktemp("annotation") / "task.jsonl"
    lines = [
        {"idx": idx}
        | {
            name: {"text": texts[idx], "tokens": words(texts[idx])}
            for name, texts in SENTENCES.items()
        }
        for idx in IDX
    ]
    path.write_text("\n".join(map(json.dumps, lines)))
    return path


def stored(maps: Running, folder: Path) -> list[AttentionStore]:
    """A store for every measure of every model."""
    read = [example for _, batch in maps.batches() for example in batch]
    stores = []
    for number, variant in enumerate(maps.variants):
        count = variant.heads.stop - variant.heads.start
        place = folder / str(number)
        with write_store(place, maps.table, maps.layers, count, maps.windows) as writer:
            for example in read:
                writer.append(example[:, variant.heads])
        stores.append(AttentionStore.open(place))
    return stores


@pytest.fixture(scope="module")
def found(maps, annotation):
    return attended(maps, annotation, "task", 5)


def test_tables_are_those_of_a_store_of_the_same_maps(maps, annotation, found, tmp_path):
    tables, kept = found
    for variant, store in zip(maps.variants, stored(maps, tmp_path), strict=True):
        tokens, collector = describe(store, annotation), Collector()
        for name, alone in measure(store, tokens, 5, collector=collector).items():
            expected = identify(alone, "task", variant.model)
            together = tables[name][tables[name]["attention"] == variant.measure]
            state, _, seed = variant.model.partition("/seed-")
            together = together[together["state"] == state]
            own = together.drop(columns="attention").reset_index(drop=True)
            pd.testing.assert_frame_equal(own, expected, check_dtype=False, **CLOSE)
            assert len(own) or name != "equal_words"
            assert set(own["seed"].dropna()) == ({int(seed)} if seed else set())
        profiles, alone = kept[variant.measure, variant.model], collector.profiles()
        np.testing.assert_array_equal(profiles.idx, alone.idx)
        for part in ("weights", "uniform", "control", "heads", "control_heads"):
            for name, values in getattr(alone, part).items():
                np.testing.assert_allclose(getattr(profiles, part)[name], values, **CLOSE)


def test_tables_are_as_declared_and_measures_differ(found):
    tables, _ = found
    for table, name, value in (
        (d.PAIRS, "token_pairs", "weight"),
        (d.EQUAL_WORD_CONTROLS, "equal_word_controls", "difference"),
    ):
        table.check(tables[name], table.name, "")
        by_measure = tables[name].groupby("attention")[value].mean()
        assert by_measure.nunique() == len(MEASURES), table.name
    split = split_measures(tables, MEASURES)
    for name, table in tables.items():
        assert len(table) == sum(len(frames[name]) for frames in split.values())
        assert "attention" not in split["norms"][name]


def test_models_are_compared_by_each_measure_alone(found, maps, tmp_path):
    tables, kept = found
    for (measure_of, model), profiles in kept.items():
        path = d.profiles_in(tmp_path, measure_of, model)
        path.parent.mkdir(parents=True, exist_ok=True)
        profiles.save(path)
    models = [("task", variant.model) for variant in maps.variants if variant.measure == "norms"]
    settings = {"draws": 99, "resamples": 50, "seed": 1}
    pairs, folders = tables[TOKEN_PAIRS.name], {"task": tmp_path}
    both = compared(["norms", "effective"], pairs, folders, models, **settings)
    for measure_of in ("norms", "effective"):
        alone = compared([measure_of], pairs, folders, models, **settings)
        for name, expected in alone.items():
            rows = both[name][both[name]["attention"] == measure_of].reset_index(drop=True)
            pd.testing.assert_frame_equal(rows, expected)
    correlations = both[TOKEN_PAIR_CORRELATIONS.name]
    assert correlations["weight"].notna().any()
    levels = both["attention_levels"].query("measure == 'greatest' and layer.isna()")
    profiles = Profiles.load(d.profiles_in(tmp_path, "norms", "pretrained"))
    row = levels.query("attention == 'norms' and state == 'pretrained' and feature == '[SEP]'")
    expected = np.nanmean(profiles.weights["greatest"][:, -1], axis=0).mean()
    assert row["weight"].item() == pytest.approx(expected)


def test_links_are_those_of_a_store_of_the_same_maps(folder, tmp_path):
    texts = [
        f"{who} {what} the old horses near {where} and slept ."
        for who in ("She", "Kim", "He")
        for what in ("sold", "bought")
        for where in ("walls", "windows")
    ]
    links = [
        Annotation(text, (text.index("slept"), text.index("slept") + 5), (Element((0, end)),))
        for text in texts
        if (end := text.index(" "))
    ]
    maps = run(models_of(folder), {"sentence1": texts}, MEASURES)
    found = linked(maps, links, 99, 3)
    for table, declared in zip(found, (d.LINKED_HEADS, d.LINKED_CONTROLS), strict=True):
        declared.check(table, declared.name, "")
    for variant, store in zip(maps.variants, stored(maps, tmp_path), strict=True):
        weights = framenet.measure(framenet.Linked(store, links))
        for table, own in zip(found, framenet.tables(weights, 99, 3), strict=True):
            alone = identify(own, None, variant.model).reset_index(drop=True)
            of_measure = table[table["attention"] == variant.measure].drop(columns="attention")
            state = variant.model.partition("/")[0]
            rows = of_measure[of_measure["state"] == state].reset_index(drop=True)
            pd.testing.assert_frame_equal(rows, alone, check_dtype=False)


def test_one_example_of_one_layer_and_one_head_is_enough(tmp_path, annotation):
    small = {"num_hidden_layers": 1, "num_attention_heads": 1}
    folder = replace(FAMILIES["BERT"], settings=small).save(tmp_path / "model")
    one = {"idx": [2], "sentence1": ["She sleeps."]}
    maps = run({"pretrained": Reading(folder, 64, 4)}, one, MEASURES)
    lines = [json.loads(line) for line in annotation.read_text().splitlines()]
    (tmp_path / "one.jsonl").write_text(
        json.dumps({name: lines[2][name] for name in ("idx", "sentence1")})
    )
    tables, _ = attended(maps, tmp_path / "one.jsonl", "task", 1)
    for table, name in ((d.PAIRS, "token_pairs"), (d.EQUAL_WORD_CONTROLS, "equal_word_controls")):
        table.check(tables[name], table.name, "")
