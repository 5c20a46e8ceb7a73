"""Load the tokenizer of a checkpoint, and check that its texts are those that the model knows."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.core.models import checkpoints
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedConfig, PreTrainedTokenizerBase


_SEGMENT_IDS = "token_type_ids"
_PIECES_TRIED = 5000
"""Word pieces of a vocabulary that are tried on its tokenizer, evenly spaced."""
_LOST_PIECES = 0.05
"""Greatest share of these that a tokenizer may change."""
_WORD_BOUNDARIES = re.compile(r"[\s\u2581]")
"""White space, and SentencePiece's sign for it."""


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
