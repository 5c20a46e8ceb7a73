"""Uniform heads show nothing at all; `tests/unit/test_adversaries.py` tries other heads."""

import numpy as np
import pytest
from adversarial.encoders import Corpus, uniform

from darksecrets.paper.features.changes import changes
from darksecrets.paper.features.levels import levels
from darksecrets.paper.features.trends import origins, trends


@pytest.fixture(scope="module")
def models(tmp_path_factory):
    rng, folder = np.random.default_rng(11), tmp_path_factory.mktemp("maps")
    corpus = Corpus.draw(rng)
    states = ("pretrained", "finetuned", "random")
    return {"task": {s: [corpus.profiles(uniform(rng), folder / s)] for s in states}}


def test_uniform_heads_show_no_change_and_no_trend(models):
    assert (changes(models, 499, 50, 0)[["p_value", "q_value"]] == 1).all(axis=None)
    assert (trends(models, 499, 50, 0)["correlation"] == 0).all()
    assert origins(models, 200, 0)[["correlation", "random"]].isna().all(axis=None)


def test_uniform_heads_have_no_greatest_feature(models):
    """All share; a rare feature may be missing from some bootstrap samples."""
    assert levels(models, 200, 0)["greatest_of_features"].between(0.09, 0.13).all()
