"""Locate the pre-trained checkpoint and check that the experiments can use it (section 3).

A checkpoint is a Hugging Face folder: ``config.json``, weights as safetensors, and a tokenizer.
What needs torch imports it, so that plans are quick.
"""

from __future__ import annotations

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from darksecrets.core.data import hub
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES

if TYPE_CHECKING:
    import torch
    from torch import nn
    from transformers import PreTrainedConfig, PreTrainedModel

SHIPPED = RESOURCES / "tiny-bert"

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

_ADAPTERS = ("adapter_config.json", "adapter_model.safetensors", "adapter_model.bin")
"""Files of an adapter: any of them says that the weights beside it are not the whole model."""
_OTHER_PIECES = 0.01
"""Greatest share of a vocabulary that its two files may number differently."""
_FLOATS = ("F64", "F32", "F16", "BF16")
"""Types of weights in safetensors files that are numbers as they stand."""

_SHORT = 4
"""Tokens of the shorter text of a trial, see `darksecrets.core.models.session.trial_inputs`."""
_EQUAL = 1e-6
"""Difference from 1 over the length at which a weight is that of a uniform map."""

_RELATIVE = "relative_key"
"""Positions that BERT and its relatives could have in earlier versions of `transformers`."""

RUN_AS = {
    "return_dict": True,
    "output_attentions": False,
    "output_hidden_states": False,
    "torchscript": False,
    "chunk_size_feed_forward": 0,  # saves memory, but only lengths that it divides can be read
    "gradient_checkpointing": False,  # saves memory, but computes every layer twice
}
"""Settings with which all models are run, whatever their ``config.json`` says."""

# Files to download from a repository on the Hub; each pattern must match one.
HUB_PATTERNS = ("config.json", "model*.safetensors*", "|".join(TOKENIZERS))
HUB_OPTIONAL = (
    "tokenizer*.json",
    "special_tokens_map.json",
    "added_tokens.json",
    "merges.txt",
    "adapter_config.json",
)
"""Files to download, too, if the repository has them."""


def folder_of(source: Mapping[str, Any]) -> Path:
    """Folder of a checkpoint that is on this machine.

    Args:
        source: Section ``model`` of a configuration, whose ``source`` is ``folder``.
    """
    return Path(source["folder"])


