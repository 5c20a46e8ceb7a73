"""How an encoder reads texts, and how it is loaded for that."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.core.models.devices import place
from darksecrets.core.models.loading import Draw, draw_from_normal, load_encoder
from darksecrets.core.models.tokenizing import load_tokenizer

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


@dataclass(frozen=True)
class Reading:
    """An encoder, and how it is run over texts.

    Attributes:
        folder: Its Hugging Face folder, with or without a classifier.
        max_length: Longest sequence kept, in tokens.
        batch_size: Batch size on a CPU.
        draw: How to draw all weights anew; None to keep them.
    """

    folder: Path
    max_length: int
    batch_size: int
    draw: Draw | None = None

    def tokenizer(self) -> PreTrainedTokenizerBase:
        """The tokenizer of the encoder."""
        return load_tokenizer(self.folder)

    def load(self) -> PreTrainedModel:
        """The encoder, on the device to use."""
        model = load_encoder(self.folder)
        if self.draw is not None:
            draw_from_normal(model, self.draw.seed, self.draw.std)
        return place(model)


def readings(
    models: Iterable[str], folders: Iterable[Path], *, std: float, max_length: int, batch_size: int
) -> dict[str, Reading]:
    """How several encoders are run, by name; those called ``random`` have their weights drawn.

    Args:
        models: Names such as ``pretrained`` or ``random/seed-1``.
        folders: The folder of each.
        std: Standard deviation of weights that are drawn.
        max_length: See `Reading`.
        batch_size: See `Reading`.
    """
    return {
        model: Reading(folder, max_length, batch_size, Draw.of(model, std))
        for model, folder in zip(models, folders, strict=True)
    }
