"""Maps drawn at random, and the network that learns from what the regression says of them."""

import numpy as np
import pytest
import torch
from labelled import make_labelled_maps

from darksecrets.paper.patterns.classes import PATTERNS
from darksecrets.paper.patterns.maps.labelled_maps import Annotations
from darksecrets.paper.patterns.network import cnn, drawn_maps, teaching
from darksecrets.paper.patterns.network.kinds import MAP_KINDS
from darksecrets.paper.patterns.network.logistic import Logistic

COUNT = 400


def rows_of_ones(weights):
    return weights / weights.sum(axis=1, keepdims=True)


@pytest.fixture(scope="module")
def some():
    return drawn_maps.draw(COUNT, seed=3)


def test_maps_are_attention_over_one_sentence_or_two(some):
    lengths = np.array([len(one.weights) for one in some])
    shortest, longest = drawn_maps.LENGTHS
    assert shortest <= lengths.min() < lengths.max() < longest
    halves = np.mean(np.log(lengths) < np.log(drawn_maps.LENGTHS).mean())
    assert 0.4 < halves < 0.6, "logarithms of lengths are equally likely"
    for one in some:
        length = len(one.weights)
        assert one.weights.shape == (length, length)
        assert one.weights.min() >= 0
        np.testing.assert_allclose(one.weights.astype(float).sum(axis=1), 1, atol=0.02)
        assert len(one.special) == len(one.segments) == length
        assert one.special[0] == one.special[-1] == "1"
        assert one.segments == "".join(sorted(one.segments))
        last_of_first = one.segments.count("0") - 1
        assert one.special[last_of_first] == "1"
        assert one.special.count("1") == (3 if "1" in one.segments else 2)
    pairs = np.mean(["1" in one.segments for one in some])
    assert 0.4 < pairs < 0.65


def test_the_same_seed_draws_the_same_maps(some):
    again, others = drawn_maps.draw(5, seed=3), drawn_maps.draw(5, seed=4)
    for one, same in zip(some, again, strict=False):
        np.testing.assert_array_equal(one.weights, same.weights)
    assert [one.special for one in others] != [one.special for one in again]


def test_no_ingredient_is_rare_or_alone_everywhere(some):
    """A map in which one ingredient has nearly all the weight is as common as a mixture."""
    sharpest = [one.weights.astype(float).max(axis=1).mean() for one in some]
    assert np.mean(np.array(sharpest) > 0.6) > 0.1
    assert np.mean(np.array(sharpest) < 0.2) > 0.1


TOKENS = drawn_maps.Tokens(
    special=np.array([1, 0, 0, 0, 1, 0, 0, 0, 0, 1], dtype=bool),
    sentence=np.array([0] * 5 + [1] * 5),
)


def shares(ingredient, cells, draws=20):
    """Share of every draw's weight that some cells have."""
    rng = np.random.default_rng(0)
    maps = [rows_of_ones(ingredient(TOKENS, rng)) for _ in range(draws)]
    return np.array([one[cells].sum() / one.sum() for one in maps])


def test_special_columns_are_on_special_tokens_alone():
    cells = np.tile(TOKENS.special, (10, 1))
    np.testing.assert_allclose(shares(drawn_maps.special_columns, cells), 1)


def test_columns_are_the_same_in_every_row():
    rng = np.random.default_rng(1)
    for _ in range(10):
        columns = drawn_maps.columns_of_any_token(TOKENS, rng)
        assert (columns == columns[0]).all()
        assert 1 <= (columns[0] > 0).sum() <= 3


def test_diagonals_are_near_the_diagonal():
    places = np.arange(10)
    distances = np.abs(places[:, None] - places[None, :])
    found = shares(drawn_maps.diagonals, distances <= 5)
    assert found.min() > 0.85
    far = shares(drawn_maps.diagonals, distances > max(drawn_maps.OFFSETS))
    assert far.mean() < 0.2


def test_blocks_are_within_a_sentence():
    within = TOKENS.sentence[:, None] == TOKENS.sentence[None, :]
    assert shares(drawn_maps.blocks, within).min() > 0.99
    on_special = shares(drawn_maps.blocks, np.tile(TOKENS.special, (10, 1)))
    assert (on_special < 0.01).any()
    assert (on_special > 0.1).any()


def test_related_words_attend_to_each_other():
    rng = np.random.default_rng(2)
    for _ in range(10):
        weights = drawn_maps.related_words(TOKENS, rng)
        np.testing.assert_array_equal(weights, weights.T)
        assert 1 <= (weights == 1).sum() <= 6


