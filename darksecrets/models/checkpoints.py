"""Locate the pre-trained checkpoint and check that the experiments can use it (section 3).

A checkpoint is a Hugging Face folder: ``config.json``, weights as safetensors, and a tokenizer.
Only `check_attention` needs torch.
"""

from __future__ import annotations

import contextlib
import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.data import hub
from darksecrets.models import weights as weight_files
from darksecrets.run.errors import InputError
from darksecrets.run.files import RESOURCES

if TYPE_CHECKING:
    import torch
    from transformers import PreTrainedConfig, PreTrainedModel

BUILTIN = RESOURCES / "tiny-bert"

WEIGHTS = "model.safetensors"
WEIGHTS_INDEX = "model.safetensors.index.json"
PICKLED_WEIGHTS = "pytorch_model*.bin"
# One of these is enough for a tokenizer: fast format, WordPiece, byte-level BPE, SentencePiece.
TOKENIZERS = (
    "tokenizer.json",
    "vocab.txt",
    "vocab.json",
    "spiece.model",
    "sentencepiece.bpe.model",
)

# PyTorch's words for an index that a table of positions lacks, and for a table of another length.
_NO_POSITION = ("out of bounds", "must match")

# Tokens of a short trial text.
_SHORT = 8

# Files to download from a repository on the Hub; each pattern must match one.
HUB_PATTERNS = ("config.json", "model*.safetensors*", "tokenizer*.json")


def folder_of(source: Mapping[str, Any]) -> Path:
    """Folder of a checkpoint that is on this machine.

    Args:
        source: Section ``model`` of a configuration: ``source`` is ``builtin`` or ``folder``, the
            latter with ``folder``.
    """
    return BUILTIN if source["source"] == "builtin" else Path(source["folder"])


def fetch(source: Mapping[str, Any]) -> Path:
    """Folder of a checkpoint, downloaded first if ``source`` is ``hub`` (``id``, ``revision``).

    Raises:
        InputError: If it is not available.
    """
    if source["source"] == "hub":
        return hub.download(source["id"], source["revision"], HUB_PATTERNS, "model")
    return folder_of(source)


def cached(source: Mapping[str, Any], name: str) -> Path | None:
    """A file of a checkpoint on the Hub, if it is in the cache; makes no request."""
    try:
        from huggingface_hub import try_to_load_from_cache
    except ImportError:  # Snakemake may run without it
        return None
    found = try_to_load_from_cache(source["id"], name, revision=source["revision"])
    return Path(found) if isinstance(found, str) else None


def check(source: Mapping[str, Any], max_length: int) -> None:
    """Check a checkpoint on this machine.

    Of one on the Hub, only the kind of model is checked, and only if its configuration is in the
    cache; everything is checked after its download.

    Args:
        source: Section ``model`` of a configuration.
        max_length: Longest sequence of the run, in tokens.

    Raises:
        InputError: What is missing, or why the experiments cannot use it.
    """
    if source["source"] == "hub":
        if file := cached(source, "config.json"):
            check_attention(file.parent, max_length)
        return
    folder = folder_of(source)
    check_files(folder)
    # Tests check the built-in one, up to its number of positions.
    if source["source"] == "folder" or max_length > _positions(folder):
        check_attention(folder, max_length)


def _positions(folder: Path) -> int:
    """Positions of a BERT, from its ``config.json``."""
    return int(read_settings(folder / "config.json")["max_position_embeddings"])


def check_hub(source: Mapping[str, Any]) -> None:
    """If the source is the Hub, check that the checkpoint can be downloaded or is in the cache.

    Raises:
        InputError: The checkpoint cannot be downloaded.
    """
    if source["source"] == "hub":
        hub.check(source["id"], source["revision"], HUB_PATTERNS, "model")


def check_files(folder: Path) -> None:
    """Check that all files of a checkpoint exist and its weight files are complete.

    Raises:
        InputError: Lists what was found and what was expected.
    """
    if not folder.is_dir():
        raise InputError(
            f"{folder}: no such folder, expected a Hugging Face model folder (config.json, "
            f"{WEIGHTS}, tokenizer). Check model.folder in the configuration."
        )
    names = sorted(path.name for path in folder.iterdir())
    if missing := list(_missing(folder)):
        raise InputError(
            f"{folder}: found {', '.join(names) or 'nothing'}; missing {' and '.join(missing)}. "
            "Save the model and its tokenizer there with save_pretrained."
        )
    check_weights(folder)


def _missing(folder: Path) -> Iterator[str]:
    """Files that a checkpoint lacks, with advice where it helps."""
    if not (folder / "config.json").is_file():
        yield "config.json"
    if not any((folder / name).is_file() for name in (WEIGHTS, WEIGHTS_INDEX)):
        pickled = any(folder.glob(PICKLED_WEIGHTS))
        yield f"{WEIGHTS}" + (
            " (pickled weights can run code and are not read: convert them to safetensors with "
            "from_pretrained and save_pretrained)"
            if pickled
            else ""
        )
    if not any((folder / name).is_file() for name in TOKENIZERS):
        yield f"a tokenizer (one of {', '.join(TOKENIZERS)})"


