"""What an encoder puts in the place of a masked word (Petroni et al. 2019; Ettinger 2020)."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
import torch
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from darksecrets.beyond.predictions.cloze import MASK, Item
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.ratios import ratio, share

_ROWS = 64
"""Sentences of a batch."""


@dataclass(frozen=True)
class Answer:
    """What an encoder says of an item.

    Attributes:
        item: The item.
        rank: Rank of the right word among all pieces of the vocabulary, from 1; pieces that are as
            probable stand before it, so that an encoder that prefers none is never right.
        log_probability: Of the right word.
        best: Number of the most probable piece.
    """

    item: Item
    rank: int
    log_probability: float
    best: int


def answerable(
    tokenizer: PreTrainedTokenizerBase, items: Sequence[Item], max_length: int
) -> tuple[list[Item], Counter[str]]:
    """Items that fit, and whose right word is a single piece; and, by set, how many others.

    Args:
        tokenizer: The tokenizer of a model that predicts masked words.
        items: The items.
        max_length: Longest sequence that the model is to read, in tokens.

    Raises:
        InputError: There are none.
    """
    kept = [item for item in items if _piece(tokenizer, item, max_length) is not None]
    if not kept:
        raise InputError(
            f"The right word of none of the {len(items)} sentences with a masked word is a single "
            f"piece of the vocabulary, such as {items[0].right!r}, in a sentence of at most "
            f"{max_length} tokens. Give predictions.cloze in the language of the encoder, or raise "
            "fine_tuning.max_length."
        )
    return kept, Counter(item.group for item in items) - Counter(item.group for item in kept)


def _piece(
    tokenizer: PreTrainedTokenizerBase, item: Item, max_length: float = math.inf
) -> int | None:
    """The right word as a piece of the vocabulary, where it stands in its sentence.

    Args:
        tokenizer: The tokenizer of a model that predicts masked words.
        item: The item.
        max_length: Longest sentence, in tokens.

    Returns:
        The number of the piece; None if there are several, or the sentence is longer.
    """
    text = item.sentence.replace(MASK, item.right)
    start = item.sentence.index(MASK)
    encoded = tokenizer(text, return_offsets_mapping=True, verbose=False)
    if len(encoded["input_ids"]) > max_length:
        return None
    own = [
        number
        for number, (first, last) in zip(
            encoded["input_ids"], encoded["offset_mapping"], strict=True
        )
        if first < start + len(item.right) and last > start and last > first
    ]
    if len(own) != 1 or own[0] == tokenizer.unk_token_id:
        return None
    return int(own[0])


def answers(
    model: PreTrainedModel, tokenizer: PreTrainedTokenizerBase, items: Sequence[Item]
) -> list[Answer]:
    """What an encoder says of items whose right word is a single piece.

    Args:
        model: A model that predicts masked words.
        tokenizer: Its tokenizer.
        items: See `answerable`.
    """
    found = []
    with progress("Masked words", len(items), "sentences") as advance:
        for start in range(0, len(items), _ROWS):
            batch = items[start : start + _ROWS]
            texts = [item.sentence.replace(MASK, tokenizer.mask_token) for item in batch]
            inputs = tokenizer(texts, padding=True, return_tensors="pt").to(model.device)
            line, place = (inputs["input_ids"] == tokenizer.mask_token_id).nonzero().T
            with torch.inference_mode():
                logits = model(**inputs).logits[line, place].double().log_softmax(dim=-1)
            for item, own in zip(batch, logits.cpu(), strict=True):
                piece = _piece(tokenizer, item)
                assert piece is not None
                known = own[piece]
                rank = int((own >= known).sum())
                found.append(Answer(item, rank, float(known), int(own.argmax())))
            advance(len(batch))
    return found


def cloze_rows(found: Sequence[Answer], left_out: Counter[str]) -> pd.DataFrame:
    """Rows of `CLOZE`, without the columns that name the model.

    Args:
        found: What the model says of every item.
        left_out: By set, items whose right word is several pieces.
    """
    rows = []
    for (group, condition), own in _conditions_of(found):
        ranks = np.array([answer.rank for answer in own])
        ones = np.ones(len(own))
        rights = Counter(answer.item.right for answer in own)
        rows.append(
            {
                "set": group,
                "condition": condition,
                **share((ranks == 1) * 1.0, ones).columns("first", 0, 1),
                "first_ten": float((ranks <= 10).mean()),
                "reciprocal_rank": float((1 / ranks).mean()),
                "majority": max(rights.values()) / len(own),
                **_beside_first(group, condition, own, found),
                "items": len(own),
                "left_out": left_out[group],
            }
        )
    return pd.DataFrame(rows)


def _conditions_of(found: Sequence[Answer]) -> Iterator[tuple[tuple[str, str], list[Answer]]]:
    """Answers by set and condition, in the order of the file."""
    groups: dict[tuple[str, str], list[Answer]] = {}
    for answer in found:
        groups.setdefault((answer.item.group, answer.item.condition), []).append(answer)
    return iter(groups.items())


def _beside_first(
    group: str, condition: str, own: Sequence[Answer], found: Sequence[Answer]
) -> dict[str, float]:
    """How much differs from the same items under the first condition of their set."""
    first = next(answer.item.condition for answer in found if answer.item.group == group)
    others = {
        answer.item.number: answer
        for answer in found
        if answer.item.group == group and answer.item.condition == first
    }
    pairs = [(answer, others[answer.item.number]) for answer in own if answer.item.number in others]
    if condition == first or len(pairs) < 2:
        names = [f"{name}{end}" for name in ("same", "change") for end in ("", "_low", "_high")]
        return dict.fromkeys(names, math.nan)
    ones = np.ones(len(pairs))
    same = np.array([one.best == other.best for one, other in pairs], dtype=np.float64)
    change = np.array([one.log_probability - other.log_probability for one, other in pairs])
    return {
        **{name: float(value) for name, value in share(same, ones).columns("same", 0, 1).items()},
        **{name: float(value) for name, value in ratio(change, ones).columns("change").items()},
    }
