"""Extraction: run a model on the sampled examples and store its attention maps (section 4)."""

from __future__ import annotations

import hashlib
import json
import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
import transformers

from darksecrets.core.arrays import Halves
from darksecrets.core.attention.store import AttentionWriter, write_store
from darksecrets.core.data.encoding import columns_of, encode
from darksecrets.core.data.tasks import sentence_columns
from darksecrets.core.models import devices
from darksecrets.core.models.devices import place
from darksecrets.core.models.given import model_folder
from darksecrets.core.models.hooks import collect_maps, shape_of
from darksecrets.core.models.loading import Draw, draw_from_normal, load_encoder
from darksecrets.core.models.reach import windows_of
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run import resuming
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import atomic, fingerprint
from darksecrets.core.run.progress import progress

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase


Inputs = dict[str, list[npt.NDArray[np.int32]]]

#: Largest size in bytes of the maps of a GPU batch; two batches are in pinned host memory.
MAX_HOST_BYTES = 2**28

_STORES = "store-*"

_log = logging.getLogger(__name__)


def read_sample(dataset_folder: Path, sample: Sequence[int]) -> dict[str, list[Any]]:
    """Read ``idx`` and the sentences of the sampled validation examples.

    Args:
        dataset_folder: A task's data, see the data contract.
        sample: Their ``idx``, see `darksecrets.core.data.sampling`.

    Raises:
        InputError: The data set lacks some of them.
    """
    from datasets import load_from_disk

    split = load_from_disk(str(dataset_folder))["validation"]
    rows = {idx: row for row, idx in enumerate(split["idx"])}
    unknown = [idx for idx in sample if idx not in rows]
    if unknown:
        raise InputError(
            f"{dataset_folder}: the validation split lacks {len(unknown)} of {len(sample)} sampled "
            f"examples, such as idx {unknown[0]}; expected all. Draw the sample again."
        )
    selected = split.select([rows[idx] for idx in sample])
    return {name: list(selected[name]) for name in ("idx", *sentence_columns(split.column_names))}


def extract(
    model: str | Path | PreTrainedModel,
    examples: Any,  # noqa: ANN401 - see `columns_of`
    output: str | Path,
    *,
    tokenizer: PreTrainedTokenizerBase | None = None,
    max_length: int = 128,
    batch_size: int = 16,
    overwrite: bool = False,
) -> dict[str, Any]:
    """Write the attention store of a model for some examples.

    Args:
        model: An encoder, with or without a classifier: a Hugging Face folder, a name on the Hub,
            or a loaded model with its tokenizer.
        examples: Texts, or pairs of texts; or columns, in a mapping, a data frame or a data set:
            ``sentence1``; for pairs, ``sentence2``; and the examples' own numbers, ``idx``
            (0, 1, 2 … if omitted).
        output: Folder of the store.
        tokenizer: Of a loaded model.
        max_length: Longest sequence kept, in tokens.
        batch_size: Batch size on a CPU; for GPUs see `batches_for`.
        overwrite: Whether a store, or whatever else is at ``output``, is replaced.

    Returns:
        For the record: the device, the number of batches and the largest batch size.

    Raises:
        InputError: The model cannot be used, see `extract_maps`, or there is something at
            ``output``.
    """
    if Path(output).exists() and not overwrite:
        raise InputError(
            f"{output} is already there and would be overwritten. Choose another folder, or "
            "replace it with overwrite=True."
        )
    columns = columns_of(examples)
    with model_folder(model, tokenizer, max_length) as folder:
        return extract_maps(
            folder, columns, Path(output), max_length=max_length, batch_size=batch_size
        )