def read_settings(file: Path) -> dict[str, Any]:
    """Read a JSON file of a checkpoint that holds an object, such as ``config.json``.

    Raises:
        InputError: It cannot be read, or is something else; the message names the line.
    """
    try:
        settings = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError) as error:
        line = f", line {error.lineno}" if isinstance(error, json.JSONDecodeError) else ""
        raise InputError(
            f"{file}{line}: cannot be read as JSON ({error}), expected the settings of a model in "
            "UTF-8. Copy or download the file again."
        ) from None
    if not isinstance(settings, dict):
        raise InputError(
            f"{file}: found a {type(settings).__name__}, expected an object: {{...}}. Copy or "
            "download the file again."
        )
    return settings


def refuse_code(file: Path) -> None:
    """Refuse a checkpoint that names code of its own, which would run if anything trusted it.

    It is refused even if `transformers` has a class of the same type: with its own code the model
    would be another one.

    Args:
        file: ``config.json`` or ``tokenizer_config.json``; need not exist.

    Raises:
        InputError: It has the key ``auto_map``.
    """
    if file.is_file() and (code := read_settings(file).get("auto_map")):
        raise InputError(
            f"{file}: found the key auto_map, which names code that comes with the model ({code}), "
            "expected a model that transformers itself knows: code of a model is never run. Use "
            "another checkpoint; if the class in transformers is the right one, remove the key "
            "from a copy of the folder."
        )


def check_weights(folder: Path) -> None:
    """Check the size of a checkpoint's weight files against their headers.

    Raises:
        InputError: Names the file that is damaged, and how to make it again.
    """
    from safetensors import SafetensorError, safe_open

    for file in weight_files.files_of(folder):
        try:
            with safe_open(file, framework="numpy"):
                pass
        except SafetensorError as error:
            raise InputError(
                f"{file}: found {file.stat().st_size} bytes that are not a complete safetensors "
                f"file ({error}), expected the weights of a model. If this run made it, delete its "
                "folder and run the same command again, which makes it anew; otherwise copy or "
                "download it again."
            ) from error


def check_attention(folder: Path, max_length: int = _SHORT) -> None:
    """Check that the model is an encoder that returns a map for every layer and head.

    A classifier of the checkpoint's type with random weights and at most two layers is run on two
    texts, one of ``max_length`` tokens and one of 4, padded. Its tokens must attend in both
    directions; maps must be [text, head, query, key], and rows must sum to 1 over the real tokens.

    Args:
        folder: The checkpoint.
        max_length: Longest sequence of the run, in tokens.

    Raises:
        InputError: Says what the model lacks.
    """
    config = _classifier_config(folder)
    layers = min(2, getattr(config, "num_hidden_layers", 2))
    heads = getattr(config, "num_attention_heads", "all")  # a model without attention has none
    wanted = f"{layers} maps of {heads} heads"
    with _any_error_is(folder, config, wanted):
        config.num_hidden_layers = layers
        weights = _count_weights(config)
    _check_size(folder, weights)
    with _any_error_is(folder, config, wanted):
        model = _trial_model(config)
        causal = _is_causal(model)
        maps = [] if causal else _trial_maps(model, _SHORT)
    if causal:
        raise _no_encoder(folder, config, "a decoder")
    shapes = [tuple(m.shape) for m in maps]
    if shapes != [(2, heads, _SHORT, _SHORT)] * layers:
        raise _unusable(folder, config, f"found maps of the shapes {shapes}", wanted)
    _check_length(folder, model, max_length)
    for text, length in enumerate((max_length, 4)):
        real = [m[text, :, :length, :length] for m in _trial_maps(model, max_length)]
        if any(not (m.sum(-1) - 1).abs().max() <= 1e-4 for m in real):  # NaN is wrong, too
            raise _unusable(folder, config, "found rows that do not sum to 1", wanted)
    _check_reach(folder, model, max_length)


@contextlib.contextmanager
def _any_error_is(folder: Path, config: PreTrainedConfig, wanted: str) -> Iterator[None]:
    """Turn an error into a message: unsupported models raise all kinds of errors."""
    try:
        yield
    except Exception as error:
        raise _unusable(folder, config, f"found {type(error).__name__}: {error}", wanted) from error


def _count_weights(config: PreTrainedConfig) -> int:
    """Weights of the trial model, without memory for them."""
    import torch

    with torch.device("meta"):
        return sum(parameter.numel() for parameter in _trial_model(config).parameters())


def _check_size(folder: Path, weights: int) -> None:
    """Check that a trial model is not larger than the checkpoint, before it takes memory.

    A weight takes at least a byte. Of a model on the Hub, only ``config.json`` may be there.
    """
    found = sum(file.stat().st_size for file in weight_files.files_of(folder))
    if found and weights > found:
        raise InputError(
            f"{folder}/config.json: found sizes that mean {weights:.1e} weights in its first "
            f"layers alone, but the files of weights have {found} bytes. Expected config.json and "
            "weights of one model: copy or download both again."
        )


