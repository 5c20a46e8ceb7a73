"""Where a treebank comes from."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from darksecrets.syntax import treebank
from darksecrets.syntax.treebank import Sentence


def describe(source: Mapping[str, Any]) -> str:
    """The source in a few words, for figures.

    Args:
        source: Section ``treebank`` of a configuration.
    """
    return f"built-in grammar, {source['sentences']} sentences, gold"


def collect(source: Mapping[str, Any]) -> list[Sentence]:
    """The sentences of the configured source; see `describe`."""
    return treebank.builtin(source["sentences"], source["seed"])
