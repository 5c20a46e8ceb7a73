"""What the weights of a model take as saved, with their zeros and without."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
import torch

BITS, VALUES = ".bits", ".values"
_WORTHWHILE = 1 / 32
"""Share of zeros from which a bit for every number takes less than the zeros do, in float32."""


def saved_bytes(tensors: Mapping[str, torch.Tensor]) -> int:
    """Size of a safetensors file with these tensors."""
    from safetensors.torch import save

    return len(save({name: tensor.contiguous() for name, tensor in tensors.items()}))


def pack_zeros(tensors: Mapping[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    """The same tensors; those with many zeros as a bit for every number, and the other numbers.

    Args:
        tensors: By name.

    Returns:
        Tensors by name; instead of ``x`` there may be ``x.bits`` (uint8, eight numbers in each,
        the first in the highest bit) and ``x.values``.
    """
    packed: dict[str, torch.Tensor] = {}
    for name, tensor in tensors.items():
        flat = tensor.flatten()
        kept = flat != 0
        if tensor.dtype == torch.float32 and 1 - kept.float().mean() > _WORTHWHILE:
            packed[name + BITS] = torch.from_numpy(np.packbits(kept.numpy()))
            packed[name + VALUES] = flat[kept]
        else:
            packed[name] = tensor
    return packed
