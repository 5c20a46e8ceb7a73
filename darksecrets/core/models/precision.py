"""What the hardware can do in float32, bfloat16 and 8 bits; the only place that asks.

Every CPU computes everything: what it lacks is done by other operations. `fast_bfloat16` decides
what ``auto`` means, `onednn_multiplies` and `int8_is_exact` which operation multiplies matrices.
"""

from __future__ import annotations

import functools
import logging
import platform
from typing import TYPE_CHECKING

from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    import torch

PRECISIONS = ("auto", "float32", "bfloat16")

# Instructions that multiply bfloat16 matrices in hardware. Without them PyTorch converts
# to float32 and back, which is slower than float32 itself.
FAST_BFLOAT16 = ("avx512_bf16", "amx_bf16")

_log = logging.getLogger(__name__)


def fast_bfloat16() -> bool:
    """Tell whether the device that ``Trainer`` picks multiplies bfloat16 matrices in hardware.

    The answer comes from the reported CPU features and from whether oneDNN uses them, not from a
    measurement, so that the same machine always gives the same numbers, however busy it is. It is
    yes for NVIDIA GPUs since Ampere and x86 CPUs with AVX-512 BF16 or AMX, and no for anything
    untested.
    """
    import torch

    if torch.cuda.is_available():
        return bool(torch.cuda.is_bf16_supported(including_emulation=False))
    if torch.accelerator.is_available():
        return False
    capabilities = torch.cpu.get_capabilities()
    reported = any(capabilities.get(name, False) for name in FAST_BFLOAT16)
    return reported and onednn_multiplies(torch.bfloat16)


@functools.cache
def onednn_multiplies(dtype: torch.dtype) -> bool:
    """Tell whether oneDNN multiplies matrices of a type on this CPU, and is worth it.

    PyTorch has these operations in its private namespace, and oneDNN refuses bfloat16 on x86 CPUs
    with AVX2 only. So they are tried, once per process and type, on integers that both types hold
    exactly. The answer is no where `torch.nn.functional.linear` is as fast or faster: in float32
    without AVX-512, for other types, and, as nobody has measured it, for CPUs other than x86.
    """
    import torch

    known = dtype in (torch.float32, torch.bfloat16)
    if not known or platform.machine().lower() not in ("x86_64", "amd64"):
        return False
    if dtype == torch.float32 and not torch.cpu.get_capabilities().get("avx512_f", False):
        return False
    x, weight, bias = (
        (torch.arange(count) % 3).view(shape).to(dtype)
        for count, shape in ((32, (2, 16)), (128, (8, 16)), (8, (8,)))
    )
    expected = (x[:, None] * weight).sum(dim=-1) + bias
    try:
        for given in (weight, torch.ops.mkldnn._reorder_linear_weight(weight, len(x))):
            found = torch.ops.mkldnn._linear_pointwise(x, given, bias, "none", [], "")
            if not torch.equal(found, expected):
                raise ArithmeticError("products are wrong")
    # Missing in this build, refused on this CPU, or wrong.
    except (AttributeError, RuntimeError, ArithmeticError) as error:
        _log.info("%s: torch.nn.functional.linear is used, as oneDNN fails: %s", dtype, error)
        return False
    return True


@functools.cache
def int8_is_exact() -> bool:
    """Tell whether PyTorch multiplies matrices of 8-bit integers on this CPU without overflow.

    On x86 CPUs without VNNI, oneDNN adds pairs of products in 16 bits and cuts off what exceeds
    them (https://oneapi-src.github.io/oneDNN/dev_guide_int8_computations.html). So it is tried,
    once per process, on the greatest numbers.
    """
    import torch

    greatest = torch.full((16, 64), torch.iinfo(torch.int8).max, dtype=torch.int8)
    expected = (greatest[0].int() ** 2).sum().item()
    try:
        return bool((torch._int_mm(greatest, greatest.T) == expected).all())
    except (AttributeError, RuntimeError):
        return False


@functools.cache
def warn_if_slow() -> None:
    """Log once per process that bfloat16 is slow here, if it is; to be called where it is used."""
    if not fast_bfloat16():
        _log.warning(
            "bfloat16 is set, but this hardware is not fast at it: results are as valid, but take "
            "longer than in float32, which `auto` would choose."
        )


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
    if precision == "bfloat16":
        warn_if_slow()
    return precision