def test_part_of_a_column_is_one_column_in_consecutive_rows():
    rng = np.random.default_rng(3)
    for _ in range(10):
        rows, columns = np.nonzero(drawn_maps.part_of_a_column(TOKENS, rng) == 1)
        assert len(set(columns)) == 1
        assert rows.tolist() == list(range(rows[0], rows[-1] + 1))


def test_a_row_without_weight_becomes_uniform():
    weights = np.array([[0.0, 0, 0], [1, 1, 2], [0, 0, 3]])
    expected = [[1 / 3] * 3, [0.25, 0.25, 0.5], [0, 0, 1]]
    np.testing.assert_allclose(drawn_maps._as_rows(weights), expected)


def test_drawn_maps_are_prepared_together_as_one_by_one(some):
    training = cnn.Training(1, seed=3, drawn=COUNT)
    found = teaching.prepare_drawn(training)
    maps, special, segments = zip(
        *((one.weights, one.special, one.segments) for one in some), strict=True
    )
    expected = teaching.Inputs.prepare_maps(maps, special, segments)
    assert len(found.features) == COUNT
    order = sorted(
        range(COUNT),
        key=lambda row: [len(one.weights) for one in some].index(len(some[row].weights)),
    )
    torch.testing.assert_close(found.features, expected.features[order], atol=1e-4, rtol=1e-4)
    torch.testing.assert_close(found.images.float(), expected.images[order], atol=1e-3, rtol=1e-3)


@pytest.fixture(scope="module")
def prepared():
    mapset = make_labelled_maps(PATTERNS, 10)
    labels = mapset.labels["label"]
    strict = labels.where(labels != "vertical", "")  # unknown
    return teaching.Prepared.of(
        Annotations(mapset.table.assign(label=labels, strict=strict), mapset.maps), seed=1
    )


def test_the_network_learns_labels_and_the_answers_of_the_regression(prepared, monkeypatch):
    seen = []
    monkeypatch.setattr(cnn, "train", lambda *given: seen.append(given))
    training = cnn.Training(1, seed=0, drawn=50)
    drawn = teaching.prepare_drawn(training)
    rows = np.arange(0, len(prepared.kinds), 2)
    teaching.train_network(prepared, rows, drawn, training)
    ((images, targets, weights, _),) = seen
    varied = prepared.varied_from(rows)
    assert len(images) == len(targets) == len(weights) == len(rows) + 50 + len(varied.features)
    regression: Logistic = teaching.train_regression(prepared, rows)
    taught = torch.cat([drawn.features, varied.features])
    answers = torch.softmax(regression(taught), dim=1)
    torch.testing.assert_close(targets[len(rows) :], answers)
    torch.testing.assert_close(targets.sum(dim=1), torch.ones(len(targets)))
    assert weights[: len(rows)].mean() == pytest.approx(teaching.LABELLED)
    assert weights[len(rows) :].mean() == pytest.approx(1)
    said = torch.softmax(regression(prepared.inputs.features[rows]), dim=1)
    for possible, found, chances in zip(prepared.kinds[rows], targets, said, strict=False):
        assert (found[~possible] == 0).all()
        if possible.sum() == 1:
            assert found[possible] == 1
        else:  # vertical, of special or of other tokens
            ratio = found[possible][0] / found[possible][1]
            assert ratio == pytest.approx(float(chances[possible][0] / chances[possible][1]), 0.01)


@pytest.mark.slow
def test_on_maps_unlike_the_labelled_ones_it_answers_as_the_regression_does(prepared):
    """Labelled maps are of a few lengths; those asked about are drawn with another seed."""
    asked = teaching.prepare_drawn(cnn.Training(1, seed=9, drawn=300))
    rows = np.arange(len(prepared.kinds))
    regression = teaching.train_regression(prepared, rows)
    expected = regression(asked.features).argmax(dim=1)
    agreement = {}
    for drawn, epochs in ((1, 60), (2000, 3)):
        training = cnn.Training(epochs, seed=0, drawn=drawn)
        net = teaching.train_network(prepared, rows, teaching.prepare_drawn(training), training)
        with torch.inference_mode():
            found = net(asked.images.float()).argmax(dim=1)
        agreement[drawn] = float((found == expected).float().mean())
    assert agreement[2000] > agreement[1] + 0.1, agreement
    assert agreement[2000] > 0.6, agreement
    assert len(MAP_KINDS) > 4, "agreement by chance is low"
