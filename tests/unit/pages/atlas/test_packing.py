"""Few bits a weight, with a known error."""

import base64
import zlib

import numpy as np
import pytest

from darksecrets.pages.atlas import packing


def unpacked(text):
    return np.frombuffer(zlib.decompress(base64.b64decode(text)), np.uint8)


def weights():
    rng = np.random.default_rng(2)
    edges = [(k + 0.5) ** 2 / 15**2 for k in range(15)]  # where rounding is worst
    return np.array([0, 1, 1e-4, 0.999, *edges, *rng.random(500), *rng.random(500) ** 4])


def test_a_map_of_4_bits_is_off_by_at_most_the_bound():
    own = weights()
    found = unpacked(packing.pack_map(own))
    levels = [level for byte in found for level in (byte // 16, byte % 16)][: len(own)]
    errors = np.abs([(level / 15) ** 2 for level in levels] - own)
    assert (errors <= np.sqrt(own) / 15 + 1 / 30**2 + 1e-6).all()
    assert errors.max() <= packing.MAP_ERROR
    assert errors.max() > packing.MAP_ERROR / 2, "the bound is not generous"
    assert levels[:2] == [0, 15], "0 and 1 are exact"


def test_a_mean_map_of_8_bits_is_off_by_at_most_the_bound():
    own = weights()
    found = (unpacked(packing.pack_means(own)) / 255.0) ** 2
    assert np.abs(found - own).max() <= 1 / 255


@pytest.mark.parametrize("count", [1, 2, 7])
def test_an_odd_number_of_weights_is_filled_up(count):
    assert len(unpacked(packing.pack_map(np.ones(count)))) == (count + 1) // 2


def test_weights_that_rounding_pushed_over_1_stay_1():
    assert unpacked(packing.pack_means(np.array([1.001, 1.0]))).tolist() == [255, 255]


def test_a_number_of_a_table_is_off_by_at_most_the_bound():
    rng = np.random.default_rng(3)
    own = np.concatenate([rng.normal(size=400), 10.0 ** rng.uniform(-8, 8, 400), [0.0, -1e-30]])
    raw = unpacked(packing.pack_floats(own)).reshape(3, -1)
    found = [np.frombuffer(bytes([0, c, b, a]), "<f4")[0] for a, b, c in raw.T]
    assert found == pytest.approx(own, rel=packing.FLOAT_ERROR, abs=0)
    missing = unpacked(packing.pack_floats(np.array([np.nan, 1.0]))).reshape(3, -1)
    assert np.isnan(np.frombuffer(bytes([0, *missing[::-1, 0]]), "<f4")[0])
