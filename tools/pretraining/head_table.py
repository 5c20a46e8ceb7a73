"""What each head of the tiny BERT attends to after pre-training, as a table."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from darksecrets.core.attention.entropy import entropy_sums

if TYPE_CHECKING:
    from transformers import BertForPreTraining, PreTrainedTokenizerBase

# Where a word's attention goes; every key counts once. First the special tokens, then the word
# itself and its neighbours, then the other words of its segment and those of the other segment.
PLACES = ("cls", "sep", "self", "previous", "next", "same_segment", "other_segment")
MEASURES = (*PLACES, "same_piece", "entropy", "relative_entropy")

NAMED = ("previous", "next", "self", "cls", "sep")
MOSTLY = 0.5  # a head is named after the place that gets more than this share
SPREAD = 0.8  # a head is spread when its entropy exceeds this share of the uniform map's


def places(segments: np.ndarray, cls: np.ndarray, sep: np.ndarray) -> np.ndarray:
    """Tell for every query and key which of ``PLACES`` the key is, as an index.

    Args:
        segments: ``[tokens]``, 0 or 1.
        cls: ``[tokens]``, whether the token is [CLS].
        sep: ``[tokens]``, whether the token is [SEP].

    Returns:
        ``[tokens, tokens]``, query by key. Neighbours are words, never special tokens.
    """
    position = np.arange(len(segments))
    distance = position[None, :] - position[:, None]
    same = segments[:, None] == segments[None, :]
    conditions = {
        "cls": np.broadcast_to(cls, same.shape),
        "sep": np.broadcast_to(sep, same.shape),
        "self": distance == 0,
        "previous": distance == -1,
        "next": distance == 1,
        "same_segment": same,
        "other_segment": ~same,
    }
    return np.select([conditions[name] for name in PLACES], range(len(PLACES)))


def measure(
    maps: np.ndarray, ids: np.ndarray, segments: np.ndarray, cls: int, sep: int
) -> np.ndarray:
    """Sum the measures of all heads over the words of one input; [CLS] and [SEP] are not queries.

    Args:
        maps: Self-attention maps ``[layer, head, query, key]`` without padding; rows sum to 1.
        ids: Word-piece ids ``[tokens]``.
        segments: Segment of every token, ``[tokens]``.
        cls: Id of [CLS].
        sep: Id of [SEP].

    Returns:
        ``[layer, head, measure]``, in the order of ``MEASURES``, summed over the words: shares of
        attention, the share that goes to equal word pieces elsewhere, the entropy in nats, and
        the entropy relative to that of a uniform row.
    """
    is_cls, is_sep = ids == cls, ids == sep
    words = ~(is_cls | is_sep)
    place = places(segments, is_cls, is_sep)[words]
    rows = maps[:, :, words].astype(np.float64)
    shares = [np.where(place == i, rows, 0).sum(axis=(2, 3)) for i in range(len(PLACES))]
    equal = (ids[None, :] == ids[:, None]) & ~np.eye(len(ids), dtype=bool)
    same_piece = np.where(equal[words], rows, 0).sum(axis=(2, 3))
    entropy = entropy_sums(rows)
    return np.stack([*shares, same_piece, entropy, entropy / np.log(len(ids))], axis=-1)


def kind(row: pd.Series) -> str:
    """Kind of a head: one of ``NAMED``, ``spread``, or else ``mixed``."""
    shares = row[list(NAMED)].astype(float)
    if shares.max() > MOSTLY:
        return str(shares.idxmax())
    return "spread" if row["relative_entropy"] > SPREAD else "mixed"


def head_table(
    model: BertForPreTraining,
    tokenizer: PreTrainedTokenizerBase,
    examples: Iterable[dict[str, list[int]]],
) -> tuple[pd.DataFrame, pd.Series]:
    """Measure all heads of a model on examples, one at a time, without padding.

    Args:
        model: The model.
        tokenizer: Its tokenizer, for the ids of [CLS] and [SEP].
        examples: ``input_ids`` and ``token_type_ids`` of each.

    Returns:
        A row per head with ``layer`` and ``head`` from 1, the means of ``MEASURES`` over all
        words of all examples, and ``kind``; and the same means for uniform attention.
    """
    import torch

    from darksecrets.core.models.hooks import observe

    config = model.config
    total = np.zeros((config.num_hidden_layers, config.num_attention_heads, len(MEASURES)))
    uniform, words = np.zeros(len(MEASURES)), 0
    model.train(False)
    for example in examples:
        ids, segments = (np.array(example[key]) for key in ("input_ids", "token_type_ids"))
        with torch.inference_mode(), observe(model, maps=True) as seen:
            model(input_ids=torch.tensor(ids)[None], token_type_ids=torch.tensor(segments)[None])
        maps = seen.maps.stack()[0].numpy()
        special = (tokenizer.cls_token_id, tokenizer.sep_token_id)
        total += measure(maps, ids, segments, *special)
        flat = np.full((1, 1, len(ids), len(ids)), 1 / len(ids))
        uniform += measure(flat, ids, segments, *special)[0, 0]
        words += int((~np.isin(ids, special)).sum())

    means = total / words
    layers, heads = np.indices(means.shape[:2]) + 1
    table = pd.DataFrame({"layer": layers.ravel(), "head": heads.ravel()})
    table[list(MEASURES)] = means.reshape(-1, len(MEASURES))
    table["kind"] = [kind(row) for _, row in table.iterrows()]
    return table, pd.Series(uniform / words, index=MEASURES)


def summary(table: pd.DataFrame, uniform: pd.Series) -> str:
    """Write the table as Markdown, after the number of heads of each kind."""
    counts = table["kind"].value_counts()
    shown = table.drop(columns="entropy")
    baseline = {"layer": "", "head": "", **uniform.drop("entropy"), "kind": "uniform attention"}
    shown = pd.concat([shown, pd.DataFrame([baseline])])
    return "\n".join(
        [
            "# What the heads of the tiny BERT look at",
            "",
            "Share of the attention of words (not of `[CLS]` and `[SEP]`) that goes to each place,",
            "on held-out pairs of the generated corpus. `same_piece` is the share on equal word",
            "pieces elsewhere; `relative_entropy` is 1 for a uniform map. A head is named after",
            f"the place that gets more than {MOSTLY:.0%} of its attention; without one it is",
            f"`spread` when its relative entropy is over {SPREAD}, and else `mixed`.",
            "",
            counts.rename_axis("kind").rename("heads").to_frame().to_markdown(),
            "",
            shown.to_markdown(index=False, floatfmt=".2f"),
            "",
        ]
    )
