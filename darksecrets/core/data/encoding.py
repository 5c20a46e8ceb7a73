"""From sentences to word-piece ids: one place for training, scoring and extraction."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from darksecrets.core.data import coverage
from darksecrets.core.data.tasks import SENTENCES, sentence_columns
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase


def _require_sentences(names: Iterable[str]) -> list[str]:
    """Those of the given columns that are text columns, see `sentence_columns`.

    Raises:
        InputError: The first sentence is not among them.
    """
    given = list(names)
    found = sentence_columns(given)
    if SENTENCES[0] not in found:
        raise InputError(
            f"The columns are {', '.join(map(str, given)) or 'none'}. Give lists of texts as "
            f"{SENTENCES[0]} and, for pairs, {SENTENCES[1]}."
        )
    return found


def columns_of(examples: Any) -> dict[str, Sequence[Any]]:  # noqa: ANN401 - see Args
    """Examples as columns, from whatever people have them in.

    Args:
        examples: Columns by name: a mapping, a data frame of pandas, a data set of ``datasets``.
            Or texts one after the other, or pairs of texts: a list, an array, a column.

    Returns:
        The columns that an attention store needs, as far as they are there: ``sentence1``,
        ``sentence2``, ``idx``. A second sentence that is None is left out.

    Raises:
        InputError: They are a single text, or not all texts, or not all pairs.
    """
    names = getattr(examples, "column_names", None)  # of a data set
    if names is None and (isinstance(examples, Mapping) or hasattr(examples, "columns")):
        names = list(examples.keys())
    if names is not None:
        known = [name for name in names if name == "idx"] + _require_sentences(names)
        return {name: examples[name] for name in known if examples[name] is not None}
    if isinstance(examples, str | bytes) or not isinstance(examples, Iterable):
        raise InputError(
            f"The examples are {examples!r}. Give a list of texts, or a mapping with lists of "
            f"texts as {SENTENCES[0]} and, for pairs, {SENTENCES[1]}."
        )
    entries = list(examples)
    if not any(isinstance(entry, list | tuple) for entry in entries):
        return {SENTENCES[0]: entries}
    for place, entry in enumerate(entries):
        if not isinstance(entry, list | tuple) or len(entry) != len(SENTENCES):
            raise InputError(
                f"Example {place} is {entry!r}, others are pairs. Give either a text for every "
                "example, or two."
            )
    first, second = zip(*entries, strict=True)
    return {SENTENCES[0]: list(first), SENTENCES[1]: list(second)}


def encode(
    columns: Mapping[str, Sequence[str]],
    tokenizer: PreTrainedTokenizerBase,
    max_length: int,
    *,
    layout: bool = False,
    where: str = "The examples",
    tolerant: bool = False,
) -> dict[str, list[list[Any]]]:
    """Tokenize examples without padding; pairs are truncated at the end of the longer sentence.

    Args:
        columns: The text columns of the data contract: ``sentence1`` and, for pairs,
            ``sentence2``. Others are ignored.
        tokenizer: The fast tokenizer saved with the model.
        max_length: Longest sequence kept, in tokens, special tokens included.
        layout: Also return the position of each token: ``special_tokens_mask`` (1 for [CLS] and
            [SEP]), ``offset_mapping`` (start and end, exclusive, in characters of its sentence;
            (0, 0) for special tokens) and ``segments`` (0 first sentence, 1 second; a special
            token belongs to the sentence before it, as in BERT's segment ids, even if the model
            has no such ids). A special token that a text has in letters is one, too.
        where: What the examples are, for messages.
        tolerant: Whether examples of which nearly nothing is known are encoded all the same.

    Returns:
        The model's inputs (``input_ids``, ``attention_mask``, and ``token_type_ids`` if the model
        has them), and the layout if requested: by name, one list per example.

    Raises:
        InputError: The model cannot take sequences of ``max_length`` tokens, or the layout is
            requested and the tokenizer does not report offsets; or the columns are not lists of
            texts of one length; or the tokenizer makes nothing of a text, or nearly nothing of all.
    """
    texts = _texts_of(columns)
    if len(texts) > 1 and tokenizer.is_fast:
        check_pairs(tokenizer)
    if max_length > tokenizer.model_max_length:
        raise InputError(
            f"max_length is {max_length} tokens, but the model takes {tokenizer.model_max_length} "
            f"({tokenizer.name_or_path}). Set max_length to {tokenizer.model_max_length} or less."
        )
    if layout and not tokenizer.is_fast:
        raise InputError(
            f"The tokenizer of {tokenizer.name_or_path} ({type(tokenizer).__name__}) does not "
            "report the positions of tokens in the text. Save a fast one (tokenizer.json) beside "
            "the model."
        )
    encoded = tokenizer(
        *texts,
        truncation="longest_first",
        max_length=max_length,
        padding=False,
        return_special_tokens_mask=layout,
        return_offsets_mapping=layout,
    )
    result: dict[str, list[list[Any]]] = dict(encoded)
    if tokenizer.is_fast:
        coverage.look(
            texts,
            encoded.encodings or [],
            tokenizer.backend_tokenizer,
            tokenizer.unk_token_id,
            max_length,
            where=where,
            tolerant=tolerant,
        )
    if layout:
        examples = range(len(result["input_ids"]))
        result["segments"] = [_segments(encoded.sequence_ids(i)) for i in examples]
        for example in coverage.find_special_tokens(texts, tokenizer.backend_tokenizer):
            _mark_special_tokens(result, example, tokenizer)
    return result


def check_pairs(tokenizer: PreTrainedTokenizerBase) -> None:
    """Check that a pair of texts becomes [CLS] text [SEP] text [SEP], whatever their names.

    A template of single texts alone makes pairs without any special token.

    Raises:
        InputError: Shows what the tokenizer makes of a pair.
    """
    encoded = tokenizer("a", "a")
    ids, texts = encoded["input_ids"], encoded.sequence_ids()
    first, second = (
        [place for place, number in enumerate(texts) if number == text] for text in (0, 1)
    )
    is_whole = (ids[0], ids[-1]) == (tokenizer.cls_token_id, tokenizer.sep_token_id)
    between = ids[first[-1] + 1 : second[0]] if first and second else []
    if not is_whole or tokenizer.sep_token_id not in between:
        found = " ".join(tokenizer.convert_ids_to_tokens(ids))
        raise InputError(
            f"{tokenizer.name_or_path}: the tokenizer makes '{found}' of the pair 'a', 'a', not "
            f"{tokenizer.cls_token} a {tokenizer.sep_token} a {tokenizer.sep_token}. Give its "
            "post-processor (tokenizer.json) a template of pairs, or use tasks of single texts."
        )


def _mark_special_tokens(
    result: dict[str, list[list[Any]]], example: int, tokenizer: PreTrainedTokenizerBase
) -> None:
    """Count the special tokens that a text has in letters as what they are to the model.

    The unknown token and the mask stand for words, and stay such.
    """
    special = {tokenizer.cls_token_id, tokenizer.sep_token_id, tokenizer.pad_token_id}
    special |= {tokenizer.bos_token_id, tokenizer.eos_token_id}
    special -= {tokenizer.unk_token_id, tokenizer.mask_token_id}
    for place, number in enumerate(result["input_ids"][example]):
        if number in special:
            result["special_tokens_mask"][example][place] = 1
            result["offset_mapping"][example][place] = (0, 0)


def _texts_of(columns: Mapping[str, Sequence[str]]) -> list[list[str]]:
    """The text columns as lists of texts.

    Raises:
        InputError: There are none, one is a single text or holds something else than texts, or they
            are of different lengths.
    """
    names = _require_sentences(columns)
    found = []
    for name in names:
        if isinstance(columns[name], str | bytes):
            raise InputError(
                f"{name} is the text {columns[name]!r}, not a list of texts. For one "
                f"example, write [{columns[name]!r}]."
            )
        texts = list(columns[name])
        for place, text in enumerate(texts):
            if not isinstance(text, str) or not text.strip():
                raise InputError(f"{name}[{place}] is {text!r}, not a text. Leave the example out.")
        found.append(texts)
    if len({len(texts) for texts in found}) > 1:
        counts = " and ".join(
            f"{len(texts)} in {name}" for name, texts in zip(names, found, strict=True)
        )
        raise InputError(f"{counts} texts: give as many of one as of the other.")
    return found


def _segments(sentences: Sequence[int | None]) -> list[int]:
    """Assign special tokens (None) to the sentence before them; to 0 at the start."""
    segments: list[int] = []
    for sentence in sentences:
        segments.append(sentence if sentence is not None else (segments or [0])[-1])
    return segments
