"""Whether the experiments can use an encoder, by its configuration and by the maps that it gives.

What needs torch imports it, so that plans are quick.
"""

from __future__ import annotations

import contextlib
import math
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.core.models import checkpoints
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel


_SHORT = 4
"""Tokens of the shorter text of a trial, see `darksecrets.core.models.session.trial_inputs`."""
_EQUAL = 1e-6
"""Difference from 1 over the length at which a weight is that of a uniform map."""
_RELATIVE = "relative_key"
"""Positions that BERT and its relatives could have in earlier versions of `transformers`."""


def check_configuration(folder: Path, max_length: int) -> None:
    """Check that a configuration is that of an encoder for texts of the run's length.

    What the model computes is checked by `check_maps`, once its weights are there.

    Args:
        folder: The checkpoint.
        max_length: Longest sequence of the run, in tokens.

    Raises:
        InputError: Says what the configuration lacks.
    """
    config = _classifier_config(folder)
    heads = getattr(config, "num_attention_heads", 0)
    if heads < 1:
        raise _unusable(folder, config, f"{heads} heads", "one or more")
    with _any_error_is(folder, config, "a model of this configuration"):
        model = _outline(config)
    weights = sum(parameter.numel() for parameter in model.parameters())
    found = sum(file.stat().st_size for file in checkpoints.weight_files(folder))
    # A weight takes at least a byte. Of a model on the Hub, only config.json may be there.
    if found and weights > found:
        raise InputError(
            f"{folder}/config.json has sizes that mean {weights:.1e} weights in its first "
            f"layers alone, but the files of weights have {found} bytes. Expected config.json and "
            "weights of one model: copy or download both again."
        )
    positions = _positions(model)
    if positions is not None and positions < max_length:
        raise InputError(
            f"{folder}: the model takes at most {positions} tokens, but fine_tuning.max_length is "
            f"{max_length}. Set it to {positions} or less."
        )


def check_maps(model: PreTrainedModel, folder: Path, max_length: int) -> None:
    """Check that an encoder returns a map for every layer and head, by one pass through it.

    It reads two texts, one of ``max_length`` tokens and one of 4, padded. Its tokens must attend in
    both directions; maps must be [text, head, query, key], and rows must sum to 1 over the real
    tokens.

    Args:
        model: The encoder, in evaluation mode.
        folder: Its checkpoint, for messages.
        max_length: Longest sequence of the run, in tokens.

    Raises:
        InputError: Says what the maps lack.
    """
    import torch

    from darksecrets.core.models.reach import windows_of
    from darksecrets.core.models.session import is_reachable, observe, trial_inputs

    config = model.config
    layers, heads = config.num_hidden_layers, config.num_attention_heads
    wanted = f"{layers} maps of {heads} heads"
    with (
        _any_error_is(folder, config, wanted),
        torch.inference_mode(),
        observe(model, maps=True) as seen,
    ):
        model(**trial_inputs(model, max_length))
    maps = list(seen.maps.values())
    shapes = [tuple(each.shape) for each in maps]
    if shapes != [(2, heads, max_length, max_length)] * layers:
        raise _unusable(folder, config, f"maps of the shapes {shapes}", wanted)
    if not any(each[0].triu(1).any() for each in maps):
        raise _no_encoder(folder, config, "a decoder")
    if not _sum_to_1(maps, max_length):
        found = "rows that do not sum to 1, as damaged weights give"
        if not _type_sums_to_1(folder):
            found = "rows that do not sum to 1, whatever its weights: the type is not supported"
        raise _unusable(folder, config, found, "rows that do")
    if all((each[0] - 1 / max_length).abs().max() <= _EQUAL for each in maps):
        found = "the same attention everywhere, as weights of zeros give"
        raise _unusable(folder, config, found, "maps that differ from place to place")
    windows_of(model, max_length)
    # Local attention must be known from masks, not only as weights of 0.
    if not is_reachable(model) and any((each[0] == 0).any() for each in maps):
        found = "places of a map that a token does not attend to"
        raise _unusable(folder, config, found, "attention to all tokens")


def _sum_to_1(maps: Sequence[torch.Tensor], max_length: int) -> bool:
    """Whether rows of maps sum to 1 over the real tokens of the texts of `check_maps`."""
    return all(
        (each[text, :, :length, :length].sum(-1) - 1).abs().max() <= 1e-4  # false of NaN
        for text, length in enumerate((max_length, _SHORT))
        for each in maps
    )


def _type_sums_to_1(folder: Path) -> bool:
    """Whether rows of maps sum to 1 in a small random model of a checkpoint's type."""
    import torch

    from darksecrets.core.models.session import observe, trial_inputs

    model = trial_model(folder)
    with torch.inference_mode(), observe(model, maps=True) as seen:
        model(**trial_inputs(model, 2 * _SHORT))
    return _sum_to_1(list(seen.maps.values()), 2 * _SHORT)


@contextlib.contextmanager
def _any_error_is(folder: Path, config: PreTrainedConfig, wanted: str) -> Iterator[None]:
    """Turn an error into a message: unsupported models raise all kinds of errors."""
    try:
        yield
    except Exception as error:
        raise _unusable(folder, config, f"{type(error).__name__}: {error}", wanted) from error


def _outline(config: PreTrainedConfig) -> PreTrainedModel:
    """A trial model without memory for its weights."""
    import torch

    with torch.device("meta"):
        return _trial_model(config)


