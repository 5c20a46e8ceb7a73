"""From sentences to word-piece ids: one place for training, scoring and extraction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from darksecrets.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


#: Text columns of the project's data: every example has one sentence, those of pairs two.
SENTENCES = ("sentence1", "sentence2")


def sentence_columns(names: Iterable[str]) -> list[str]:
    """The text columns of the data contract among some: one sentence, or two."""
    found = set(names)
    return [name for name in SENTENCES if name in found]


def encode(
    columns: Mapping[str, Sequence[str]],
    tokenizer: PreTrainedTokenizerBase,
    max_length: int,
    *,
    layout: bool = False,
) -> dict[str, list[list[Any]]]:
    """Tokenize examples, without padding; pairs are cut from the end of the longer sentence.

    Args:
        columns: The text columns of the data contract, ``sentence1`` and, for pairs,
            ``sentence2``; others are ignored.
        tokenizer: A fast tokenizer, the one saved with the model.
        max_length: Longest sequence kept, in tokens including the special ones.
        layout: Also return where each token stands: ``special_tokens_mask`` (1 for [CLS] and
            [SEP]), ``offset_mapping`` (first character and the one after the last in its
            sentence; special tokens have (0, 0)) and ``segments`` (0 first sentence, 1 second; a
            special token belongs to the sentence before it, as BERT's segment ids have it, also
            where the model has no such ids).

    Returns:
        What the model takes (``input_ids``, ``attention_mask``, ``token_type_ids`` where the
        model has them), and the layout if asked for: by name, one list per example.

    Raises:
        InputError: The model cannot take sequences of ``max_length`` tokens, or the tokenizer
            cannot tell where tokens stand.
    """
    if max_length > tokenizer.model_max_length:
        raise InputError(
            f"max_length is {max_length} tokens, but the model takes {tokenizer.model_max_length} "
            f"({tokenizer.name_or_path}). Set max_length to {tokenizer.model_max_length} or less."
        )
    if layout and not tokenizer.is_fast:
        raise InputError(
            f"The tokenizer of {tokenizer.name_or_path} ({type(tokenizer).__name__}) does not say "
            "where tokens stand in the text. Save a fast one (tokenizer.json) beside the model."
        )
    encoded = tokenizer(
        *(list(columns[name]) for name in sentence_columns(columns)),
        truncation="longest_first",
        max_length=max_length,
        padding=False,
        return_special_tokens_mask=layout,
        return_offsets_mapping=layout,
    )
    result: dict[str, list[list[Any]]] = dict(encoded)
    if layout:
        examples = range(len(result["input_ids"]))
        result["segments"] = [_segments(encoded.sequence_ids(i)) for i in examples]
    return result


def _segments(sentences: Sequence[int | None]) -> list[int]:
    """Give special tokens (None) the number of the sentence before them, 0 at the start."""
    segments: list[int] = []
    for sentence in sentences:
        segments.append(sentence if sentence is not None else (segments or [0])[-1])
    return segments