def extract_maps(
    folder: Path,
    examples: Mapping[str, Sequence[Any]],
    output: Path,
    *,
    max_length: int = 128,
    batch_size: int = 16,
    draw: Draw | None = None,
    tolerant: bool = False,
) -> dict[str, Any]:
    """Write the attention store of a model for some examples.

    The longest examples come first, so that a lack of memory or an unsuitable model shows at once;
    examples of equal length are ordered by ``idx``. Memory depends on the largest batch, not on
    the number of examples (texts and tokens aside).

    Args:
        folder: Hugging Face folder of an encoder, with or without a classifier.
        examples: Columns: ``sentence1``; for pairs, ``sentence2``; and the examples' own numbers,
            ``idx`` (0, 1, 2 … if omitted).
        output: Folder of the store.
        max_length: Longest sequence kept, in tokens.
        batch_size: Batch size on a CPU; for GPUs see `batches_for`.
        draw: How to draw all weights anew, to compare with an encoder that learned nothing; None to
            keep them.
        tolerant: See `darksecrets.core.data.encoding.encode`.

    Returns:
        For the record: the device, the number of batches and the largest batch size.

    Raises:
        InputError: The checkpoint is not a complete encoder, or it does not return one softmaxed
            map over the real tokens per layer and head.
    """
    tokenizer = load_tokenizer(folder)
    table, inputs = encode_longest_first(examples, tokenizer, max_length, tolerant=tolerant)
    model = load_encoder(folder)
    if draw is not None:
        draw_from_normal(model, draw.seed, draw.std)
    model = place(model)
    shape = shape_of(model)
    lengths = [len(ids) for ids in inputs["input_ids"]]
    windows = windows_of(model, lengths[0]) if lengths else ()
    # Last, as it depends on free memory.
    batches = batches_for(model, batches_of(len(table), batch_size), lengths)
    with (
        write_store(output, table, shape.layers, shape.heads, windows) as writer,
        progress("Attention maps", len(table), "examples") as advance,
    ):
        arrays = maps_of(model, inputs, batches, tokenizer.pad_token_id)
        for batch in batches:
            rows = slice(batch.start, batch.stop)
            # Don't bind the maps to a name: it would keep them alive while the next are computed.
            write_maps(next(arrays), lengths[rows], table["idx"].iloc[rows], writer)
            advance(len(batch))
    most = max(map(len, batches), default=0)
    _log.info("%d batches of at most %d examples on %s", len(batches), most, model.device)
    return {"device": str(model.device), "batches": len(batches), "batch_size": most}


def extract_models(
    models: Mapping[str, Path],
    examples: Mapping[str, Sequence[Any]],
    output: Path,
    *,
    std: float,
    max_length: int,
    batch_size: int,
) -> dict[str, Any]:
    """Write the attention stores of several models for the same examples, one after the other.

    A job that was stopped goes on with the first model whose store is not complete.

    Args:
        models: Folder of each model, by the name of its store; the weights of one that is named
            ``random/seed-<n>`` are drawn anew with that seed.
        examples: See `extract`.
        output: Folder of the stores; it appears when all are complete.
        std: Standard deviation of random weights.
        max_length: See `extract`, likewise the others.
        batch_size: Batch size on a CPU.

    Returns:
        For the record, by name of the store: see `extract`; None if a job before had made it.
    """
    identity = {
        "models": {name: fingerprint(folder) for name, folder in models.items()},
        "examples": hashlib.sha256(json.dumps(examples).encode()).hexdigest(),
        "settings": [std, max_length, batch_size],
        "device": devices.best().type,
        "versions": {"torch": torch.__version__, "transformers": transformers.__version__},
    }
    details: dict[str, Any] = dict.fromkeys(models)
    with resuming.resuming(output, identity, _STORES) as folder:
        steps = {name: folder / _STORES.replace("*", str(n)) for n, name in enumerate(models)}
        for name, step in steps.items():
            if not step.is_dir():
                details[name] = extract_maps(
                    models[name],
                    examples,
                    step,
                    max_length=max_length,
                    batch_size=batch_size,
                    draw=Draw.of(name, std),
                )
                resuming.finish(step)
        with atomic(output) as whole:
            for name, step in steps.items():
                (whole / name).parent.mkdir(parents=True, exist_ok=True)
                step.replace(whole / name)
    return details


def maps_of(
    model: PreTrainedModel, inputs: Inputs, batches: Iterable[range], pad_token_id: int
) -> Iterator[Halves]:
    """Run batches of examples through the model and yield their maps on the host."""
    padded = (pad(inputs, batch, pad_token_id) for batch in batches)
    return copy_to_host((attention_maps(model, batch) for batch in padded), model.device)


