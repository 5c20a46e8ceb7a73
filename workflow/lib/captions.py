"""Captions of the report: as plain text, for figures' files, and what users call things in them."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path
from types import SimpleNamespace
from typing import Any

_LINK = re.compile(r"`([^`<]+?)\s*<[^>]+>`_+")
_BULLET = re.compile(r"^[-*] ", re.MULTILINE)
_MARKUP = re.compile(r"\*\*|``|(?<![\w*])\*(?=\S)|(?<=\S)\*(?![\w*])")


_SPECIAL = re.compile(r"([\\`*_|<>:\[\]])")
"""Characters that mean something in reStructuredText."""


def escape(text: str) -> str:
    """A text of users as a caption shows it: no markup, and in one line."""
    return _SPECIAL.sub(r"\\\1", " ".join(text.split()))


def plain(
    path: Path,
    config: Mapping[str, Any],
    params: Mapping[str, Any],
    **files: object,
) -> str:
    """Render a caption as the report does, and leave its markup out.

    Args:
        path: The caption, reStructuredText with Jinja's tags.
        config: The configuration of the run.
        params: Parameters of the figure's rule.
        files: Its ``input`` and ``output``.

    Returns:
        The caption's paragraphs, one a line; the first says what is shown.
    """
    from jinja2 import Environment, StrictUndefined

    environment = Environment(trim_blocks=True, lstrip_blocks=True, undefined=StrictUndefined)
    job = SimpleNamespace(config=config, params=SimpleNamespace(**params), **files)
    text = environment.from_string(path.read_text(encoding="utf-8")).render(snakemake=job)
    parts = re.split(r"\n\s*\n", _BULLET.sub("", text))
    paragraphs = [" ".join(part.split()) for part in parts]
    return "\n".join(_MARKUP.sub("", _LINK.sub(r"\1", part)) for part in paragraphs if part)
