"""Load models (section 3): pre-trained, with a new classifier, or randomly initialized.

Mismatches that would make results silently wrong are errors: parameters of the encoder that the
checkpoint lacks, which would stay random, and encoder parameters of the checkpoint that are unused.
"""

from __future__ import annotations

import logging
import re
from collections.abc import Container, Iterable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from darksecrets.core.models import checkpoints
from darksecrets.core.models.quietly import quiet
from darksecrets.core.models.size import read_size
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, fingerprint
from darksecrets.core.run.states import RANDOM

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel, PreTrainedTokenizerBase

    from darksecrets.core.data.tasks import Task

ENCODER, CLASSIFIER = "AutoModel", "AutoModelForSequenceClassification"
MASKED = "AutoModelForMaskedLM"

_SEGMENT_IDS = "token_type_ids"
_LAYERS_AT_LEAST = 100  # that share their weights

_PIECES_TRIED = 5000
"""Word pieces of a vocabulary that are tried on its tokenizer, evenly spaced."""
_LOST_PIECES = 0.05
"""Greatest share of these that a tokenizer may change."""
_UNSEEN_ROWS = 100, 0.01
"""Embeddings that a tokenizer may leave without a word piece: number, or share of all."""
_WORD_BOUNDARIES = re.compile(r"[\s\u2581]")
"""White space, and SentencePiece's sign for it."""
_log = logging.getLogger(__name__)


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
    encoder, info = _load(folder, ENCODER)
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
    checkpoints.check_configuration(folder, max_length)
    check_fit(folder, max_length)
    # In float32, as all jobs run it: rows of a map in half precision do not sum to 1.
    checkpoints.check_maps(load_encoder(folder), folder, max_length)
    return folder


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
    layers, tensors = (
        read_size(folder / "config.json").layers,
        len(checkpoints.tensor_names(folder)),
    )
    if layers > _LAYERS_AT_LEAST + tensors:  # a model of as many layers would be built
        raise InputError(
            f"{folder}/config.json names {layers} layers, but the files of weights have only "
            f"{tensors} tensors. Expected config.json and weights of one model: copy or download "
            "both again."
        )
    encoder, _ = _load(folder, ENCODER, device_map="meta")
    _check_vocabulary(folder, tokenizer, encoder)


def get_masked(source: Mapping[str, Any], output: Path, *, max_length: int) -> dict[str, Any]:
    """Write a pre-trained checkpoint with the head that predicts masked words to ``output``.

    Args:
        source: See `get_pretrained`.
        output: Folder to write the model and its tokenizer to.
        max_length: Longest sequence of the run, in tokens.

    Returns:
        For the record: the ``fingerprint`` of the output.

    Raises:
        InputError: As `get_pretrained`; or the checkpoint has no such head.
    """
    folder = fetch_encoder(source, max_length=max_length)
    tokenizer, model = load_tokenizer(folder), load_masked(folder)
    with atomic(output) as temporary, quiet():
        model.save_pretrained(temporary)
        tokenizer.save_pretrained(temporary)
    return {"fingerprint": fingerprint(output)}


def load_masked(folder: Path) -> PreTrainedModel:
    """Load a model that predicts masked words, in float32, in evaluation mode.

    Raises:
        InputError: The checkpoint has no head for that, or its tokenizer has no mask token.
    """
    if load_tokenizer(folder).mask_token_id is None:
        raise InputError(
            f"{folder}: the tokenizer has no mask token, so no word can be masked. Use a "
            "checkpoint of a masked language model, or leave the analysis `predictions` out."
        )
    model, info = _load(folder, MASKED, dtype="float32")
    if missing := sorted(info["missing_keys"]):
        raise InputError(
            f"{folder}: the checkpoint has no head that predicts masked words ({missing[0]} is "
            "missing). Use the checkpoint of a masked language model, such as bert-base-uncased."
        )
    return model


def load_encoder(folder: Path) -> PreTrainedModel:
    """Load an encoder without a classifier, in float32, in evaluation mode.

    Raises:
        InputError: If the checkpoint is not a complete encoder.
    """
    return _load(folder, ENCODER, dtype="float32")[0]


