"""Files of a pre-trained checkpoint: where they are, and whether they are complete (section 3).

A checkpoint is a Hugging Face folder: ``config.json``, weights as safetensors, and a tokenizer.
Nothing here needs torch, so that plans are quick.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.data import hub
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES

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


def is_shipped(folder: Path) -> bool:
    """Whether a folder is that of the tiny BERT that ships with the project.

    Tests know what can be done with it, so that its plans need not import torch.
    """
    return folder.resolve() == SHIPPED.resolve()


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
