"""Locate the pre-trained checkpoint and check that the experiments can use it (section 3).

A checkpoint is a Hugging Face folder: ``config.json``, weights as safetensors, and a tokenizer.
Only `check_attention` needs torch.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.data import hub
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


def check(source: Mapping[str, Any]) -> None:
    """Check a checkpoint on this machine; one on the Hub is checked after its download.

    Raises:
        InputError: What is missing, or why the experiments cannot use it.
    """
    if source["source"] == "hub":
        return
    check_files(folder_of(source))
    if source["source"] == "folder":  # the built-in one is checked by tests
        check_attention(folder_of(source))


def check_hub(source: Mapping[str, Any]) -> None:
    """If the source is the Hub, check that the checkpoint can be downloaded or is in the cache.

    Raises:
        InputError: If it cannot.
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


def check_weights(folder: Path) -> None:
    """Check the size of a checkpoint's weight files against their headers.

    Raises:
        InputError: Names the file that is damaged, and how to make it again.
    """
    from safetensors import SafetensorError, safe_open

    for file in sorted(folder.glob("model*.safetensors")):
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


def check_attention(folder: Path) -> None:
    """Check that the model classifies and returns an attention map for every layer and head.

    A model of the checkpoint's type with random weights and at most two layers is run on one
    short sequence. Maps must be [1, heads, length, length], and their rows must sum to 1.

    Raises:
        InputError: Says what the model lacks.
    """
    config = _classifier_config(folder)
    layers, length = min(2, getattr(config, "num_hidden_layers", 2)), 8
    heads = getattr(config, "num_attention_heads", "all")  # a model without attention has none
    wanted = f"{layers} maps of {heads} heads"
    try:
        config.num_hidden_layers = layers
        maps = _trial_maps(_trial_model(config), length)
    except Exception as error:  # unsupported models raise all kinds of errors
        raise _unusable(folder, config, f"found {type(error).__name__}: {error}", wanted) from error
    shapes = [tuple(m.shape) for m in maps]
    if shapes != [(1, heads, length, length)] * layers:
        raise _unusable(folder, config, f"found maps of the shapes {shapes}", wanted)
    if any((m.sum(-1) - 1).abs().max() > 1e-4 for m in maps):
        raise _unusable(folder, config, "found rows that do not sum to 1", wanted)


def _classifier_config(folder: Path) -> PreTrainedConfig:
    """Configuration of a checkpoint that transformers can load as a text classifier."""
    from transformers import MODEL_FOR_SEQUENCE_CLASSIFICATION_MAPPING, AutoConfig

    try:
        config: PreTrainedConfig = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    except (ValueError, OSError, KeyError) as error:
        raise InputError(
            f"{folder}/config.json: found a model that transformers does not know ({error}). "
            "Expected a BERT-family checkpoint."
        ) from error
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
    """Attention maps of a trial model for one input."""
    import torch

    from darksecrets.models.hooks import observe

    ids = torch.full((1, length), model.config.vocab_size - 1)
    with torch.inference_mode(), observe(model, maps=True) as seen:
        model(input_ids=ids)
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


def _unusable(folder: Path, config: PreTrainedConfig, found: str, wanted: str) -> InputError:
    return InputError(
        f"{folder}: the model of type '{config.model_type}' gives no usable attention maps: "
        f"{found}; expected {wanted} from a trial run. Use a BERT-family "
        "checkpoint (BERT, RoBERTa, DistilBERT, ELECTRA, …)."
    )
