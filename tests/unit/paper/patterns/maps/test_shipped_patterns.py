"""The labelled set is what its README says."""

import re

import numpy as np
import pandas as pd
import pytest
from sklearn.metrics import cohen_kappa_score, f1_score

from darksecrets.core.run.files import RESOURCES
from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps import labelled_maps
from darksecrets.paper.patterns.maps.mapset import SETTLED, MapSet, strict_labels
from darksecrets.paper.patterns.network import crossvalidation

FOLDER = RESOURCES / "patterns"
LAST_ADDED = "vlm-7"
"""Annotator of the maps of one encoder, which were added to those of the others."""


@pytest.fixture(scope="module")
def shipped():
    return MapSet.load(FOLDER)


@pytest.fixture(scope="module")
def readme():
    return " ".join((FOLDER / "README.md").read_text().split())


@pytest.fixture(scope="module")
def passes(shipped):
    """The first two labels of every map, by definition."""
    both = shipped.labels[shipped.labels["pass"] < SETTLED]
    both = both.assign(lenient=both["label"], strict=strict_labels(both))
    return {
        definition: both.pivot(index="map", columns="pass", values=definition)
        for definition in ("lenient", "strict")
    }


def test_every_map_has_two_labels_and_every_disagreement_a_third(shipped, passes, readme):
    wide, strict = passes["lenient"], passes["strict"]
    assert set(wide.index) == set(shipped.table["map"])
    assert not wide.isna().to_numpy().any()
    third = shipped.labels[shipped.labels["pass"] == SETTLED]
    differ = (wide[1] != wide[2]) | (strict[1] != strict[2])
    assert set(third["map"]) == set(differ.index[differ]) == set(shipped.disputed())
    assert len(shipped.settled()) == len(shipped.table)
    assert f"The {differ.sum()} maps whose class the passes disagree on" in readme


