"""Checks of a user's text before the first job."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darksecrets.core.models import checkpoints
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.libraries import can_import
from darksecrets.pages.inspect import texts

MISSING = (
    "The target `inspect` needs text: found no key `text`. Add --config 'text=The cat sat.', or "
    "name a file with one example a line; docs/inspect.md says more."
)


def check(config: Mapping[str, Any]) -> None:
    """Check the text itself.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: There is no text, or it cannot be used, see `texts.read`.
    """
    if config["text"] is None:
        raise InputError(MISSING)
    texts.read(config["text"])


def check_tokens(config: Mapping[str, Any]) -> None:
    """Check the text with the model's tokenizer and the parser, before a run.

    Text that is too long is named in a warning. A model on the Hub is not fetched for this: its
    first job does the same.

    Raises:
        InputError: There is nothing to look at, or the parser that is asked for cannot be used.
    """
    check(config)
    if config["model"]["source"] != "hub" and can_import("transformers"):
        from darksecrets.core.models.tokenizing import load_tokenizer
        from darksecrets.pages.inspect.maps import describe_examples

        tokenizer = load_tokenizer(checkpoints.folder_of(config["model"]))
        examples = texts.read(config["text"])
        describe_examples(examples, tokenizer, config["fine_tuning"]["max_length"])
    check_parser(config)


def check_parser(config: Mapping[str, Any]) -> None:
    """Check the parser, see `measuring.load_parser`.

    Raises:
        InputError: See `parser.load_pipeline`.
    """
    from darksecrets.pages.inspect.measuring import load_parser

    parse = config["inspect"]["parse"]
    if parse == "off" or can_import("spacy"):
        load_parser(parse, config["annotation"]["pipeline"])
