"""Compressed models on disk, as programs that PyTorch alone can run."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.compression.measuring import compress
from darksecrets.models.removal import PROGRAM, save_program
from darksecrets.run.files import atomic

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

    from darksecrets.compression.methods import Variant

RECORD = "compression.json"


def save_all(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    variants: Sequence[Variant],
    folder: Path,
) -> dict[str, int]:
    """Save every compressed model but the control in a folder of its own.

    Args:
        model: The whole model; it is left as it is.
        tokenizer: Its tokenizer, which is saved beside each.
        variants: How they are compressed.
        folder: Where to save; it appears complete or not at all.

    Returns:
        Bytes of every program, by the name of its folder.
    """
    saved = {}
    with atomic(folder) as temporary:
        for variant in variants:
            if variant.is_control:
                continue
            about = {"method": variant.method, "amount": variant.amount, "detail": variant.detail}
            place = temporary / variant.slug
            save_program(compress(model, variant), tokenizer, place, RECORD, about)
            saved[variant.slug] = (place / PROGRAM).stat().st_size
    return saved