def test_the_second_pass_came_in_another_order_and_models_are_mixed(shipped):
    beside = shipped.labels["annotator"] == LAST_ADDED
    first, second = (
        shipped.labels.loc[(shipped.labels["pass"] == n) & ~beside, "map"].tolist() for n in (1, 2)
    )
    assert first != second
    assert abs(np.corrcoef(range(len(first)), [second.index(name) for name in first])[0, 1]) < 0.1
    models = shipped.table.set_index("map")["model"].loc[first]
    for order in (first, second):
        halves = models.loc[order[: len(order) // 2]].value_counts(normalize=True)
        whole = models.value_counts(normalize=True)
        assert (halves - whole).abs().max() < 0.05


def test_names_say_nothing_of_the_model(shipped):
    assert shipped.table["map"].str.fullmatch(r"m[a-z2-7]{6}").all()


def test_maps_are_attention_over_their_tokens_and_none_comes_twice(shipped):
    table = shipped.table
    for row, weights in zip(table.itertuples(), shipped.maps, strict=True):
        assert len(row.tokens.split(" ")) == len(row.segments) == len(row.special) == len(weights)
        assert 7 <= len(weights) <= 128
        # half precision: a row's sum is off by at most half a unit in the last place per weight
        assert weights.sum(axis=1, dtype=np.float64) == pytest.approx(1, abs=2**-10)
    assert not table.duplicated(["model", "task", "state", "seed", "idx"]).any()
    assert len(table) >= 1200


def test_maps_that_share_a_sentence_are_never_on_both_sides_of_a_fold(readme):
    data = labelled_maps.load([labelled_maps.SHIPPED])
    groups = pd.Series(data.groups)
    shared = groups.map(groups.value_counts()) > 1
    assert f"{shared.sum()} maps share a sentence" in readme
    folds = crossvalidation.folds(data, 5, seed=2019)
    assert (pd.Series(folds).groupby(groups).nunique() == 1).all()
    models = data.table["model"].groupby(groups.to_numpy()).nunique()
    assert (models > 1).sum() > 30, "encoders with other word pieces read the same sentences"


def test_kappas_and_counts_are_those_of_the_readme(shipped, passes, readme):
    wide, strict = (passes[definition] for definition in ("lenient", "strict"))
    assert f"{(wide[1] == wide[2]).sum():,} of {len(wide):,} maps" in readme
    kappas = [f"{cohen_kappa_score(p[1], p[2]):.3f}"[1:] for p in (wide, strict)]
    found = re.search(r"kappa (\.\d+) \(.*?in the lenient definition and (\.\d+)", readme)
    assert list(found.groups()) == kappas
    settled = shipped.settled()
    order = ("vertical", "diagonal", "vertical+diagonal", "block", "heterogeneous")
    assert order == tuple(PATTERNS)
    for definition, column in (("lenient", "label"), ("strict", "strict")):
        counts = settled[column].value_counts().reindex(order)
        assert f"| all, {definition} | {' | '.join(map(str, counts))} |" in readme


@pytest.fixture(scope="module")
def unseen():
    """Predictions for maps of pre-trained encoders that were left out of the training."""
    table = pd.read_csv(FOLDER / "pattern_predictions.csv").dropna(subset=["label"])
    table = table[~table["encoder"].str.contains("random|normal")]
    return table[(table["left_out"] == "model") | (table["classifier"] == "second labelling")]


@pytest.fixture(scope="module")
def page(root):
    return (root / "docs" / "methods" / "patterns.md").read_text()


def test_the_page_has_the_scores_on_unseen_encoders(unseen, page):
    rows = re.findall(r"^\| (.+) \| ([\d. /]+) \| ([\d. /]+) \| ([\d. /]+) \|$", page, re.M)
    said = {name.strip("`").replace("×", "x"): scores for name, *scores in rows}
    encoders = set(unseen["encoder"])
    assert said.keys() == {*encoders, "mean"}
    found = {}
    for place, classifier in enumerate(("cnn", "features", "second labelling")):
        for half, definition in enumerate(("lenient", "strict")):
            own = unseen[unseen["classifier"] == classifier]
            own = own[own["definition"] == definition]
            for encoder, one in own.groupby("encoder"):
                score = f1_score(one["label"], one["predicted"], average="weighted")
                found[encoder, place, half] = 100 * score
            mean = np.mean([found[encoder, place, half] for encoder in encoders])
            found["mean", place, half] = mean
    assert min(found[encoder, 0, 1] for encoder in encoders) > 80
    assert "By the paper's definition, every encoder left out is above 80" in page
    for (name, place, half), score in found.items():
        assert float(said[name][place].split(" / ")[half]) == pytest.approx(score, abs=0.051), name


def test_the_page_names_the_confusions_of_the_network(unseen, page):
    own = unseen[(unseen["classifier"] == "cnn") & (unseen["definition"] == "strict")]
    counts = pd.crosstab(own["label"], own["predicted"])
    vertical, both = counts.loc["vertical"], counts.loc["vertical+diagonal"]
    words = " ".join(page.split())
    assert (
        f"takes {vertical['heterogeneous']} of {vertical.sum()} vertical maps for heterogeneous, "
        f"and {both['diagonal']} of {both.sum()} vertical + diagonal maps for diagonal"
    ) in words


def test_the_maps_of_the_last_encoder_are_evenly_drawn(shipped):
    own = shipped.table[shipped.table["map"].isin(_maps_of(shipped, LAST_ADDED))]
    assert len(own) == 250
    assert own["model"].unique().tolist() == ["multilingual-e5-small"]
    cells = own.groupby(["state", "task"]).size()
    assert cells.groupby("state").agg(lambda counts: counts.max() - counts.min()).max() <= 1
    assert own["layer"].value_counts().between(18, 23).all()


def _maps_of(shipped, annotator):
    return set(shipped.labels.loc[shipped.labels["annotator"] == annotator, "map"])
