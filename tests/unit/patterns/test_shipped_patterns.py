"""The labelled set is what its README says."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score

from darksecrets.patterns import annotations, crossvalidation
from darksecrets.patterns.mapset import SETTLED, MapSet
from darksecrets.run.files import RESOURCES


@pytest.fixture(scope="module")
def shipped(root):
    return MapSet.load(RESOURCES / "patterns")


@pytest.fixture(scope="module")
def readme(root):
    return (RESOURCES / "patterns" / "README.md").read_text()


@pytest.fixture(scope="module")
def passes(shipped):
    both = shipped.labels[shipped.labels["pass"] < SETTLED]
    return both.pivot(index="map", columns="pass", values="label")


def test_every_map_has_two_labels_and_every_disagreement_a_third(shipped, passes):
    assert set(passes.index) == set(shipped.table["map"])
    assert not passes.isna().to_numpy().any()
    third = shipped.labels[shipped.labels["pass"] == SETTLED]
    assert set(third["map"]) == set(passes.index[passes[1] != passes[2]])
    assert len(shipped.settled()) == len(shipped.table)


def test_the_second_pass_came_in_another_order(shipped):
    first, second = (
        shipped.labels.loc[shipped.labels["pass"] == n, "map"].tolist() for n in (1, 2)
    )
    assert first != second
    assert abs(np.corrcoef(range(len(first)), [second.index(name) for name in first])[0, 1]) < 0.2


def test_maps_are_attention_over_their_tokens_and_no_example_comes_twice(shipped):
    table = shipped.table
    for row, weights in zip(table.itertuples(), shipped.maps, strict=True):
        assert len(row.tokens.split(" ")) == len(row.segments) == len(row.special) == len(weights)
        # half precision: a row's sum is off by at most half a unit in the last place per weight
        assert weights.sum(axis=1, dtype=np.float64) == pytest.approx(1, abs=2**-10)
    assert not table.duplicated(["model", "task", "idx"]).any()
    assert len(table) >= 400


def sentences(row):
    """Tokens of each sentence, found by splitting at [SEP]."""
    parts = row["tokens"].removeprefix("[CLS] ").split(" [SEP]")
    return {part.strip() for part in parts if part.strip()}


def test_sentences_of_two_examples_are_known_and_never_on_both_sides_of_a_fold(shipped, readme):
    data = annotations.load([annotations.SHIPPED])
    found = [sentences(row) for row in data.table.to_dict("records")]
    assert sum(len(some) for some in found) > len(found)
    folds = crossvalidation.folds(data, 5, seed=2019)
    shared = 0
    for number, one in enumerate(found):
        for other in range(number):
            if one & found[other]:
                shared += 1
                assert folds[number] == folds[other]
                assert data.groups[number] == data.groups[other]
    assert f"{shared} sentences of RTE" in readme
    assert len(set(data.groups)) == len(data.table) - shared


def test_labels_name_the_annotator_of_each_pass(shipped):
    names = shipped.labels.groupby("pass")["annotator"].unique().map(list)
    assert names.to_dict() == {1: ["vlm-1"], 2: ["vlm-2"], 3: ["vlm-3"]}


def test_disagreements_are_those_of_the_readme(passes, readme):
    pairs = [" against ".join(sorted(pair)) for pair in passes.to_numpy() if pair[0] != pair[1]]
    counts = pd.Series(pairs).value_counts()
    text = " ".join(readme.split())
    listed = re.search(r"Disagreements: (.*?)\.", text).group(1)
    found = {
        " against ".join(sorted((one, other))): int(n)
        for one, other, n in re.findall(r"(\S+) against (\S+) \((\d+)\)", listed)
    }
    assert found == counts.to_dict()


def test_kappa_and_counts_are_those_of_the_readme(shipped, passes, readme):
    real = passes.index.str.startswith("real")
    kappas = [cohen_kappa_score(p[1], p[2]) for p in (passes, passes[real], passes[~real])]
    found = re.search(r"kappa (\S+) \(real (\S+), tiny (\S+)\)", readme)
    assert [f"{kappa:.2f}" for kappa in kappas] == list(found.groups())
    assert f"{(passes[1] == passes[2]).sum()} of {len(passes)} maps" in readme
    settled = shipped.settled()
    counts = pd.crosstab(settled["map"].str[:4], settled["label"])
    header = re.search(r"^\| \| (.*) \|$", readme, re.MULTILINE).group(1).split(" | ")
    for source in ("real", "tiny"):
        row = re.search(rf"^\| {source} \| (.*) \|$", readme, re.MULTILINE).group(1).split(" | ")
        assert [int(n) for n in row] == counts.loc[source, header].tolist()
