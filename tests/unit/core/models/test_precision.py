"""Precision from what the CPU or GPU reports, and from what oneDNN does on it."""

from __future__ import annotations

import logging
import os
import platform
import subprocess
import sys
from pathlib import Path

import cpus
import pytest
import torch

from darksecrets.core.models import precision
from darksecrets.core.models.layers import _linear
from darksecrets.core.models.precision import fast_bfloat16, resolve
from darksecrets.core.run.errors import InputError

EVERY_KIND = pytest.mark.parametrize("kind", list(cpus.FLAGS))
DTYPES = (torch.float32, torch.bfloat16, torch.float64)


def test_unknown_precision_is_refused():
    with pytest.raises(InputError, match=r"float16.*auto, float32, bfloat16"):
        resolve("float16")


@EVERY_KIND
def test_auto_follows_the_cpu(monkeypatch, kind):
    cpus.become(kind, monkeypatch)
    assert resolve("auto") == ("bfloat16" if kind in cpus.FAST else "float32")


def test_auto_is_bfloat16_with_amx(monkeypatch):
    cpus.become("AVX-512", monkeypatch)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: {"amx_bf16": True})
    assert resolve("auto") == "bfloat16"


@EVERY_KIND
def test_bfloat16_is_kept_and_slowness_said_once(monkeypatch, caplog, kind):
    cpus.become(kind, monkeypatch)
    for _ in range(2):
        assert resolve("bfloat16") == "bfloat16"
    said = [record for record in caplog.records if record.levelno == logging.WARNING]
    assert len(said) == (kind not in cpus.FAST)


@EVERY_KIND
def test_onednn_is_tried_once_for_each_type(monkeypatch, kind):
    cpus.become(kind, monkeypatch)
    found = {dtype: precision.onednn_multiplies(dtype) for dtype in DTYPES}
    assert found == {dtype: kind in cpus.USED.get(dtype, ()) for dtype in DTYPES}
    monkeypatch.setattr(torch.ops, "mkldnn", None)  # not called again
    assert found == {dtype: precision.onednn_multiplies(dtype) for dtype in DTYPES}


def test_an_operation_that_multiplies_wrongly_is_not_used(monkeypatch):
    """As one whose arguments have another meaning in another release would."""
    cpus.become("AVX-512 BF16", monkeypatch)
    product = torch.ops.mkldnn._linear_pointwise
    wrong = lambda x, weight, *_: product(x, weight, None)  # noqa: E731
    monkeypatch.setattr(torch.ops.mkldnn, "_linear_pointwise", wrong)
    assert not precision.onednn_multiplies(torch.float32)


TRY = """
import torch
from darksecrets.core.models import precision
from darksecrets.core.models.layers import _linear
from darksecrets.core.models.shrinking import product_of_whole_numbers
assert not precision.onednn_multiplies(torch.bfloat16)
assert precision.resolve("auto") == "float32"
x, weight = torch.full((9, 2000), 127, dtype=torch.int8), torch.eye(2000, dtype=torch.int8)[:7]
assert (product_of_whole_numbers(x, weight) == 127).all()
assert (product_of_whole_numbers(x, x) == 2000 * 127**2).all()
assert (_linear(weight.float(), torch.ones(7))(x.float()) == 128).all()
"""


@pytest.mark.slow
@pytest.mark.skipif(platform.machine().lower() not in ("x86_64", "amd64"), reason="of x86 only")
def test_what_avx2_lacks_is_found_and_replaced(root):
    """The libraries themselves, told to use AVX2 only; the reported features stay the CPU's."""
    environment = os.environ | cpus.AVX2
    subprocess.run([sys.executable, "-c", TRY], cwd=root, env=environment, check=True)


@EVERY_KIND
@pytest.mark.parametrize("dtype", DTYPES, ids=str)
def test_linear_maps_are_right_on_every_cpu(monkeypatch, kind, dtype):
    cpus.become(kind, monkeypatch)
    generator = torch.Generator().manual_seed(0)
    x, weight, bias = (
        torch.randn(shape, generator=generator).to(dtype) for shape in ((3, 5, 48), (7, 48), (7,))
    )
    found = _linear(weight, bias)(x)
    expected = x.double() @ weight.double().T + bias.double()
    size = x.double().abs() @ weight.double().abs().T + bias.double().abs()
    assert found.dtype == dtype
    assert ((found - expected).abs() < 4 * torch.finfo(dtype).eps * size).all()


def saturated(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    """Products as with AVX2 only: inputs are made positive, and pairs are added in 16 bits."""
    products = (one.int()[:, :, None] + 128) * other.int()
    pairs = products.unflatten(1, (-1, 2)).sum(dim=2).clamp(-(2**15), 2**15 - 1)
    return pairs.sum(dim=1) - 128 * other.int().sum(dim=0)


def refused(one: torch.Tensor, other: torch.Tensor) -> torch.Tensor:
    raise RuntimeError("not implemented")


@pytest.mark.parametrize(
    ("product", "exact"),
    [
        (lambda one, other: (one.double() @ other.double()).int(), True),
        (saturated, False),
        (refused, False),
    ],
)
def test_products_of_8_bits_are_tried(monkeypatch, product, exact):
    monkeypatch.setattr(torch, "_int_mm", product)
    assert precision.int8_is_exact.__wrapped__() is exact
    if product is refused:
        monkeypatch.delattr(torch, "_int_mm")
        assert not precision.int8_is_exact.__wrapped__()


@pytest.mark.parametrize("capable", [True, False])
def test_auto_follows_the_gpu(monkeypatch, capable):
    def supported(including_emulation: bool) -> bool:
        return capable or including_emulation

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    assert fast_bfloat16() is capable


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="Linux lists the CPU's flags there")
@pytest.mark.skipif("ONEDNN_MAX_CPU_ISA" in os.environ, reason="oneDNN may not use all flags")
def test_agrees_with_the_kernels_flags(monkeypatch):
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    flags = set(Path("/proc/cpuinfo").read_text(encoding="ascii").split())
    assert fast_bfloat16() == bool(flags & {"avx512_bf16", "amx_bf16"})
