"""Precision from the reported features of the CPU or GPU."""

from __future__ import annotations

from pathlib import Path

import pytest
import torch

from darksecrets.models.precision import fast_bfloat16, resolve
from darksecrets.run.errors import InputError


@pytest.mark.parametrize("precision", ["float32", "bfloat16"])
def test_a_named_precision_is_kept(precision: str) -> None:
    assert resolve(precision) == precision


def test_unknown_precision_is_refused() -> None:
    with pytest.raises(InputError, match=r"float16.*auto, float32, bfloat16"):
        resolve("float16")


@pytest.mark.parametrize(
    ("flags", "expected"),
    [
        ({}, "float32"),
        ({"avx512_f": True, "avx512_bf16": False}, "float32"),
        ({"avx512_f": True, "avx512_bf16": True}, "bfloat16"),
        ({"amx_bf16": True}, "bfloat16"),
    ],
)
def test_auto_follows_the_cpu(
    monkeypatch: pytest.MonkeyPatch, flags: dict[str, bool], expected: str
) -> None:
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: flags)
    assert resolve("auto") == expected


@pytest.mark.parametrize("capable", [True, False])
def test_auto_follows_the_gpu(monkeypatch: pytest.MonkeyPatch, capable: bool) -> None:
    def supported(including_emulation: bool) -> bool:
        return capable or including_emulation

    monkeypatch.setattr(torch.cuda, "is_available", lambda: True)
    monkeypatch.setattr(torch.cuda, "is_bf16_supported", supported)
    assert fast_bfloat16() is capable


@pytest.mark.skipif(not Path("/proc/cpuinfo").exists(), reason="Linux lists the CPU's flags there")
def test_agrees_with_the_kernels_flags(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    flags = set(Path("/proc/cpuinfo").read_text(encoding="ascii").split())
    assert fast_bfloat16() == bool(flags & {"avx512_bf16", "amx_bf16"})
