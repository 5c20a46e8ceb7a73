"""Which encoder a folder holds, whatever it is called and however it was saved."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

from darksecrets.core.models.checkpoints import read_settings, weight_files

_SHAPE = ("num_hidden_layers", "num_attention_heads", "n_layers", "n_heads")
"""Keys of a configuration that weights alone do not tell; some types have their own names."""
_BESIDE = ("pooler", "cls.", "classifier", "lm_head", "predictions", "position_ids")
"""Parts of names of tensors that are no part of an encoder."""


def identify_encoder(folder: Path) -> str:
    """SHA-256 of an encoder: of its weights, and of its numbers of layers and heads.

    Weights are compared as float32 and without their names, which depend on the model around the
    encoder and on the version that saved it. So all copies of an encoder have the same identity,
    and a fine-tuned or pruned one has another.

    Args:
        folder: A checkpoint, with its configuration and weights.
    """
    import torch
    from safetensors import safe_open

    config = read_settings(folder / "config.json")
    found = []
    for file in weight_files(folder):
        with safe_open(file, framework="pt") as tensors:
            for name in tensors.keys():  # noqa: SIM118 - not a dictionary
                if not any(part in name for part in _BESIDE):
                    values = tensors.get_tensor(name).to(torch.float32).contiguous()
                    content = str(tuple(values.shape)).encode() + values.numpy().tobytes()
                    found.append(hashlib.sha256(content).hexdigest())
    shape = sorted(config[key] for key in _SHAPE if key in config)
    return hashlib.sha256(json.dumps([shape, sorted(found)]).encode()).hexdigest()