def _positions(model: PreTrainedModel) -> int | None:
    """Tokens that a model has positions for; None if it learns none, or under another name."""
    table = _position_embeddings(model)
    if table is None:
        return None
    # RoBERTa's positions begin after that of padding.
    first = 0 if table.padding_idx is None else table.padding_idx + 1
    return int(table.num_embeddings - first)


def padding_of_positions(model: PreTrainedModel) -> int | None:
    """Id of padding, from which a model such as RoBERTa counts positions; None for others."""
    table = _position_embeddings(model)
    return None if table is None else table.padding_idx


def _position_embeddings(model: PreTrainedModel) -> nn.Embedding | None:
    """The table of a model's learned positions."""
    from torch import nn

    for name, module in model.named_modules():
        if name.endswith("position_embeddings") and isinstance(module, nn.Embedding):
            return module
    return None


def _classifier_config(folder: Path) -> PreTrainedConfig:
    """Configuration of a checkpoint that transformers can load as a text classifier."""
    from transformers import (
        MODEL_FOR_CAUSAL_LM_MAPPING,
        MODEL_FOR_MASKED_LM_MAPPING,
        MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING,
        AutoConfig,
    )

    checkpoints.refuse_code(folder / "config.json")
    _check_values(folder / "config.json")
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:  # the classes of configurations raise all kinds of errors
        raise InputError(
            f"{folder}/config.json is of a model that transformers does not know "
            f"({_line(error)}). Expected a BERT-family checkpoint."
        ) from error
    for key, kind in (("is_encoder_decoder", "an encoder–decoder"), ("is_decoder", "a decoder")):
        if getattr(config, key, False):
            raise _no_encoder(folder, config, kind)
    kind_of_model = type(config)
    if kind_of_model in MODEL_FOR_CAUSAL_LM_MAPPING and (
        kind_of_model not in MODEL_FOR_MASKED_LM_MAPPING
    ):
        raise _no_encoder(folder, config, "a decoder")
    if kind_of_model not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        raise InputError(
            f"{folder}/config.json is of a model of type '{config.model_type}', which "
            "transformers cannot load as AutoModelForSequenceClassification. "
            "Expected a BERT-family checkpoint."
        )
    return config


def _check_values(file: Path) -> None:
    """Check settings that transformers takes without a word, but that spoil every result."""
    settings = checkpoints.read_settings(file)
    if settings.get("quantization_config"):
        raise InputError(
            f"{file}: the key quantization_config says that the weights are quantized: integers "
            "have no gradients, and their heads cannot be disabled as the paper does. Use "
            "the checkpoint that was quantized."
        )
    if settings.get("pruned_heads"):
        raise InputError(
            f"{file}: the key pruned_heads says that heads were removed from this model, which "
            "transformers can no longer load. Use the checkpoint before its heads were pruned."
        )
    if str(settings.get("position_embedding_type")).startswith(_RELATIVE):
        raise InputError(
            f"{file}: position_embedding_type is {settings['position_embedding_type']!r}, and this "
            "version of transformers would run the model with absolute positions. Use a checkpoint "
            "with absolute positions, or one of an architecture with relative ones, such as "
            "DeBERTa."
        )
    for key, value in settings.items():
        if not isinstance(value, float | int) or isinstance(value, bool):
            continue
        if not math.isfinite(value):
            raise InputError(f"{file}: {key} is {value}, not a number. Correct the file.")
        if "dropout" in key and not 0 <= value < 1:
            raise InputError(
                f"{file}: {key} is {value}, but must be a probability, at least 0 and less than "
                "1. Correct the file."
            )


def trial_model(folder: Path) -> PreTrainedModel:
    """A small model of a checkpoint's type: random weights, at most two layers, few embeddings."""
    return _trial_model(_classifier_config(folder))


def _trial_model(config: PreTrainedConfig) -> PreTrainedModel:
    import torch
    from transformers import AutoModelForSequenceClassification

    specials = [
        value
        for name, value in config.to_dict().items()
        if name.endswith("_token_id") and isinstance(value, int)
    ]
    config.num_hidden_layers = min(2, config.num_hidden_layers)
    config.vocab_size = min(config.vocab_size, max([64, *specials]) + 1)
    with torch.random.fork_rng(devices=[]):
        model: PreTrainedModel = AutoModelForSequenceClassification.from_config(  # type: ignore[no-untyped-call]
            config, attn_implementation="eager"
        )
    model.train(False)
    return model


def _line(error: Exception) -> str:
    """The message of an error in one line."""
    return " ".join(str(error).split())


def _no_encoder(folder: Path, config: PreTrainedConfig, found: str) -> InputError:
    return InputError(
        f"{folder} is {found} (type '{config.model_type}'), not an encoder, whose tokens "
        "attend to those before and after them. Use a checkpoint of BERT, RoBERTa, DeBERTa, "
        "ModernBERT or another encoder."
    )


def _unusable(folder: Path, config: PreTrainedConfig, found: str, wanted: str) -> InputError:
    return InputError(
        f"{folder}: the model of type '{config.model_type}' gives no usable attention maps: "
        f"{found} instead of {wanted}. Use a BERT-family "
        "checkpoint (BERT, RoBERTa, DistilBERT, ELECTRA, …)."
    )
