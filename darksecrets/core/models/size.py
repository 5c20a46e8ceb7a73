"""Size of an encoder, read from its ``config.json`` alone. This module does not need torch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from darksecrets.core.models import checkpoints
from darksecrets.core.run.errors import InputError

#: Configuration keys of each number in ``transformers``: for BERT, DistilBERT, GPT-2, T5, BART.
KEYS = {
    "layers": ("num_hidden_layers", "n_layers", "n_layer", "num_layers", "encoder_layers"),
    "heads": (
        "num_attention_heads",
        "n_heads",
        "n_head",
        "num_heads",
        "encoder_attention_heads",
    ),
    "hidden": ("hidden_size", "dim", "n_embd", "d_model"),
    "intermediate": (
        "intermediate_size",
        "hidden_dim",
        "n_inner",
        "d_ff",
        "d_inner",
        "encoder_ffn_dim",
        "ffn_dim",
    ),
    "vocabulary": ("vocab_size",),
}


@dataclass(frozen=True)
class Size:
    """Size of an encoder.

    Attributes:
        layers: Number of layers.
        heads: Number of heads per layer.
        hidden: Hidden size.
        intermediate: Hidden size of the feed-forward network.
        vocabulary: Number of word pieces.
    """

    layers: int
    heads: int
    hidden: int
    intermediate: int
    vocabulary: int

    @property
    def encoder(self) -> int:
        """Weights of the matrices that multiply every token."""
        return self.layers * (4 * self.hidden**2 + 2 * self.hidden * self.intermediate)

    @property
    def weights(self) -> int:
        """All weights but positions, biases and norms, which are negligible."""
        return self.encoder + self.vocabulary * self.hidden

    def activations(self, examples: int, tokens: int) -> int:
        """Bytes that training keeps for a batch: 34 hidden vectors and 8 map rows per token."""
        per_token = 34 * self.hidden + 8 * self.heads * tokens
        return 4 * examples * tokens * self.layers * per_token


BERT_BASE = Size(layers=12, heads=12, hidden=768, intermediate=3072, vocabulary=30522)


@cache
def read_size(file: Path) -> Size:
    """Read the size of an encoder from its ``config.json``.

    Raises:
        InputError: A number is missing or none; the message names the keys that would give it.
    """
    settings = checkpoints.read_settings(file)
    return Size(**{name: _number(settings, name, file) for name in KEYS})


def _number(settings: Mapping[str, Any], name: str, file: Path) -> int:
    for key in KEYS[name]:
        value = settings.get(key)
        if isinstance(value, int) and not isinstance(value, bool) and value > 0:
            return value
        if key == "n_inner" and key in settings:  # GPT-2's null
            return 4 * _number(settings, "hidden", file)
    if wrong := [f"{key}: {settings[key]!r}" for key in KEYS[name] if key in settings]:
        raise InputError(
            f"{file}: {wrong[0]} is not a positive whole number. Copy or download the file again."
        )
    raise InputError(
        f"{file} has none of the keys {', '.join(KEYS[name])}, of which one must be a "
        "number. Add the missing key to the model's configuration."
    )


def config_file(source: Mapping[str, Any], fetched: Path) -> Path | None:
    """The ``config.json`` of a model, if it is on this machine.

    Args:
        source: Section ``model`` of a configuration.
        fetched: Folder into which a run downloads a model from the Hub.
    """
    if source["source"] != "hub":
        return checkpoints.folder_of(source) / "config.json"
    file = fetched / "config.json"
    return file if file.is_file() else checkpoints.cached(source, "config.json")