def write_maps(
    batch: Halves, lengths: Iterable[int], idx: Iterable[int], writer: AttentionWriter
) -> None:
    """Write the maps of a padded batch, cropped to real tokens.

    Args:
        batch: [example, layer, head, query, key], see `attention_maps`.
        lengths: Real tokens of each example.
        idx: The data set's ``idx`` of each example, for messages.
        writer: The store.

    Raises:
        InputError: The model attends to padding, or its maps are not what the store expects.
    """
    for maps, length, name in zip(batch, lengths, idx, strict=True):
        if maps[:, :, :length, length:].any():
            raise InputError(
                f"Example idx {name}: the model attends to padding. Use a checkpoint whose "
                "attention honours the attention mask."
            )
        writer.append(maps[:, :, :length, :length])


def attention_maps(model: PreTrainedModel, batch: dict[str, torch.Tensor]) -> torch.Tensor:
    """Run a padded batch (see `pad`) through the model.

    Returns:
        [example, layer, head, query, key] weights in half precision, padding included, on the
        model's device.

    Raises:
        InputError: The model does not return one map per layer, head and pair of tokens.
    """
    device, shape = model.device, shape_of(model)
    with torch.inference_mode():
        layers = collect_maps(model, devices.move(batch, device)).values()
        examples, tokens = batch["input_ids"].shape
        expected = (examples, shape.heads, tokens, tokens)
        found = [tuple(layer.shape) for layer in layers]
        if found != [expected] * shape.layers:
            raise InputError(
                f"{type(model).__name__} returned attention of the shapes {found or 'none'} "
                f"instead of {shape.layers} times {expected} (examples, heads, tokens, tokens). "
                "Use a checkpoint with full self-attention."
            )
        # Layers are rounded one at a time, directly into the result.
        size = (examples, shape.layers, *expected[1:])
        maps = torch.empty(size, dtype=torch.float16, device=device)
        for number, layer in enumerate(layers):
            maps[:, number] = layer
        return maps


def copy_to_host(computed: Iterable[torch.Tensor], device: torch.device) -> Iterator[Halves]:
    """Copy the maps of one batch after the other to the host.

    Args:
        computed: Maps on a device, computed batch by batch on request.
        device: The device.

    Returns:
        The maps of each batch; their memory may be reused once the next batch is requested.
    """
    if device.type == "cuda":
        return copy_while_computing(computed, device)
    return map(torch.Tensor.numpy, computed)


def copy_while_computing(
    computed: Iterable[torch.Tensor], device: torch.device
) -> Iterator[Halves]:
    """Like `copy_to_host`, but copies overlap with computing.

    While a batch is yielded, the next one is computed and then copied to pinned memory on a
    separate stream. A CPU has no streams and does the same steps one after the other.
    """
    streams = torch.get_device_module(device)
    copying = streams.Stream()
    buffers = [torch.empty(0, dtype=torch.float16)] * 2
    copied: tuple[torch.Tensor, Any] | None = None
    for maps in computed:  # on a GPU, this only queues the computation
        # One of the two buffers is in `copied`; the caller is done with the other.
        buffer = _make_room(buffers.pop(0), maps, device)
        buffers.append(buffer)
        target = buffer[: maps.numel()].view(maps.shape)
        copying.wait_stream(streams.current_stream())
        with streams.stream(copying):
            target.copy_(maps, non_blocking=True)
            done = streams.Event()
            done.record()
        if device.type == "cuda":
            maps.record_stream(copying)  # or its memory could be reused before it is copied
        del maps
        if copied is not None:
            yield _arrived(*copied)
        copied = target, done
    if copied is not None:
        yield _arrived(*copied)


def _make_room(buffer: torch.Tensor, maps: torch.Tensor, device: torch.device) -> torch.Tensor:
    """The buffer itself if the maps fit, else a larger one, pinned for a GPU."""
    if buffer.numel() >= maps.numel():
        return buffer
    return torch.empty(maps.numel(), dtype=maps.dtype, pin_memory=device.type == "cuda")


