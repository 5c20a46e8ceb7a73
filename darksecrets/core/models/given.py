"""Models as callers of the package give them: a folder, a name on the Hub, or a loaded model."""

from __future__ import annotations

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from darksecrets.core.models.fetching import fetch_encoder
from darksecrets.core.models.quietly import quiet
from darksecrets.core.run.errors import InputError

if TYPE_CHECKING:
    from transformers import PreTrainedModel, PreTrainedTokenizerBase

_NAME = re.compile(r"[\w.-]+(/[\w.-]+)?")
"""What may be a name on the Hub: ``owner/model``, or a model without an owner."""


@contextmanager
def model_folder(
    model: str | Path | PreTrainedModel,
    tokenizer: PreTrainedTokenizerBase | None,
    max_length: int,
) -> Iterator[Path]:
    """The folder of a model that was checked as a run checks its encoder.

    Args:
        model: A Hugging Face folder; else a name on the Hub, whose newest revision is downloaded;
            or a model that is loaded, which is saved into a folder that is removed again.
        tokenizer: The tokenizer of a loaded model; a folder and a name have their own.
        max_length: Longest sequence that the model is to read, in tokens.

    Raises:
        InputError: The model cannot be used, or has no tokenizer or two.
    """
    if isinstance(model, str | Path):
        if tokenizer is not None:
            raise InputError(
                f"model is {str(model)!r}, which has a tokenizer of its own: give no tokenizer, "
                "or a model that is loaded."
            )
        yield fetch_encoder(_source(model), max_length=max_length)
        return
    if not hasattr(model, "save_pretrained"):
        raise InputError(
            f"model is a {type(model).__name__}. Give a folder, a name on the Hub, or a model of "
            "transformers with its tokenizer."
        )
    if tokenizer is None:
        raise InputError(
            f"The {type(model).__name__} has no tokenizer. Give it, too: tokenizer=tokenizer."
        )
    with tempfile.TemporaryDirectory() as temporary:
        with quiet():
            model.save_pretrained(temporary)
            tokenizer.save_pretrained(temporary)
        yield fetch_encoder(_source(temporary), max_length=max_length)


def name_of(model: str | Path | PreTrainedModel) -> str:
    """What a model is called that was given: its folder, its name on the Hub, or its class."""
    return str(model) if isinstance(model, str | Path) else type(model).__name__


def _source(model: str | Path) -> dict[str, str]:
    """Section ``model`` of a configuration, for a folder or a name on the Hub."""
    folder = Path(model).expanduser()
    if folder.exists():
        return {"source": "folder", "folder": str(folder)}
    if not _NAME.fullmatch(str(model)):
        raise InputError(
            f"There is no folder {model}. Give the folder of a model, or a name on the Hub."
        )
    return {"source": "hub", "id": str(model), "revision": "main"}
