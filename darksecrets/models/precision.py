"""Precision of training: float32 or bfloat16."""

from __future__ import annotations

from darksecrets.run.errors import InputError

PRECISIONS = ("auto", "float32", "bfloat16")

# Instructions that multiply bfloat16 matrices in hardware. Without them PyTorch converts
# to float32 and back, which is slower than float32 itself.
FAST_BFLOAT16 = ("avx512_bf16", "amx_bf16")


def fast_bfloat16() -> bool:
    """Tell whether the device that ``Trainer`` picks multiplies bfloat16 matrices in hardware.

    The answer comes from the reported CPU features, not from a measurement, so that the same
    machine always gives the same numbers, however busy it is. It is yes for NVIDIA GPUs since
    Ampere and x86 CPUs with AVX-512 BF16 or AMX, and no for anything untested.
    """
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if torch.accelerator.is_available():
        return False
    capabilities = torch.cpu.get_capabilities()
    return any(capabilities.get(name, False) for name in FAST_BFLOAT16)


def resolve(precision: str) -> str:
    """Return ``float32`` or ``bfloat16``; ``auto`` is bfloat16 if the hardware has it natively.

    bfloat16 means mixed precision (autocast): the weights and the optimiser stay in float32.

    Raises:
        InputError: ``precision`` is none of ``PRECISIONS``.
    """
    if precision not in PRECISIONS:
        raise InputError(
            f"Unknown precision {precision!r}. Expected one of {', '.join(PRECISIONS)}."
        )
    if precision == "auto":
        return "bfloat16" if fast_bfloat16() else "float32"
    return precision
