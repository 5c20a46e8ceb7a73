"""How probable sentences are: by masked words, and by counts of word pieces."""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Sequence

import numpy as np
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from darksecrets.core.arrays import Floats
from darksecrets.core.run.progress import progress

_BIGRAMS = 0.9
"""Weight of a bigram's share; that of the unigram has the rest."""
_ROWS = 64
"""Sequences of a batch."""


def pseudo_log_likelihoods(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    texts: Sequence[str],
    *,
    whole_words: bool = False,
) -> Floats:
    """Σ log p(w_t | all others), each word piece masked in turn (Salazar et al. 2020).

    Args:
        model: A model that predicts masked words.
        tokenizer: Its tokenizer.
        texts: The sentences.
        whole_words: Whether the later pieces of a masked word are masked, too (Kauf and Ivanova
            2023).

    Returns:
        [texts].
    """
    totals = np.zeros(len(texts))
    rows = [
        (ids, place, number)
        for number, text in enumerate(texts)
        for ids, place in masked_rows(tokenizer, text, whole_words=whole_words)
    ]
    rows.sort(key=lambda row: -len(row[0][0]))
    with progress("Masked words", len(rows), "words") as advance:
        for _, same in itertools.groupby(rows, key=lambda row: len(row[0][0])):
            for batch in _batches(same):
                masked = torch.tensor([ids[0] for ids, _, _ in batch]).to(model.device)
                places = torch.tensor([place for _, place, _ in batch]).to(model.device)
                answers = torch.tensor([ids[1] for ids, _, _ in batch]).to(model.device)
                with torch.inference_mode():
                    logits = model(input_ids=masked, attention_mask=torch.ones_like(masked)).logits
                    line = torch.arange(len(batch), device=model.device)
                    own = torch.log_softmax(logits[line, places].double(), dim=-1)
                found = own[line, answers].cpu().numpy()
                np.add.at(totals, [number for _, _, number in batch], found)
                advance(len(batch))
    return totals


def has_split_word(tokenizer: PreTrainedTokenizerBase, text: str) -> bool:
    """Whether a word of a text has several pieces."""
    words = [word for word in tokenizer(text).word_ids() if word is not None]
    return len(set(words)) < len(words)


Row = tuple[tuple[list[int], int], int]


def masked_rows(tokenizer: PreTrainedTokenizerBase, text: str, *, whole_words: bool) -> list[Row]:
    """For every word piece of a text: its ids with the mask, the piece, and its place."""
    encoded = tokenizer(text, return_special_tokens_mask=True)
    ids, special, words = encoded["input_ids"], encoded["special_tokens_mask"], encoded.word_ids()
    found = []
    for place, number in enumerate(ids):
        if special[place]:
            continue
        hidden = {place}
        if whole_words:
            hidden |= {later for later in range(place, len(ids)) if words[later] == words[place]}
        masked = [
            tokenizer.mask_token_id if other in hidden else own for other, own in enumerate(ids)
        ]
        found.append(((masked, number), place))
    return found


def _batches(rows: Iterable[tuple[tuple[list[int], int], int, int]]) -> Iterable[list]:  # type: ignore[type-arg]
    every = iter(rows)
    return iter(lambda: list(itertools.islice(every, _ROWS)), [])


class NGrams:
    """Shares of word pieces, and of pairs of neighbours, in texts.

    Args:
        tokenizer: The tokenizer of the model to compare with.
        texts: The texts that are counted.
    """

    def __init__(self, tokenizer: PreTrainedTokenizerBase, texts: Sequence[str]) -> None:
        self._tokenizer, self._size = tokenizer, len(tokenizer)
        sequences = tokenizer(list(texts))["input_ids"] if texts else []
        self._single = Counter(number for ids in sequences for number in ids[1:])
        self._pairs = Counter(pair for ids in sequences for pair in itertools.pairwise(ids))
        self._before = Counter(number for ids in sequences for number in ids[:-1])
        self._total = sum(self._single.values())

    def log_likelihoods(self, texts: Sequence[str], *, pairs: bool) -> Floats:
        """[texts] log-likelihood of each; with one count more of every piece.

        Args:
            texts: The sentences.
            pairs: Whether a piece depends on the one before it: nine tenths of its share after
                that piece, and one tenth of its share anywhere.
        """
        found = []
        for ids in self._tokenizer(list(texts))["input_ids"]:
            total = 0.0
            for before, number in itertools.pairwise(ids):
                anywhere = (self._single[number] + 1) / (self._total + self._size)
                after = self._before[before]
                if pairs and after:
                    share = self._pairs[before, number] / after
                    anywhere = _BIGRAMS * share + (1 - _BIGRAMS) * anywhere
                total += float(np.log(anywhere))
            found.append(total)
        return np.array(found)
