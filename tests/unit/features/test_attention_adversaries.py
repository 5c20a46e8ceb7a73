"""Heads that know nothing must show no change, trend or greatest feature beyond the stated rate."""

from collections.abc import Callable

import numpy as np
import pandas as pd
import pytest
from made_up_maps import save
from scipy.stats import binom

from darksecrets.features.changes import changes
from darksecrets.features.labels import FEATURES, WORD_FEATURES
from darksecrets.features.levels import levels
from darksecrets.features.measures import measure
from darksecrets.features.profiles import Collector, Profiles
from darksecrets.features.tokens import Tokens
from darksecrets.features.trends import origins, trends

LAYERS, HEADS, WORDS, EXAMPLES = 6, 6, 24, 16
CORPORA, CORPORA_OF_RANDOM = 4, 12
CLS, SEP = WORDS, WORDS + 1
Encoder = Callable[[np.ndarray], np.ndarray]
"""Maps [layer, head, L, L] of an example's words."""


def random_weights(rng: np.random.Generator) -> Encoder:
    """The score of two words is random, but the same in every example."""
    scores = 1.5 * rng.standard_normal((LAYERS, HEADS, WORDS + 2, WORDS + 2))
    return lambda words: np.exp(scores[:, :, words[:, None], words])


def fixed_places(rng: np.random.Generator) -> Encoder:
    """Every head attends to one place, drawn for the head: the third word, the last but two."""
    places = rng.integers(-4, 4, size=(LAYERS, HEADS))
    return lambda words: stripes(places % len(words), len(words))


def stripes(places: np.ndarray, length: int) -> np.ndarray:
    return np.broadcast_to(np.eye(length)[places][:, :, None], (LAYERS, HEADS, length, length))


def one_class(rng: np.random.Generator) -> Encoder:
    """Every head attends to a few words, drawn for the head, wherever they are."""
    weights = 0.01 + 10.0 * (rng.random((LAYERS, HEADS, WORDS + 2)) < 0.25)
    return lambda words: np.repeat(weights[:, :, None, words], len(words), axis=2)


def uniform(_: np.random.Generator) -> Encoder:
    return lambda words: np.ones((LAYERS, HEADS, len(words), len(words)))


KINDS = (random_weights, fixed_places, one_class, uniform)


def corpus(rng: np.random.Generator) -> tuple[list[Tokens], list[np.ndarray]]:
    """Examples whose words have the same features everywhere; nouns are common, as in texts."""
    rates = [0.4, 0.25, 0.1, 0.15, 0.15, 0.1, 0.1]
    of_word = rng.random((WORDS, len(WORD_FEATURES))) < rates
    of_word[0] = True  # every feature has a word
    tokens, texts = [], []
    for idx, length in enumerate(sorted(rng.integers(9, 12, EXAMPLES), reverse=True)):
        words = np.r_[CLS, rng.integers(WORDS, size=length - 2), SEP]
        features = np.zeros((length, len(FEATURES)), dtype=np.bool_)
        features[1:-1, :-2] = of_word[words[1:-1]]
        features[0, -2] = features[-1, -1] = True
        special = np.isin(np.arange(length), [0, length - 1])
        none = np.empty((0, 2), dtype=np.int64)
        zeros = np.zeros(length, dtype=np.int64)
        tokens.append(Tokens(idx, zeros, special, features, (none,) * 4, none))
        texts.append(words)
    return tokens, texts


def profiles(encoder: Encoder, tokens, texts, folder) -> Profiles:
    maps = [encoder(words) for words in texts]
    half = [(m / m.sum(axis=-1, keepdims=True)).astype(np.float16) for m in maps]
    collector = Collector()
    measure(save(folder, half), tokens, 0, collector=collector)
    return collector.profiles()


@pytest.fixture(scope="module", params=KINDS, ids=lambda kind: kind.__name__)
def found(request, tmp_path_factory):
    """All tables of made-up corpora; all states are unrelated encoders of one kind."""
    tables: dict[str, list[pd.DataFrame]] = {name: [] for name in ("l", "c", "t", "o")}
    corpora = CORPORA_OF_RANDOM if request.param is random_weights else CORPORA
    for number in range(corpora):
        rng = np.random.default_rng([11, number])
        tokens, texts = corpus(rng)
        folder = tmp_path_factory.mktemp("maps")
        states = {
            state: [profiles(request.param(rng), tokens, texts, folder / state)]
            for state in ("pretrained", "finetuned", "random")
        }
        models = {"task": states}
        for name, table in (
            ("l", levels(models, 200, number)),
            ("c", changes(models, 499, 50, number)),
            ("t", trends(models, 499, 50, number)),
            ("o", origins(models, 200, number)),
        ):
            tables[name].append(table.assign(corpus=number))
    return request.param, {name: pd.concat(parts) for name, parts in tables.items()}


def at_most(events: pd.Series, rate: float) -> bool:
    """Whether events are no more than a binomial with this rate allows in 999 of 1000 cases."""
    return events.sum() <= binom.ppf(0.999, len(events), rate)


def test_fine_tuning_changes_nothing(found):
    _, tables = found
    table = tables["c"]
    assert at_most(table["p_value"] < 0.05, 0.05)
    families = table.groupby(["corpus", table["layer"].isna()])["q_value"].min() < 0.05
    assert at_most(families, 0.05)


def test_layers_have_no_trend(found):
    _, tables = found
    assert at_most(tables["t"]["p_value"] < 0.05, 0.05)
    families = tables["t"].groupby(["corpus", "state"])["q_value"].min() < 0.05
    assert at_most(families, 0.05)


def test_no_feature_is_the_greatest(found):
    """Per encoder, measure and place; above 0.975 is a two-sided level of 5 % for two features."""
    _, tables = found
    groups = tables["l"].groupby(["corpus", "state", "measure", "layer"], dropna=False)
    greatest = groups["greatest_of_features"].max() > 0.975
    for _, of_measure in greatest.groupby("measure"):
        assert at_most(of_measure, 0.05)


def test_stripes_come_from_nowhere(found):
    """Heads of unrelated encoders: the interval leaves out 0 in about 5 % of the cases."""
    kind, tables = found
    table = tables["o"]
    if kind is uniform:
        assert table[["correlation", "random"]].isna().all(axis=None)
        return
    for name in ("correlation", "random", "difference"):
        outside = (table[f"{name}_low"] > 0) | (table[f"{name}_high"] < 0)
        assert at_most(outside, 0.08)  # percentile intervals of 36 heads are a little short


def test_uniform_heads_show_nothing_at_all(found):
    kind, tables = found
    if kind is uniform:
        assert (tables["c"][["p_value", "q_value"]] == 1).all(axis=None)
        assert (tables["t"]["correlation"] == 0).all()
        # All share; a rare feature may be missing from some bootstrap samples.
        assert tables["l"]["greatest_of_features"].between(0.09, 0.13).all()
