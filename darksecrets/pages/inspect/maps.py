"""The maps of an encoder on text, and their patterns."""

from __future__ import annotations

import logging
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import pandas as pd

from darksecrets.core.run.errors import InputError
from darksecrets.core.run.tables import identify
from darksecrets.pages.inspect import texts
from darksecrets.pages.inspect.texts import MODEL, Example

if TYPE_CHECKING:
    from transformers import PreTrainedTokenizerBase

    from darksecrets.core.attention.store import AttentionStore

_log = logging.getLogger(__name__)


def extract_examples(
    examples: Sequence[Example], model: Path, store: Path, max_length: int
) -> pd.DataFrame:
    """Write the attention store of examples.

    Returns:
        The table of the examples, see `describe_examples`.
    """
    from darksecrets.core.attention.extraction import extract_maps
    from darksecrets.core.models.tokenizing import load_tokenizer

    table = describe_examples(examples, load_tokenizer(model), max_length)
    columns = texts.columns(examples)
    extract_maps(model, columns, store, max_length=max_length, tolerant=True)
    return table


def describe_examples(
    examples: Sequence[Example], tokenizer: PreTrainedTokenizerBase, max_length: int
) -> pd.DataFrame:
    """Tokenize examples; a warning names those that are too long, of which the end is cut off.

    Returns:
        The table `darksecrets.pages.inspect.tables.EXAMPLES`.

    Raises:
        InputError: The tokenizer finds nothing in an example, or the model takes fewer tokens than
            ``max_length``.
    """
    from darksecrets.core.data.encoding import encode

    columns = texts.columns(examples)
    encoded = encode(columns, tokenizer, max_length, layout=True, where="text", tolerant=True)
    for number, special in enumerate(encoded["special_tokens_mask"], 1):
        if all(special):
            raise InputError(
                f"text, example {number}: the model's tokenizer finds no token in "
                f"{examples[number - 1]!r}; expected words. Remove the example."
            )
    kept = [len(ids) for ids in encoded["input_ids"]]
    whole = [len(ids) for ids in tokenizer(*columns.values(), verbose=False)["input_ids"]]
    cut = [long - short for long, short in zip(whole, kept, strict=True)]
    for number, left in enumerate(cut):
        if left:
            _log.warning(
                "text, example %d: %d of its %d tokens are cut off, because at most %d are used "
                "(fine_tuning.max_length; the model takes %d).",
                *(number + 1, left, whole[number], max_length, tokenizer.model_max_length),
            )
    second = columns.get("sentence2", [""] * len(examples))
    numbers = {"idx": range(len(examples)), "sentence1": columns["sentence1"], "sentence2": second}
    return pd.DataFrame({**numbers, "tokens": kept, "cut": cut})


def classify_maps(
    store: AttentionStore, classifier: Path, examples: Sequence[Example]
) -> pd.DataFrame:
    """The pattern of every map, table `darksecrets.paper.patterns.tables.PATTERN_MAPS`."""
    from darksecrets.paper.patterns.network.classification import classify
    from darksecrets.paper.patterns.network.classifier import load

    table = classify(store, load(classifier))
    table = table.sort_values(["idx", "layer", "head"])
    return identify(table.reset_index(drop=True), texts.digest(examples), MODEL)
