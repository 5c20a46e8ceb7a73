"""Device and batch size: models run on the GPU if there is one, else on the CPU."""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, TypeVar

import torch

from darksecrets.core.run import gpus

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

Module = TypeVar("Module", bound=torch.nn.Module)

#: Share of a GPU's free memory that a batch may fill by the estimates below. The rest is for what
#: they leave out, and for fragmentation.
SHARE = 0.5

#: Largest batch size on a GPU: with 128 tokens each, 2**16 tokens, which should be enough to keep
#: a GPU busy (not measured).
SEQUENCES = 512

_FLOAT32 = 4


def best() -> torch.device:
    """The GPU if this process sees one, else the CPU; of a shared GPU, only a part is used."""
    if not torch.cuda.is_available():
        return torch.device("cpu")
    if gpus.sharing() > 1:
        torch.cuda.set_per_process_memory_fraction(1 / gpus.sharing())
    return torch.device("cuda")


def use_float32() -> None:
    """Turn off TensorFloat-32 on the GPU for this process.

    It keeps 10 bits of the mantissa and is PyTorch's default for convolutions.
    """
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def place(model: Module) -> Module:
    """Move a model to the `best` device and turn off TensorFloat-32 (`use_float32`)."""
    use_float32()
    return model.to(best())


def move(tensors: Mapping[str, torch.Tensor], device: torch.device) -> dict[str, torch.Tensor]:
    """The inputs of a model on its device."""
    return {name: tensor.to(device) for name, tensor in tensors.items()}


def batch_size(device: torch.device, bytes_each: int, *, cpu: int, gpu: int) -> int:
    """Number of inputs in a batch; it changes results only by rounding.

    Args:
        device: Where the model is.
        bytes_each: Estimated memory of one input.
        cpu: Batch size on a CPU, regardless of its memory.
        gpu: Largest batch size on a GPU; less, but at least 1, if memory is short.
    """
    if device.type != "cuda":
        return cpu
    return max(1, min(gpu, int(SHARE * _free(device)) // bytes_each))


def sequence_bytes(config: PreTrainedConfig, tokens: int) -> int:
    """Estimate the memory of one sequence's forward pass through an encoder in float32.

    Layers run one after the other. A layer holds 8 times the hidden states (input, queries, keys,
    values, outputs), the feed-forward part twice at its usual fourfold size, and each map three
    times (scores, masked, softmaxed), which fused kernels never store.
    """
    hidden = 16 * tokens * config.hidden_size
    maps = 3 * config.num_attention_heads * tokens**2
    return int(_FLOAT32 * (hidden + maps))


def _free(device: torch.device) -> int:
    """Bytes that PyTorch can still allocate: free GPU memory and its own unused cache.

    Of a GPU that jobs share, no more than is left of this job's part.
    """
    free, whole = torch.cuda.mem_get_info(device)
    used = torch.cuda.memory_allocated(device)
    possible = free + torch.cuda.memory_reserved(device) - used
    return max(0, min(possible, whole // gpus.sharing() - used))
