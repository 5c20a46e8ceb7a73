"""Load models (section 3): pre-trained, with a new classifier, or randomly initialized.

Mismatches that would make results silently wrong are errors: parameters of the encoder that the
checkpoint lacks, which would stay random, and encoder parameters of the checkpoint that are unused.
"""

from __future__ import annotations

import logging
from collections.abc import Container, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from darksecrets.core.models import checkpoints
from darksecrets.core.models.quietly import quiet
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.states import RANDOM

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedModel

    from darksecrets.core.data.tasks import Task


RUN_AS = {
    "return_dict": True,
    "output_attentions": False,
    "output_hidden_states": False,
    "torchscript": False,
    "chunk_size_feed_forward": 0,  # saves memory, but only lengths that it divides can be read
    "gradient_checkpointing": False,  # saves memory, but computes every layer twice
}
"""Settings with which all models are run, whatever their ``config.json`` says."""

ENCODER, CLASSIFIER = "AutoModel", "AutoModelForSequenceClassification"
MASKED = "AutoModelForMaskedLM"
_log = logging.getLogger(__name__)


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
    model, info = load(folder, MASKED, dtype="float32")
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
    return load(folder, ENCODER, dtype="float32")[0]


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
    model, info = load(
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


def load(
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
    settings = {**RUN_AS, **settings}
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