def _is_causal(model: PreTrainedModel) -> bool:
    """Whether tokens of a model attend to none after them."""
    encoder: Any = model.base_model
    maps = _trial_maps(encoder, _SHORT)
    return bool(maps) and not any(m[0].triu(1).any() for m in maps)


def _check_length(folder: Path, model: PreTrainedModel, max_length: int) -> None:
    """Try whether a model has positions for ``max_length`` tokens; if not, find how many it has."""
    if not (error := _too_long(folder, model, max_length)):
        return
    fits, fails = _SHORT, max_length
    while fails - fits > 1:
        middle = (fits + fails) // 2
        too_long = _too_long(folder, model, middle)
        fits, fails = (fits, middle) if too_long else (middle, fails)
    raise InputError(
        f"{folder}: the model takes at most {fits} tokens, but fine_tuning.max_length is "
        f"{max_length}. Set it to {fits} or less."
    ) from error


def _too_long(folder: Path, model: PreTrainedModel, tokens: int) -> Exception | None:
    """The error of a model that has no position for a text of this length; None if it runs.

    Raises:
        InputError: It fails for another reason.
    """
    try:
        _trial_maps(model, tokens)
    except (IndexError, RuntimeError) as error:
        if isinstance(error, IndexError) or any(words in str(error) for words in _NO_POSITION):
            return error
        raise InputError(
            f"{folder}: a trial run on a text of {tokens} tokens failed ({type(error).__name__}: "
            f"{error}), expected attention maps. If memory is short, lower fine_tuning.max_length."
        ) from error
    return None


def _check_reach(folder: Path, model: PreTrainedModel, max_length: int) -> None:
    """Check that local attention, if any, is known: from masks, not only as weights of 0."""
    from darksecrets.models.reach import windows_of
    from darksecrets.models.session import is_reachable

    windows_of(model, max_length)
    if not is_reachable(model) and any((m[0] == 0).any() for m in _trial_maps(model, max_length)):
        found = "found places of a map that a token does not attend to"
        raise _unusable(folder, model.config, found, "attention to all tokens")


def _classifier_config(folder: Path) -> PreTrainedConfig:
    """Configuration of a checkpoint that transformers can load as a text classifier."""
    from transformers import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING, AutoConfig

    read_settings(folder / "config.json")
    refuse_code(folder / "config.json")
    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except Exception as error:  # the classes of configurations raise all kinds of errors
        raise InputError(
            f"{folder}/config.json: found a model that transformers does not know "
            f"({_line(error)}). Expected a BERT-family checkpoint."
        ) from error
    for key, kind in (("is_encoder_decoder", "an encoder–decoder"), ("is_decoder", "a decoder")):
        if getattr(config, key, False):
            raise _no_encoder(folder, config, kind)
    if type(config) not in MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING:
        raise InputError(
            f"{folder}/config.json: found a model of type '{config.model_type}', which "
            "transformers cannot load as AutoModelForSequenceClassification. "
            "Expected a BERT-family checkpoint."
        )
    return config


def trial_model(folder: Path) -> PreTrainedModel:
    """A small model of a checkpoint's type: random weights, at most two layers, few embeddings."""
    config = _classifier_config(folder)
    config.num_hidden_layers = min(2, config.num_hidden_layers)
    return _trial_model(config)


def _trial_maps(model: PreTrainedModel, length: int) -> list[torch.Tensor]:
    """Attention maps of a trial model for a text of this length and a padded one."""
    import torch

    from darksecrets.models.session import observe, trial_inputs

    with torch.inference_mode(), observe(model, maps=True) as seen:
        model(**trial_inputs(model, length))
    return list(seen.maps.values())


def _trial_model(config: PreTrainedConfig) -> PreTrainedModel:
    import torch
    from transformers import AutoModelForSequenceClassification

    specials = [
        value
        for name, value in config.to_dict().items()
        if name.endswith("_token_id") and isinstance(value, int)
    ]
    config.vocab_size = min(config.vocab_size, max([64, *specials]) + 1)
    with torch.random.fork_rng(devices=[]):
        model: PreTrainedModel = AutoModelForSequenceClassification.from_config(config)  # type: ignore[no-untyped-call]
    model.train(False)
    return model


def _line(error: Exception) -> str:
    """The message of an error in one line."""
    return " ".join(str(error).split())


def _no_encoder(folder: Path, config: PreTrainedConfig, found: str) -> InputError:
    return InputError(
        f"{folder}: found {found} (type '{config.model_type}'), expected an encoder, whose tokens "
        "attend to those before and after them. Use a checkpoint of BERT, RoBERTa, DeBERTa, "
        "ModernBERT or another encoder."
    )


def _unusable(folder: Path, config: PreTrainedConfig, found: str, wanted: str) -> InputError:
    return InputError(
        f"{folder}: the model of type '{config.model_type}' gives no usable attention maps: "
        f"{found}; expected {wanted} from a trial run. Use a BERT-family "
        "checkpoint (BERT, RoBERTa, DistilBERT, ELECTRA, …)."
    )