def load_classifier(
    folder: Path, task: Task, seed: int, attention: Literal["sdpa", "eager"] = "sdpa"
) -> tuple[PreTrainedModel, list[str]]:
    """Load a model that classifies (or, for STS-B, scores) the examples of a task, in float32.

    Classifier parameters that the checkpoint lacks are drawn from the model's own initialisation.
    The draw depends only on ``seed`` and the type of the model, not on earlier random numbers.

    Args:
        folder: A checkpoint, with or without a classifier.
        task: Gives the number of outputs, their names and the kind of problem.
        seed: Seed of the draw.
        attention: Attention implementation; which is faster depends on the device. Models without
            ``sdpa`` (DeBERTa, MPNet) compute it by ``eager``.

    Returns:
        The model, in evaluation mode, and the sorted names of the parameters newly drawn.

    Raises:
        InputError: If anything but a classifier or a pooler is missing, or the folder holds the
            classifier of another task.
    """
    names = dict(enumerate(task.labels or ("score",)))
    model, info = _load(
        folder,
        CLASSIFIER,
        attention=None if attention == "sdpa" else attention,
        seed=seed,
        dtype="float32",
        num_labels=task.num_labels,
        id2label=names,
        label2id={name: i for i, name in names.items()},
        problem_type="regression" if task.is_regression else "single_label_classification",
    )
    new = sorted(info["missing_keys"])
    if new:
        _log.info("%s: newly drawn under seed %d: %s", folder, seed, ", ".join(new))
    else:
        _check_task(folder, names)
    return model, new


def load_tokenizer(folder: Path) -> PreTrainedTokenizerBase:
    """Load the tokenizer saved with a model; it gives segment ids if the model tells them apart.

    Raises:
        InputError: If there is none, or it lacks [CLS], [SEP] or padding (whatever their names), or
            does not put the first two around a text.
    """
    from transformers import AutoConfig, AutoTokenizer

    # Without a vocabulary file, transformers 5 silently builds a tokenizer that knows no words.
    if not any((folder / name).is_file() for name in checkpoints.TOKENIZERS):
        raise InputError(
            f"{folder} has no tokenizer, which is one of {', '.join(checkpoints.TOKENIZERS)}. "
            "Save it there with save_pretrained."
        )
    checkpoints.refuse_code(folder / "tokenizer_config.json")
    try:
        tokenizer: PreTrainedTokenizerBase = AutoTokenizer.from_pretrained(
            folder, trust_remote_code=False
        )
    except Exception as error:  # the tokenizers library raises bare Exceptions
        raise InputError(
            f"{folder}: the tokenizer cannot be loaded ({error}). Save it again."
        ) from error
    _check_special_tokens(folder, tokenizer)
    _check_normalization(folder, tokenizer)
    config = AutoConfig.from_pretrained(folder, trust_remote_code=False)
    _set_segment_ids(tokenizer, config)
    return tokenizer


def check_tokenizer(folder: Path, max_length: int) -> PreTrainedTokenizerBase:
    """Load a tokenizer, and check that it makes sequences as long as the run's.

    Raises:
        InputError: See `load_tokenizer`; or it is for shorter sequences.
    """
    tokenizer = load_tokenizer(folder)
    if tokenizer.model_max_length < max_length:
        raise InputError(
            f"{folder}: the tokenizer is for at most {tokenizer.model_max_length} tokens "
            f"(model_max_length), but fine_tuning.max_length is {max_length}. Set it to "
            f"{tokenizer.model_max_length} or less."
        )
    return tokenizer


