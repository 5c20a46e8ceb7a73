"""Which of two sentences an encoder finds more probable."""

from __future__ import annotations

import textwrap
from collections import Counter
from collections.abc import Mapping, Sequence

import numpy as np
import pandas as pd
from transformers import PreTrainedModel, PreTrainedTokenizerBase

from darksecrets.beyond.predictions.measure.likelihoods import (
    NGrams,
    has_split_word,
    pseudo_log_likelihoods,
)
from darksecrets.beyond.predictions.pairs import Pair
from darksecrets.core.arrays import Floats
from darksecrets.core.run.errors import InputError
from darksecrets.core.stats.ratios import ratio, share

_MEANS = ("whole_words", "unigrams", "bigrams")
_LONGEST_SHOWN = 80
"""Characters of a sentence in a message."""


def choose_pairs(pairs: Sequence[Pair], most: int, seed: int) -> list[Pair]:
    """Different pairs, at most so many of each phenomenon and number of attractors, at random."""
    groups: dict[tuple[str, int | None], list[Pair]] = {}
    for pair in dict.fromkeys(pairs):
        groups.setdefault((pair.phenomenon, pair.attractors), []).append(pair)
    chosen = []
    for own in groups.values():
        order = np.random.default_rng(seed).permutation(len(own))[:most]
        chosen += [own[place] for place in sorted(order.tolist())]
    return chosen


def judge(
    model: PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase,
    counts: NGrams,
    pairs: Sequence[Pair],
    max_length: int,
) -> pd.DataFrame:
    """Rows of `MINIMAL_PAIRS` of one model.

    Args:
        model: A model that predicts masked words.
        tokenizer: Its tokenizer.
        counts: Of the texts of the run.
        pairs: The pairs.
        max_length: Longest sequence that the model is to read, in tokens; pairs with a longer
            sentence are left out, like those with words that the tokenizer does not know.

    Raises:
        InputError: All pairs are left out.
    """
    legible = [_is_legible(tokenizer, pair, max_length) for pair in pairs]
    if not any(legible):
        example = textwrap.shorten(pairs[0].right, _LONGEST_SHOWN, placeholder=" …")
        raise InputError(
            f"Of none of the {len(pairs)} pairs, such as {example!r}, the tokenizer knows "
            f"all words and makes at most {max_length} tokens. Give predictions.pairs in the "
            "language of the encoder, or raise fine_tuning.max_length."
        )
    read = [pair for pair, flag in zip(pairs, legible, strict=True) if flag]
    texts = [text for pair in read for text in (pair.right, pair.wrong)]
    plain = pseudo_log_likelihoods(model, tokenizer, texts)
    whole = plain.copy()
    split = [number for number, text in enumerate(texts) if has_split_word(tokenizer, text)]
    some = [texts[number] for number in split]
    whole[split] = pseudo_log_likelihoods(model, tokenizer, some, whole_words=True)
    left_out = Counter(
        pair.phenomenon for pair, flag in zip(pairs, legible, strict=True) if not flag
    )
    likelihoods = {
        "accuracy": plain,
        "whole_words": whole,
        "unigrams": counts.log_likelihoods(texts, pairs=False),
        "bigrams": counts.log_likelihoods(texts, pairs=True),
    }
    return pair_rows(read, likelihoods, left_out)


def pair_rows(
    pairs: Sequence[Pair], likelihoods: Mapping[str, Floats], left_out: Mapping[str, int]
) -> pd.DataFrame:
    """Rows of `MINIMAL_PAIRS`, without the columns that name the model.

    Args:
        pairs: The pairs.
        likelihoods: By column, [2 · pairs] those of right and wrong sentences in turn.
        left_out: By phenomenon, how many of its pairs have been left out.
    """
    right = pd.DataFrame(
        {
            "phenomenon": [pair.phenomenon for pair in pairs],
            "attractors": pd.array([pair.attractors for pair in pairs], dtype="Int64"),
            **{name: _is_right(values) for name, values in likelihoods.items()},
        }
    )
    rows = []
    for (phenomenon, attractors), own in right.groupby(
        ["phenomenon", "attractors"], dropna=False, sort=False
    ):
        ones = np.ones(len(own))
        over = ratio((own["accuracy"] - own["bigrams"]).to_numpy(), ones)
        rows.append(
            {
                "phenomenon": phenomenon,
                "attractors": attractors,
                **share(own["accuracy"].to_numpy(), ones).columns("accuracy", 0, 1),
                **{name: float(own[name].mean()) for name in _MEANS},
                **over.columns("over_bigrams", -1, 1),
                "pairs": len(own),
                "left_out": left_out.get(str(phenomenon), 0),
            }
        )
    return pd.DataFrame(rows)


def _is_legible(tokenizer: PreTrainedTokenizerBase, pair: Pair, max_length: int) -> bool:
    both = tokenizer([pair.right, pair.wrong], verbose=False)["input_ids"]
    if any(len(ids) > max_length for ids in both):
        return False
    return not any(tokenizer.unk_token_id in ids for ids in both)


def _is_right(likelihoods: Floats) -> Floats:
    """[pairs] 1 where the first of two is the greater, a half where both are equal."""
    first, second = likelihoods[::2], likelihoods[1::2]
    equal = np.isclose(first, second, rtol=0, atol=1e-9)
    found: Floats = np.where(equal, 0.5, first > second)
    return found