def fetch(source: Mapping[str, Any]) -> Path:
    """Folder of a checkpoint, downloaded first if ``source`` is ``hub`` (``id``, ``revision``).

    Raises:
        InputError: If it is not available.
    """
    if source["source"] == "hub":
        return hub.download(
            source["id"], source["revision"], HUB_PATTERNS, "model", optional=HUB_OPTIONAL
        )
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

    Of one on the Hub, only the configuration is checked, and only if it is in the cache; everything
    is checked after its download.

    Args:
        source: Section ``model`` of a configuration.
        max_length: Longest sequence of the run, in tokens.

    Raises:
        InputError: What is missing, or why the experiments cannot use it.
    """
    if source["source"] == "hub":
        if file := cached(source, "config.json"):
            check_configuration(file.parent, max_length)
        return
    folder = folder_of(source)
    check_files(folder)
    if not is_shipped(folder) or max_length > _positions_of_bert(folder):
        check_configuration(folder, max_length)


def is_shipped(folder: Path) -> bool:
    """Whether a folder is that of the tiny BERT that ships with the project.

    Tests know what can be done with it, so that its plans need not import torch.
    """
    return folder.resolve() == SHIPPED.resolve()


def _positions_of_bert(folder: Path) -> int:
    """Tokens that a BERT has positions for, from its ``config.json``."""
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
    if adapter := [name for name in _ADAPTERS if name in names]:
        raise InputError(
            f"{folder} has {', '.join(adapter)}: an adapter, which would not be used. Merge it "
            "into its base (merge_and_unload of peft) and save that model; if this has been done, "
            "use a copy of the folder without these files."
        )
    if missing := list(_missing(folder)):
        raise InputError(
            f"{folder} has {', '.join(names) or 'no file'}; missing {' and '.join(missing)}. "
            "Save the model and its tokenizer there with save_pretrained."
        )
    _check_index(folder / WEIGHTS_INDEX)
    check_weights(folder)
    _check_types(folder)
    _check_vocabularies(folder)


def _check_index(file: Path) -> None:
    """Raise an error if the index of several weight files is damaged, or names one elsewhere."""
    if not file.is_file():
        return
    names = read_settings(file).get("weight_map")
    if not isinstance(names, dict) or not all(isinstance(name, str) for name in names.values()):
        raise InputError(
            f"{file} has no weight_map, which names the file of every weight. Copy or download the "
            "folder again."
        )
    for name in sorted(set(names.values())):
        if Path(name).name != name or not (file.parent / name).is_file():
            raise InputError(
                f"{file} names the weight file {name!r}, expected one in the same folder. Copy or "
                "download the folder again."
            )


def _check_types(folder: Path) -> None:
    """Raise an error if weights are no floating-point numbers, or are some of 8 bits.

    Those of quantized models need scales, which `transformers` would leave out without a word.
    Buffers, such as the numbers of positions, may be integers.
    """
    from safetensors import safe_open

    for file in weight_files(folder):
        with safe_open(file, framework="numpy") as content:
            types = {name: content.get_slice(name).get_dtype() for name in content.keys()}  # noqa: SIM118 - no mapping
        wrong = [
            name
            for name, kind in types.items()
            if name.endswith((".weight", ".bias")) and kind not in _FLOATS
        ]
        if wrong:
            raise InputError(
                f"{file}: {wrong[0]} is of the type {types[wrong[0]]} (and {len(wrong) - 1} more), "
                f"expected {', '.join(_FLOATS)}. These weights are quantized or damaged: use the "
                "checkpoint that was quantized."
            )


def _check_vocabularies(folder: Path) -> None:
    """Raise an error if the two files that a WordPiece vocabulary may be in differ."""
    plain, fast = folder / "vocab.txt", folder / "tokenizer.json"
    if not plain.is_file() or not fast.is_file():
        return
    try:
        vocabulary = json.loads(fast.read_text(encoding="utf-8"))["model"]["vocab"]
        lines = plain.read_text(encoding="utf-8").split("\n")
    except (OSError, ValueError, LookupError, TypeError):
        return  # what loads the tokenizer says what is wrong
    if not isinstance(vocabulary, dict):
        return
    pieces = {line.removesuffix("\r"): number for number, line in enumerate(lines) if line}
    other = [piece for piece, number in pieces.items() if vocabulary.get(piece) != number]
    if len(other) > _OTHER_PIECES * len(pieces):
        raise InputError(
            f"{folder}: vocab.txt and tokenizer.json have different vocabularies: {len(other)} of "
            f"the {len(pieces)} word pieces of vocab.txt, such as {other[0]!r}, have another "
            "number or none in tokenizer.json, which would be used. Remove the file that is not "
            "of this model."
        )


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
            f"{file} is a {type(settings).__name__}, not an object: {{...}}. Copy or "
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
            f"{file}: the key auto_map names code that comes with the model ({code}), and code of "
            "a model is never run. Use a checkpoint that transformers itself knows; if the class "
            "in transformers is the right one, remove the key from a copy of the folder."
        )


def weight_files(folder: Path) -> list[Path]:
    """The weight files of a checkpoint; folders and pipes of such a name are none."""
    return sorted(path for path in folder.glob("model*.safetensors") if path.is_file())


def tensor_names(folder: Path) -> list[str]:
    """Names of the tensors in a checkpoint, from the headers of its files."""
    from safetensors import safe_open

    found: list[str] = []
    for file in weight_files(folder):
        with safe_open(file, framework="numpy") as content:
            found += content.keys()
    return found


def check_weights(folder: Path) -> None:
    """Check the size of a checkpoint's weight files against their headers.

    Raises:
        InputError: Names the file that is damaged, and how to make it again.
    """
    from safetensors import SafetensorError, safe_open

    for file in weight_files(folder):
        try:
            with safe_open(file, framework="numpy"):
                pass
        except SafetensorError as error:
            raise InputError(
                f"{file}: these {file.stat().st_size} bytes are not a complete safetensors file "
                f"({error}), which has the model's weights. If this run made it, delete its "
                "folder and run the same command again, which makes it anew; otherwise copy or "
                "download it again."
            ) from error


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
    found = sum(file.stat().st_size for file in weight_files(folder))
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

    refuse_code(folder / "config.json")
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
    settings = read_settings(file)
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
