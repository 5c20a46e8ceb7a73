"""Get the pre-trained encoder of a run, step by step (section 3).

Its files, its configuration, its tokenizer, whether these belong together, and its maps are checked
in this order; then it is written for all other jobs.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.core.models import checkpoints, suitability
from darksecrets.core.models.loading import ENCODER, load, load_encoder, load_masked
from darksecrets.core.models.quietly import quiet
from darksecrets.core.models.size import read_size
from darksecrets.core.models.tokenizing import check_tokenizer, load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, fingerprint

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


_LAYERS_AT_LEAST = 100  # that share their weights
_UNSEEN_ROWS = 100, 0.01
"""Embeddings that a tokenizer may leave without a word piece: number, or share of all."""


def get_pretrained(source: Mapping[str, Any], output: Path, *, max_length: int) -> dict[str, Any]:
    """Write the encoder and the tokenizer of a pre-trained checkpoint to ``output``.

    Output layers of other tasks (masked language model, a classifier) are dropped, so every
    experiment begins with a classifier of its own. The encoder's weights and their data type are
    unchanged.

    Args:
        source: Section ``model`` of a configuration: ``source`` is ``folder`` (with ``folder``) or
            ``hub`` (with ``id`` and ``revision``).
        output: Folder to write ``config.json``, ``model.safetensors`` and the tokenizer to.
        max_length: Longest sequence of the run, in tokens.

    Returns:
        For the record: the source, the resolved ``revision`` (Hub only), the ``fingerprint``
        of the output, and the parameters ``not_in_checkpoint`` and ``left_out``.

    Raises:
        InputError: If the checkpoint is not available or cannot be used.
    """
    folder = fetch_encoder(source, max_length=max_length)
    tokenizer = load_tokenizer(folder)
    encoder, info = load(folder, ENCODER)
    missing = info["missing_keys"]
    weights = {k: v for k, v in encoder.state_dict().items() if k not in missing}
    with atomic(output) as temporary, quiet():
        encoder.save_pretrained(temporary, state_dict=weights)
        tokenizer.save_pretrained(temporary)
    return {
        "source": {k: v for k, v in source.items() if v is not None},
        **({"revision": folder.name} if source["source"] == "hub" else {}),
        "fingerprint": fingerprint(output),
        "not_in_checkpoint": sorted(missing),
        "left_out": sorted(info["unexpected_keys"]),
    }


def get_masked(source: Mapping[str, Any], output: Path, *, max_length: int) -> dict[str, Any]:
    """Write a pre-trained checkpoint with the head that predicts masked words to ``output``.

    Args:
        source: See `get_pretrained`.
        output: Folder to write the model and its tokenizer to.
        max_length: Longest sequence of the run, in tokens.

    Returns:
        For the record: the ``fingerprint`` of the output.

    Raises:
        InputError: As `get_pretrained`; or the checkpoint has no such head, or a damaged one.
    """
    folder = fetch_encoder(source, max_length=max_length)
    tokenizer, model = load_tokenizer(folder), load_masked(folder)
    for name, weights in model.named_parameters():
        # The encoder's were tried on a text; with a damaged head, no word has a probability.
        if not weights.isfinite().all():
            raise InputError(
                f"{folder}: the weights {name} have a value that is no finite number, as damaged "
                "files have. Copy or download the checkpoint again."
            )
    with atomic(output) as temporary, quiet():
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
    return {"fingerprint": fingerprint(output)}


def fetch_encoder(source: Mapping[str, Any], *, max_length: int) -> Path:
    """Folder of a pre-trained checkpoint, downloaded if need be, that can be used as it is.

    Args:
        source: See `get_pretrained`.
        max_length: Longest sequence that it is to read, in tokens.

    Raises:
        InputError: If the checkpoint is not available or cannot be used.
    """
    folder = checkpoints.fetch(source)
    checkpoints.check_files(folder)
    suitability.check_configuration(folder, max_length)
    check_fit(folder, max_length)
    # In float32, as all jobs run it: rows of a map in half precision do not sum to 1.
    suitability.check_maps(load_encoder(folder), folder, max_length)
    return folder


def check(source: Mapping[str, Any], max_length: int) -> None:
    """Check a checkpoint on this machine, without reading its weights, for plans.

    Of one on the Hub, only the configuration is checked, and only if it is in the cache; everything
    is checked after its download.

    Args:
        source: Section ``model`` of a configuration.
        max_length: Longest sequence of the run, in tokens.

    Raises:
        InputError: What is missing, or why the experiments cannot use it.
    """
    if source["source"] == "hub":
        if file := checkpoints.cached(source, "config.json"):
            suitability.check_configuration(file.parent, max_length)
        return
    folder = checkpoints.folder_of(source)
    checkpoints.check_files(folder)
    if not checkpoints.is_shipped(folder) or max_length > _positions_of_bert(folder):
        suitability.check_configuration(folder, max_length)


def _positions_of_bert(folder: Path) -> int:
    """Tokens that a BERT has positions for, from its ``config.json``."""
    return int(checkpoints.read_settings(folder / "config.json")["max_position_embeddings"])


def check_fit(folder: Path, max_length: int) -> None:
    """Check that weights, tokenizer and configuration of a checkpoint belong together.

    The weights' names and shapes are read from the headers of their files.

    Args:
        folder: The checkpoint.
        max_length: Longest sequence of the run, in tokens.

    Raises:
        InputError: Says what does not fit.
    """
    tokenizer = check_tokenizer(folder, max_length)
    layers = read_size(folder / "config.json").layers
    tensors = len(checkpoints.tensor_names(folder))
    if layers > _LAYERS_AT_LEAST + tensors:  # a model of as many layers would be built
        raise InputError(
            f"{folder}/config.json names {layers} layers, but the files of weights have only "
            f"{tensors} tensors. Expected config.json and weights of one model: copy or download "
            "both again."
        )
    encoder, _ = load(folder, ENCODER, device_map="meta")
    _check_vocabulary(folder, tokenizer, encoder)


def _check_vocabulary(
    folder: Path, tokenizer: PreTrainedTokenizerBase, encoder: PreTrainedModel
) -> None:
    """Raise an error if the tokenizer is not the one that the model was trained with.

    Its ids must have embeddings, few embeddings may be without an id (models pad their number), and
    where positions are counted from padding, as in RoBERTa, padding must have the same id.
    """
    pieces, rows = len(tokenizer), encoder.config.vocab_size
    number, share = _UNSEEN_ROWS
    if pieces > rows or rows - pieces > max(number, share * rows):
        raise InputError(
            f"{folder}: the tokenizer has {pieces} word pieces, the model embeddings for {rows}. "
            "Expected the tokenizer that the model was trained with."
        )
    found, expected = tokenizer.pad_token_id, suitability.padding_of_positions(encoder)
    if expected is not None and found != expected:
        raise InputError(
            f"{folder}: padding has the id {found} in the tokenizer, but {expected} in "
            "config.json (pad_token_id), from which the model counts positions. Expected the "
            "tokenizer that the model was trained with."
        )
