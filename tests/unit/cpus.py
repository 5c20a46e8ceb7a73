"""Kinds of CPUs, simulated by what they report and by which of oneDNN's operations they refuse."""

import functools
import platform
from types import SimpleNamespace

import pytest
import torch
from torch.nn import functional as F

from darksecrets.core.models import precision

REFUSED = "bf16 path needs the cpu support"
FLAGS = {
    "AVX-512 BF16": {"avx2": True, "avx512_f": True, "avx512_bf16": True, "amx_bf16": False},
    "AVX-512": {"avx2": True, "avx512_f": True, "avx512_bf16": False, "amx_bf16": False},
    "AVX2": {"avx2": True, "avx512_f": False, "avx512_bf16": False, "amx_bf16": False},
    "AVX-512 BF16, which oneDNN may not use": {"avx512_f": True, "avx512_bf16": True},
    "AVX-512 BF16, without oneDNN": {"avx512_f": True, "avx512_bf16": True},
    "ARM": {"architecture": "aarch64", "neon": True, "bf16": True, "sve_bf16": True},
}
"""What `torch.cpu.get_capabilities` says."""

FAST = frozenset(["AVX-512 BF16"])
ONEDNN = {
    torch.float32: frozenset(FLAGS) - {"AVX-512 BF16, without oneDNN", "ARM"},
    torch.bfloat16: frozenset(["AVX-512 BF16", "AVX-512"]),
}
"""The kinds whose matrices of a type oneDNN can multiply."""
USED = ONEDNN | {torch.float32: ONEDNN[torch.float32] - {"AVX2"}}
"""Those where it is to do so: with AVX2, other products are faster."""

AVX2 = {
    "ONEDNN_MAX_CPU_ISA": "AVX2",
    "ATEN_CPU_CAPABILITY": "avx2",
    "MKL_ENABLE_INSTRUCTIONS": "AVX2",
    "CUDA_VISIBLE_DEVICES": "",
}
"""Variables that keep PyTorch in a new process from using more than AVX2 on x86, and from GPUs."""


def become(kind: str, monkeypatch: pytest.MonkeyPatch) -> None:
    """Be a CPU of this kind, in a process that has not asked for anything yet, without a GPU.

    What oneDNN can do is computed by `torch.nn.functional.linear`.
    """
    monkeypatch.setattr(torch.cuda, "is_available", lambda: False)
    monkeypatch.setattr(torch.accelerator, "is_available", lambda: False)
    monkeypatch.setattr(torch.cpu, "get_capabilities", lambda: FLAGS[kind])
    monkeypatch.setattr(platform, "machine", lambda: "aarch64" if kind == "ARM" else "x86_64")

    def checked(tensor: torch.Tensor) -> torch.Tensor:
        if kind not in ONEDNN[tensor.dtype]:
            raise RuntimeError(REFUSED)
        return tensor

    operations = SimpleNamespace(
        _reorder_linear_weight=lambda weight, _rows: checked(weight),
        _linear_pointwise=lambda x, weight, bias, *_: F.linear(checked(x), weight, bias),
    )
    missing = kind in ("ARM", "AVX-512 BF16, without oneDNN")
    monkeypatch.setattr(torch.ops, "mkldnn", SimpleNamespace() if missing else operations)
    for name in ("onednn_multiplies", "warn_if_slow"):
        new = functools.cache(getattr(precision, name).__wrapped__)
        monkeypatch.setattr(precision, name, new)
