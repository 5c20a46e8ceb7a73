import numpy as np
import pytest
from safetensors.numpy import save_file

from darksecrets.models import weights
from darksecrets.run.errors import InputError

NAMES = ("a.weight", "a.bias", "b.LayerNorm.gamma")


def _save(folder, dtype=np.float32, **changes):
    rng = np.random.default_rng(3)
    tensors = {name: rng.normal(size=(400, 30)).astype(dtype) for name in NAMES}
    save_file(tensors | changes, folder / "model.safetensors")


@pytest.mark.parametrize("dtype", [np.float32, np.float16, np.float64])
def test_weights_are_numbers(tmp_path, dtype):
    _save(tmp_path, dtype, **{"mask": np.array([-np.inf], dtype), "c.bias": np.array([1, 2])})
    weights.check_numbers(tmp_path)
    assert weights.tensors_of(tmp_path) == 5


@pytest.mark.parametrize("number", [np.nan, np.inf, -np.inf, 2e6, -1e30])
@pytest.mark.parametrize("place", [0, 5000, 11_999])
def test_one_wrong_number_is_found_wherever_it_is(tmp_path, number, place):
    damaged = np.zeros((400, 30), np.float32)
    damaged.ravel()[place] = number
    _save(tmp_path, **{"a.bias": damaged})
    with pytest.raises(InputError, match=r"model\.safetensors: found .* among the weights a\.bias"):
        weights.check_numbers(tmp_path)


def test_of_large_files_parts_of_every_tensor_are_read(tmp_path):
    """With a tenth of the bytes to read, a tenth of the rows is, from all over a tensor."""
    budget = 3 * 400 * 30 * 4 // 10
    rows = []
    for row in range(400):
        damaged = np.zeros((400, 30), np.float32)
        damaged[row] = np.nan
        save_file(
            {"a.weight": damaged} | dict.fromkeys(NAMES[1:], damaged * 0),
            tmp_path / "model.safetensors",
        )
        try:
            weights.check_numbers(tmp_path, budget)
        except InputError:
            rows.append(row)
    assert 20 <= len(rows) <= 60
    assert max(np.diff(rows)) <= 400 / 16
    assert rows[0] == 0
    save_file(
        {"a.weight": damaged * np.nan} | {"a.bias": damaged * 0}, tmp_path / "model.safetensors"
    )
    with pytest.raises(InputError, match=r"a\.weight"):
        weights.check_numbers(tmp_path, budget)