def _check_special_tokens(folder: Path, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise an error unless a text becomes [CLS] text [SEP], whatever their names."""
    tokens = (tokenizer.cls_token, tokenizer.sep_token, tokenizer.pad_token)
    if None in tokens:
        raise InputError(
            f"{folder}: the tokenizer has (classifier, separator, padding) tokens {tokens}, "
            "expected all three. Use a BERT-family checkpoint."
        )
    ids = tokenizer("a")["input_ids"]
    if (ids[0], ids[-1]) != (tokenizer.cls_token_id, tokenizer.sep_token_id):
        found = " ".join(tokenizer.convert_ids_to_tokens(ids))
        raise InputError(
            f"{folder}: the tokenizer makes '{found}' of the text 'a', without {tokens[0]} before "
            f"and {tokens[1]} after it. Use the tokenizer of an encoder."
        )


def _check_normalization(folder: Path, tokenizer: PreTrainedTokenizerBase) -> None:
    """Raise an error if a tokenizer changes texts so that it can never make much of its vocabulary.

    A cased vocabulary without the settings of its tokenizer is read in lower case: every capital
    and accent is lost without a word, and with them the word pieces that the model knows. A piece
    can be made if normalizing the text that it stands for gives that text back.
    """
    normalizer = tokenizer.backend_tokenizer.normalizer if tokenizer.is_fast else None
    if normalizer is None:
        return
    tried = _evenly(_texts_of_pieces(tokenizer))
    lost = [text for text in tried if _letters(normalizer.normalize_str(text)) != _letters(text)]
    if len(lost) > _LOST_PIECES * len(tried):
        shown = ", ".join(sorted(lost)[:5])
        raise InputError(
            f"{folder}: the tokenizer can never make {len(lost) / len(tried):.0%} of the word "
            f"pieces of its vocabulary, such as {shown}, because it changes every text before "
            "(to lower case, or without accents). For a cased model, write "
            '{"do_lower_case": false} to tokenizer_config.json in that folder; for an uncased one '
            'with accents, {"strip_accents": false}.'
        )


def _texts_of_pieces(tokenizer: PreTrainedTokenizerBase) -> Iterator[str]:
    """The text that each word piece of a vocabulary stands for.

    Pieces that are a part of a character, as byte-level vocabularies have them, stand for none.
    """
    special, decoder = {*tokenizer.all_special_tokens}, tokenizer.backend_tokenizer.decoder
    for piece in tokenizer.get_vocab():
        if piece not in special:
            text = piece if decoder is None else decoder.decode([piece])
            if "\ufffd" not in text:
                yield text


def _evenly(texts: Iterable[str]) -> list[str]:
    """At most about `_PIECES_TRIED` of some texts, evenly spaced."""
    every = list(texts)
    return every[:: max(1, len(every) // _PIECES_TRIED)]


def _letters(text: str) -> str:
    """A text without white space."""
    return _WORD_BOUNDARIES.sub("", text)


def _set_segment_ids(tokenizer: PreTrainedTokenizerBase, config: PreTrainedConfig) -> None:
    """Let a tokenizer give segment ids if, and only if, the model tells two segments apart.

    In transformers 5, ALBERT's tokenizer leaves them out, though ALBERT was trained with them.
    """
    names = [name for name in tokenizer.model_input_names if name != _SEGMENT_IDS]
    if (getattr(config, "type_vocab_size", None) or 0) >= 2:
        names = list(dict.fromkeys([*tokenizer.model_input_names, _SEGMENT_IDS]))
    tokenizer.model_input_names = names


class Draw(NamedTuple):
    """How to draw weights with `draw_from_normal`."""

    seed: int
    std: float

    @classmethod
    def of(cls, model: str, std: float) -> Draw | None:
        """How the weights of a model such as ``random/seed-1`` are drawn; None for others."""
        state, _, seed = model.partition("/seed-")
        return cls(int(seed), std) if state == RANDOM else None


def draw_from_normal(
    model: PreTrainedModel, seed: int, std: float, names: Container[str] | None = None
) -> None:
    """Draw weights of a model from a normal distribution, in place (section 4.3).

    Weights are the matrices of linear layers and the embeddings, the classifier's and the padding
    token's included: mean 0, standard deviation ``std``. Biases become 0 and layer-norm scales 1,
    as in the initialisation of BERT (Devlin et al. 2018). The paper only says "normal
    distribution"; layer-norm scales of about 0.02 would leave no signal to train on.

    The draw depends only on ``seed`` and the shapes. With one seed, an encoder without a classifier
    gets the weights that the encoder of `finetuned-from-normal` has before its training.

    Args:
        model: The model.
        seed: Seed of the draw.
        std: Standard deviation.
        names: Parameters to draw; None for all.
    """
    import torch

    generator = torch.Generator().manual_seed(seed)
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if names is not None and name not in names:
                continue
            if parameter.dim() >= 2:
                parameter.normal_(0.0, std, generator=generator)
            else:
                parameter.fill_(0.0 if name.endswith("bias") else 1.0)


def _load(
    folder: Path,
    kind: str,
    attention: str | None = "eager",
    seed: int = 0,
    dtype: str = "auto",
    device_map: str | None = None,
    **settings: Any,  # noqa: ANN401 - keys of the model's configuration
) -> tuple[PreTrainedModel, dict[str, Any]]:
    """Load a model and the loading report of transformers; draw new parameters from ``seed``.

    Args:
        folder: The checkpoint.
        kind: ``ENCODER`` or ``CLASSIFIER``, a class of `transformers`.
        attention: Attention implementation; every model has ``eager``. None for ``sdpa`` if the
            model has it.
        seed: Seed of parameters that the checkpoint lacks.
        dtype: Data type of the weights.
        device_map: ``meta`` reads only names and shapes of weights; None reads all to memory.
        settings: Keys to set in the model's configuration.

    Raises:
        InputError: If the checkpoint does not match the model.
    """
    import torch
    import transformers

    checkpoints.check_weights(folder)
    settings = {**checkpoints.RUN_AS, **settings}
    config = transformers.AutoConfig.from_pretrained(folder, trust_remote_code=False, **settings)
    try:
        with torch.random.fork_rng(devices=[]), quiet():
            torch.default_generator.manual_seed(seed)
            model, info = getattr(transformers, kind).from_pretrained(
                folder,
                config=config,
                attn_implementation=attention,
                dtype=dtype,
                device_map=device_map,
                ignore_mismatched_sizes=True,  # `_check_shapes` names them
                use_safetensors=True,
                trust_remote_code=False,
                local_files_only=True,
                output_loading_info=True,
            )
    except (RuntimeError, ValueError, OSError) as error:
        raise InputError(f"{folder}: {_cannot_be(kind, config)} ({error}).") from error
    if info["mismatched_keys"]:
        raise InputError(
            f"{folder}: {_cannot_be(kind, config)}: {_mismatch(info)}. Expected weights and "
            "config.json of one model: copy or download both again."
        )
    _check_mapping(folder, model, info)
    return model, info


def _cannot_be(kind: str, config: PreTrainedConfig) -> str:
    outputs = f"classifier with {config.num_labels} outputs"
    what = {CLASSIFIER: outputs, MASKED: "masked language model"}.get(kind, "encoder")
    return f"the weights cannot be loaded as a '{config.model_type}' {what}"


def _mismatch(info: Mapping[str, Any]) -> str:
    """The first parameter whose shape in the file is not that of the model."""
    name, *shapes = min(info["mismatched_keys"])
    found, expected = (" × ".join(map(str, shape)) for shape in shapes)
    others = f" (and {more} more)" if (more := len(info["mismatched_keys"]) - 1) else ""
    return f"{name} has {found} numbers{others}, but config.json describes {expected}"


def _check_mapping(folder: Path, model: PreTrainedModel, info: Mapping[str, Any]) -> None:
    """Raise an error if parameters of the encoder would stay random or be unused."""
    encoder = model.base_model
    prefix = model.base_model_prefix + "."
    parts = {name for name, _ in encoder.named_children()}
    random = sorted(
        n
        for n in info["missing_keys"]
        if (encoder is model or n.startswith(prefix)) and _part(n, prefix) != "pooler"
    )
    if random:
        raise InputError(
            f"{folder}: the checkpoint lacks {len(random)} parameters of the encoder "
            f"({', '.join(random[:3])}, …), which would stay random. Expected weights that belong "
            f"to config.json ({model.config.num_hidden_layers} layers)."
        )
    unused = sorted(
        n
        for n in info["unexpected_keys"]
        if _part(n, prefix) in parts and n.endswith((".weight", ".bias"))
    )
    if unused:
        raise InputError(
            f"{folder}: the checkpoint has {len(unused)} parameters of an encoder that config.json "
            f"does not describe ({', '.join(unused[:3])}, …), for {model.config.num_hidden_layers} "
            "layers. Expected weights and config.json of one model."
        )


def _part(parameter: str, prefix: str) -> str:
    """The component of an encoder that a parameter belongs to."""
    return parameter.removeprefix(prefix).split(".")[0]


def _check_task(folder: Path, names: Mapping[int, str]) -> None:
    """Raise an error if a trained classifier's labels are not those of the task."""
    from transformers import AutoConfig

    found = AutoConfig.from_pretrained(folder, trust_remote_code=False).id2label
    if dict(found) != dict(names):
        raise InputError(
            f"{folder}: this classifier has the labels {found}, not {dict(names)}. "
            "Use the model that was fine-tuned on this task, or an encoder without a classifier."
        )


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
    found, expected = tokenizer.pad_token_id, checkpoints.padding_of_positions(encoder)
    if expected is not None and found != expected:
        raise InputError(
            f"{folder}: padding has the id {found} in the tokenizer, but {expected} in "
            "config.json (pad_token_id), from which the model counts positions. Expected the "
            "tokenizer that the model was trained with."
        )
