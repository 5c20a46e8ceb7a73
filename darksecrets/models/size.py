"""How large an encoder is, read from its ``config.json`` alone. Nothing here needs torch."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from darksecrets.models import checkpoints
from darksecrets.run.errors import InputError

#: Keys of each number in the configurations of ``transformers``: BERT's, DistilBERT's, GPT-2's,
#: T5's, BART's.
KEYS = {
    "layers": ("num_hidden_layers", "n_layers", "n_layer", "num_layers", "encoder_layers"),
    "heads": (
        *("num_attention_heads", "n_heads", "n_head", "num_heads"),
        "encoder_attention_heads",
    ),
    "hidden": ("hidden_size", "dim", "n_embd", "d_model"),
    "intermediate": (
        *("intermediate_size", "hidden_dim", "n_inner", "d_ff", "d_inner"),
        *("encoder_ffn_dim", "ffn_dim"),
    ),
    "vocabulary": ("vocab_size",),
}


@dataclass(frozen=True)
class Size:
    """Size of an encoder.

    Attributes:
        layers: Number of layers.
        heads: Number of heads of a layer.
        hidden: Numbers that a token is described by.
        intermediate: The same inside the feed-forward network.
        vocabulary: Word pieces that it knows.
    """

    layers: int
    heads: int
    hidden: int
    intermediate: int
    vocabulary: int

    @property
    def encoder(self) -> int:
        """Weights that every token is multiplied with."""
        return self.layers * (4 * self.hidden**2 + 2 * self.hidden * self.intermediate)

    @property
    def weights(self) -> int:
        """All weights; positions, biases and norms are too few to count."""
        return self.encoder + self.vocabulary * self.hidden

    def activations(self, examples: int, tokens: int) -> int:
        """Bytes that training keeps of a batch: per token 34 hidden units, and 8 maps' rows."""
        per_token = 34 * self.hidden + 8 * self.heads * tokens
        return 4 * examples * tokens * self.layers * per_token


BERT_BASE = Size(layers=12, heads=12, hidden=768, intermediate=3072, vocabulary=30522)


@cache
def read_size(file: Path) -> Size:
    """Read the size of an encoder from its ``config.json``.

    Raises:
        InputError: A number is missing; the message names the keys that would give it.
    """
    settings = json.loads(file.read_text(encoding="utf-8"))
    return Size(**{name: _number(settings, name, file) for name in KEYS})


def _number(settings: Mapping[str, Any], name: str, file: Path) -> int:
    for key in KEYS[name]:
        if isinstance(settings.get(key), int):
            return int(settings[key])
        if key == "n_inner" and key in settings:  # GPT-2's null
            return 4 * _number(settings, "hidden", file)
    raise InputError(
        f"{file}: found none of the keys {', '.join(KEYS[name])}, expected one of them with a "
        "number. Give the model's configuration what it lacks."
    )


def config_file(source: Mapping[str, Any], fetched: Path) -> Path | None:
    """The ``config.json`` of a model, if it is on this machine.

    Args:
        source: Section ``model`` of a configuration.
        fetched: Folder into which a run fetches a model from the Hub.
    """
    if source["source"] != "hub":
        return checkpoints.folder_of(source) / "config.json"
    file = fetched / "config.json"
    return file if file.is_file() else checkpoints.cached(source, "config.json")
