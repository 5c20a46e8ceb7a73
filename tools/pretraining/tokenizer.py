"""A BERT word-piece tokenizer trained on the generated corpus."""

from __future__ import annotations

import math
import string
from collections import Counter
from collections.abc import Iterable
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import BertTokenizer

VOCAB_SIZE = 1650
MAX_LENGTH = 128
_SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")


def _alphabet() -> list[str]:
    characters = sorted(set(string.printable.lower()) - set(string.whitespace))
    inside = [f"##{c}" for c in characters if c not in string.punctuation]
    return [*_SPECIAL, *characters, *inside]


def _pieces(words: list[str], size: int) -> dict[str, int]:
    """The alphabet, and those of ``size`` trained word pieces that occur in the words."""
    from tokenizers import Tokenizer, models
    from tokenizers.trainers import WordPieceTrainer

    tokenizer = Tokenizer(models.WordPiece(unk_token="[UNK]"))
    # Listing the characters first fixes their ids, which decide ties between merges. The trainer
    # would number them in hash-table order, which differs between runs.
    trainer = WordPieceTrainer(vocab_size=size, special_tokens=_alphabet(), show_progress=False)
    tokenizer.train_from_iterator(words, trainer)
    vocabulary = tokenizer.get_vocab()
    # A new tokenizer: in the first one, characters are special tokens, which never match in words.
    splitter = Tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))
    used = {piece for word in set(words) for piece in splitter.encode(word).tokens}
    ordered = sorted(vocabulary.items(), key=lambda item: item[1])
    fixed = len(_alphabet())
    kept = [piece for piece, index in ordered if index < fixed or piece in used]
    return {piece: index for index, piece in enumerate(kept)}


def _words(texts: Iterable[str], most: int = 100_000) -> list[str]:
    """The words of the texts, in proportion to their counts, at most about ``most`` in all."""
    from tokenizers import normalizers, pre_tokenizers

    normalizer = normalizers.BertNormalizer(lowercase=True)
    splitter = pre_tokenizers.BertPreTokenizer()
    counts = Counter(word for text in texts for word in text.split())
    words: Counter[str] = Counter()
    for word, count in counts.items():
        for part, _ in splitter.pre_tokenize_str(normalizer.normalize_str(word)):
            words[part] += count
    scale = min(1.0, most / max(1, sum(words.values())))
    repeated = ([word] * math.ceil(words[word] * scale) for word in sorted(words))
    return list(chain.from_iterable(repeated))


def train_tokenizer(
    texts: Iterable[str], vocab_size: int = VOCAB_SIZE, folder: Path = Path()
) -> BertTokenizer:
    """Train word pieces and write a folder that ``AutoTokenizer`` loads as a BERT tokenizer.

    Text is lower-cased, ``[CLS] A [SEP] B [SEP]`` with segment ids. Every printable ASCII
    character is a word piece, both at the beginning of a word and inside, so other texts are split
    rather than unknown. Word pieces that only served to build longer ones are dropped; the
    vocabulary is the largest that fits.

    Args:
        texts: Sentences.
        vocab_size: Largest number of word pieces, special tokens included; small, so that words are
            split.
        folder: Where to write the tokenizer's files.

    Raises:
        InputError: Not even the characters fit.
    """
    from transformers import BertTokenizer

    low, high = len(_alphabet()), 4 * vocab_size
    if vocab_size <= low:
        message = f"vocab_size is {vocab_size}; it must exceed the {low} characters and marks."
        raise InputError(message)
    words = _words(texts)
    best: dict[str, int] = {}
    while high - low > 10:
        middle = (low + high) // 2
        pieces = _pieces(words, middle)
        if len(pieces) > vocab_size:
            high = middle
        else:
            low, best = middle, pieces
    bert = BertTokenizer(vocab=best, do_lower_case=True, model_max_length=MAX_LENGTH)
    bert.save_pretrained(folder)
    return bert
