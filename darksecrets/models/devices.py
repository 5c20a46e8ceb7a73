"""Where models run, on the GPU if there is one, else on the CPU; and how large batches are."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import torch

if TYPE_CHECKING:
    from transformers import PreTrainedConfig

Module = TypeVar("Module", bound=torch.nn.Module)

#: Part of a GPU's free memory that inputs which go through a model together may fill, by the
#: estimates below; the rest is for what they do not count, and for memory in pieces.
SHARE = 0.5

#: Sequences that go through a model together on a GPU at most: of 128 tokens they are 2**16,
#: enough to occupy one (not measured).
SEQUENCES = 512

_FLOAT32 = 4


def best() -> torch.device:
    """The GPU if this process sees one, else the CPU."""
    return torch.device("cuda" if torch.cuda.is_available() else "cpu")


def use_float32() -> None:
    """Let float32 be float32 on a GPU, in this process.

    TensorFloat-32 keeps 10 bits of the mantissa and is PyTorch's default for convolutions.
    """
    torch.backends.cuda.matmul.allow_tf32 = False
    torch.backends.cudnn.allow_tf32 = False


def place(model: Module) -> Module:
    """Move a model to the `best` device, to compute in float32 there, see `use_float32`."""
    use_float32()
    return model.to(best())


def batch_size(device: torch.device, bytes_each: int, *, cpu: int, gpu: int) -> int:
    """Inputs that go through a model together; results depend on their number by rounding only.

    Args:
        device: Where the model is.
        bytes_each: Estimate of the memory that one input takes.
        cpu: Batch size on a CPU, whatever its memory.
        gpu: Largest batch size on a GPU; smaller, but at least 1, where memory is short.
    """
    if device.type != "cuda":
        return cpu
    return max(1, min(gpu, int(SHARE * _free(device)) // bytes_each))


def sequence_bytes(config: PreTrainedConfig, tokens: int) -> int:
    """Estimate the memory of a sequence's forward pass through an encoder in float32.

    A layer at a time: 8 times the hidden states (input, queries, keys, values, outputs), the
    feed-forward part twice at its usual fourfold size, and each map three times (products, masked,
    softmaxed), which fused kernels never hold.
    """
    hidden = 16 * tokens * config.hidden_size
    maps = 3 * config.num_attention_heads * tokens**2
    return int(_FLOAT32 * (hidden + maps))


def _free(device: torch.device) -> int:
    """Bytes that PyTorch can still give out: the GPU's free ones, and those that it keeps."""
    free, _ = torch.cuda.mem_get_info(device)
    return free + torch.cuda.memory_reserved(device) - torch.cuda.memory_allocated(device)
