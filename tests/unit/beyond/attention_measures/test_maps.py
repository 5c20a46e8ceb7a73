"""Norms and effective attention against loops over pairs and explicit null spaces, in float64."""

import numpy as np
import pytest
import torch
from scipy.linalg import null_space

from darksecrets.beyond.attention_measures.measure import definitions as of

HIDDEN, SIZE, HEADS = 24, 6, 4
NEAR = {"rtol": 0, "atol": 1e-10}


def head_outputs(length: int, seed: int = 0, rank: int = SIZE):
    """Weights, coordinates of f(x), and f(x) itself, of two examples in double precision."""
    rng = np.random.default_rng(seed)
    scores = rng.standard_normal((2, HEADS, length, length))
    maps = torch.softmax(torch.tensor(scores), dim=-1)
    values = rng.standard_normal((2, HEADS, length, rank)) @ rng.standard_normal((rank, SIZE))
    weight = rng.standard_normal((HEADS, SIZE, HIDDEN))
    vectors = np.einsum("bhkd,hdo->bhko", values, weight)
    found = of.coordinates(torch.tensor(values), of.basis(torch.tensor(weight)))
    return maps, found, vectors


def every_map(*arrays):
    """The maps and f(x) of every example and head, as arrays."""
    for place in np.ndindex(2, HEADS):
        yield [np.asarray(array)[place] for array in arrays]


def least_norm(weights: np.ndarray, vectors: np.ndarray) -> np.ndarray:
    """Effective attention as Brunner et al. define it: rows minus their part in the null space."""
    result = weights.copy()
    for direction in null_space(vectors.T).T:
        for query in range(len(weights)):
            result[query] -= (weights[query] @ direction) * direction
    return result


def test_coordinates_have_the_inner_products_of_the_vectors():
    _, found, vectors = head_outputs(9)
    for own, full in every_map(found, vectors):
        np.testing.assert_allclose(own @ own.T, full @ full.T, **NEAR)


def test_norms_are_those_of_a_loop_over_pairs():
    maps, found, vectors = head_outputs(7)
    for row, weights, full in every_map(of.norms(maps, found), maps, vectors):
        added = np.array(
            [[np.linalg.norm(weights[i, j] * full[j]) for j in range(7)] for i in range(7)]
        )
        expected = [[added[i, j] / added[i].sum() for j in range(7)] for i in range(7)]
        np.testing.assert_allclose(row, expected, **NEAR)


@pytest.mark.parametrize("length", [3, SIZE, SIZE + 1, 15, 40])
def test_effective_attention_has_the_same_outputs_and_no_part_in_the_null_space(length):
    maps, found, vectors = head_outputs(length)
    for own, weights, full in every_map(of.effective_attention(maps, found), maps, vectors):
        np.testing.assert_allclose(own @ full, weights @ full, **NEAR)
        np.testing.assert_allclose(own, least_norm(weights, full), **NEAR)
        assert np.linalg.norm(own) <= np.linalg.norm(weights) + 1e-12


@pytest.mark.parametrize("length", [1, 4, SIZE])
def test_texts_no_longer_than_a_head_is_wide_leave_nothing_to_take_away(length):
    maps, found, _ = head_outputs(length)
    assert torch.equal(of.effective_attention(maps, found), maps)
    np.testing.assert_allclose(of.effective(maps, found), maps, rtol=0, atol=1e-15)


@pytest.mark.parametrize(("length", "rank"), [(4, 2), (SIZE, 3), (20, 3), (20, 1)])
def test_vectors_of_low_rank_have_a_null_space_even_on_short_texts(length, rank):
    maps, found, vectors = head_outputs(length, rank=rank)
    for own, weights, full in every_map(of.effective_attention(maps, found), maps, vectors):
        assert np.linalg.matrix_rank(full) == rank
        np.testing.assert_allclose(own @ full, weights @ full, **NEAR)
        np.testing.assert_allclose(own, least_norm(weights, full), **NEAR)


def test_equal_tokens_share_what_only_their_sum_determines():
    """Of two tokens with the same vector, each gets half of what both get."""
    maps, found, _ = head_outputs(5)
    found[..., 4, :] = found[..., 1, :]
    own = of.effective_attention(maps, found)
    half = (maps[..., 1] + maps[..., 4]) / 2
    np.testing.assert_allclose(own[..., 1], half, **NEAR)
    np.testing.assert_allclose(own[..., 4], half, **NEAR)
    np.testing.assert_allclose(own[..., [0, 2, 3]], maps[..., [0, 2, 3]], **NEAR)


def test_rounding_of_single_precision_gives_no_rank():
    maps, found, vectors = head_outputs(20, rank=3)
    rounded = found.float().double()
    assert np.linalg.matrix_rank(rounded[0, 0].numpy()) == SIZE
    for own, weights, full in every_map(of.effective_attention(maps, rounded), maps, vectors):
        np.testing.assert_allclose(own, least_norm(weights, full), rtol=0, atol=1e-4)


@pytest.mark.parametrize("window", [2, 4, 9])
def test_local_attention_has_a_null_space_for_every_query(window):
    maps, found, vectors = head_outputs(20)
    places = np.arange(20)
    reach = np.abs(places[:, None] - places) <= window
    maps = maps * torch.tensor(reach)
    maps = maps / maps.sum(dim=-1, keepdim=True)
    local = of.effective_attention(maps, found, torch.tensor(reach))
    for own, weights, full in every_map(local, maps, vectors):
        assert not own[~reach].any()
        for query, keys in enumerate(reach):
            expected = least_norm(weights[query : query + 1, keys], full[keys])
            np.testing.assert_allclose(own[query : query + 1, keys], expected, **NEAR)


def test_shares_are_magnitudes_and_a_head_that_adds_nothing_has_none():
    maps, found, _ = head_outputs(20)
    signed = of.effective_attention(maps, found)
    assert (signed < 0).any()
    assert (signed.sum(dim=-1) - 1).abs().max() > 1e-3
    expected = signed.abs() / signed.abs().sum(dim=-1, keepdim=True)
    np.testing.assert_allclose(of.effective(maps, found), expected, rtol=1e-12)
    for measure in ("norms", "effective"):
        assert not of.OF[measure](maps, torch.zeros_like(found), None).any()
    assert torch.equal(of.OF["weights"](maps, found, None), maps)
    np.testing.assert_allclose(of.shares(torch.tensor([[-3.0, 1.0]])), [[0.75, 0.25]])


@pytest.mark.parametrize(("share", "rank"), [(4.0, 8), (0.25, 7)])
def test_what_counts_as_rounding_depends_on_the_keys_and_the_size_of_a_head(share, rank):
    """A hidden size, 6 to 12 times that of a head, would take four times this limit for 0."""
    keys, size = 8, 16
    rng = np.random.default_rng(0)
    left, right = (np.linalg.qr(rng.normal(size=(n, keys)))[0] for n in (keys, size))
    values = np.ones(keys)
    values[-1] = share * size * np.finfo(np.float32).eps
    vectors = torch.from_numpy((left * values) @ right.T)[None, None]
    found = of.effective_attention(torch.eye(keys)[None, None], vectors)
    assert torch.linalg.matrix_rank(found[0, 0], atol=1e-6, rtol=0) == rank