def _arrived(target: torch.Tensor, done: Any) -> Halves:  # noqa: ANN401 - the device's event
    done.synchronize()
    return target.numpy()


def batches_of(examples: int, batch_size: int) -> list[range]:
    """Split the examples into batches; the last one may be smaller."""
    starts = range(0, examples, batch_size)
    return [range(first, min(first + batch_size, examples)) for first in starts]


def batches_for(
    model: PreTrainedModel, batches: Sequence[range], lengths: Sequence[int]
) -> list[range]:
    """Split consecutive examples into batches that suit the model's device.

    Args:
        model: From :func:`load_encoder`.
        batches: Consecutive batches of the examples, used as they are on a CPU.
        lengths: Tokens of all examples, longest first.

    Returns:
        On a GPU, batches as large as its memory and `MAX_HOST_BYTES` allow. Which examples share a
        batch changes maps only by rounding; in half precision, mostly not at all.
    """
    if model.device.type != "cuda" or not batches:
        return list(batches)
    config, found = model.config, []
    first, end = batches[0].start, batches[-1].stop
    while first < end:
        numbers = config.num_hidden_layers * config.num_attention_heads * lengths[first] ** 2
        # Maps as they are computed, and two batches of them in half precision.
        size = devices.sequence_bytes(config, lengths[first]) + (4 + 2 + 2) * numbers
        most = max(1, MAX_HOST_BYTES // (2 * numbers))
        count = devices.batch_size(model.device, size, cpu=1, gpu=most)
        found.append(range(first, min(first + count, end)))
        first = found[-1].stop
    return found


def pad(inputs: Inputs, batch: range, pad_token_id: int) -> dict[str, torch.Tensor]:
    """Build the model's inputs for a batch, [example, token], padded on the right."""
    return {
        name: torch.nn.utils.rnn.pad_sequence(
            [torch.tensor(rows[example], dtype=torch.long) for example in batch],
            batch_first=True,
            padding_value=pad_token_id if name == "input_ids" else 0,
        )
        for name, rows in inputs.items()
    }


def encode_longest_first(
    examples: Mapping[str, Sequence[Any]],
    tokenizer: PreTrainedTokenizerBase,
    max_length: int,
    *,
    tolerant: bool = False,
) -> tuple[pd.DataFrame, Inputs]:
    """Tokenize examples and sort them, longest first, those of equal length by ``idx``.

    Args:
        examples: See `extract`.
        tokenizer: That of the model.
        max_length: Longest sequence kept, in tokens.
        tolerant: See `darksecrets.core.data.encoding.encode`.

    Returns:
        The rows of the store, see `attention.store`; and the model's inputs, in the same order.
    """
    encoded = encode(examples, tokenizer, max_length, layout=True, tolerant=tolerant)
    numbers = list(examples.get("idx", range(len(encoded["input_ids"]))))
    if len(numbers) != len(encoded["input_ids"]) or len({*numbers}) < len(numbers):
        raise InputError(
            f"idx: {len(numbers)} numbers, {len({*numbers})} of them different, for "
            f"{len(encoded['input_ids'])} examples. Give each example a number of its own."
        )
    order = np.lexsort((numbers, [-len(ids) for ids in encoded["input_ids"]]))
    # Arrays, because lists of Python numbers would take much memory with many examples.
    rows = {
        name: [np.array(values[i], dtype=np.int32) for i in order]
        for name, values in encoded.items()
    }
    table = pd.DataFrame(
        {
            "idx": [numbers[i] for i in order],
            "tokens": [tokenizer.convert_ids_to_tokens(ids.tolist()) for ids in rows["input_ids"]],
            "segments": rows["segments"],
            "special": [flags.astype(bool) for flags in rows["special_tokens_mask"]],
            "starts": [spans[:, 0] for spans in rows["offset_mapping"]],
            "ends": [spans[:, 1] for spans in rows["offset_mapping"]],
        }
    )
    return table, {name: rows[name] for name in tokenizer.model_input_names if name in rows}
