"""Check the numbers in a checkpoint's weight files, before the first job."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    import torch

LARGEST = 1e6
"""No trained weight comes near; many that a damaged byte or a diverged training makes exceed it."""
BUDGET = 2 * 10**9
"""Bytes of weights that are read: about 2 s. Of larger checkpoints, evenly spaced parts of every
tensor are read, which finds what is wrong in many places, such as a diverged training."""

_BLOCKS = 16  # parts of a tensor that is not read as a whole
_PARAMETERS = ("weight", "bias", "gamma", "beta")  # buffers, such as masks, may be infinite


def files_of(folder: Path) -> list[Path]:
    """The weight files of a checkpoint."""
    return sorted(folder.glob("model*.safetensors"))


def tensors_of(folder: Path) -> int:
    """Number of tensors in a checkpoint, from the headers of its files."""
    from safetensors import safe_open

    count = 0
    for file in files_of(folder):
        with safe_open(file, framework="numpy") as content:
            count += len(content.keys())
    return count


def check_numbers(folder: Path, budget: int = BUDGET) -> None:
    """Check that the weights of a checkpoint are numbers of a plausible size.

    Args:
        folder: The checkpoint; its files are complete (`checkpoints.check_weights`).
        budget: Bytes to read, see `BUDGET`.

    Raises:
        InputError: Names the file and the tensor that has NaN, an infinite or a huge number.
    """
    from safetensors import safe_open

    files = files_of(folder)
    share = min(1.0, budget / max(1, sum(file.stat().st_size for file in files)))
    for file in files:
        with safe_open(file, framework="pt") as content:
            for name in content.keys():  # noqa: SIM118 - not a dictionary
                if name.rsplit(".", 1)[-1] in _PARAMETERS:
                    for part in _parts(content.get_slice(name), share):
                        _check(part, name, file)


def _parts(tensor: Any, share: float) -> Iterator[torch.Tensor]:  # noqa: ANN401 - a lazy slice
    """A tensor, or evenly spaced rows that are about a share of it."""
    rows = (tensor.get_shape() or [0])[0]
    if share >= 1 or rows < _BLOCKS:
        yield tensor[:]
        return
    block, step = max(1, int(rows * share / _BLOCKS)), rows // _BLOCKS
    for start in range(0, rows, step):
        yield tensor[start : start + block]


def _check(part: torch.Tensor, name: str, file: Path) -> None:
    if not part.is_floating_point() or not part.numel():
        return
    largest = float(part.abs().max())  # NaN if one is NaN
    if not largest <= LARGEST:
        raise InputError(
            f"{file}: found {largest:g} among the weights {name}, expected numbers of at most "
            f"{LARGEST:g}. The file is damaged, or its training diverged: copy or download it "
            "again, or use another checkpoint."
        )
