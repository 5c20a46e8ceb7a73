"""Pages that are one file: they open from disk and load nothing."""

from __future__ import annotations

import base64
import hashlib
import json
import re
from collections.abc import Mapping
from typing import Any


def embedded(content: Any) -> str:  # noqa: ANN401 - anything that JSON can represent
    """JSON inside of a script element, which no text in it can end."""
    text = json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    return text.replace("<", "\\u003c")


def filled(frame: str, parts: Mapping[str, str]) -> str:
    """The frame of a page with its parts; nothing in a part is a placeholder."""
    return re.sub(r"\{\{(\w+)\}\}", lambda match: parts[match[1]], frame)


def scoped(script: str) -> str:
    """A script whose names are its own."""
    return f'(() => {{\n"use strict";\n{script}}})();\n'


def policy(script: str, style: str) -> str:
    """Content security policy: our script and style, and nothing from anywhere."""
    own = [
        base64.b64encode(hashlib.sha256(text.encode()).digest()).decode()
        for text in (script, style)
    ]
    return (
        f"default-src 'none'; script-src 'sha256-{own[0]}'; style-src 'sha256-{own[1]}'; "
        "img-src data: blob:; base-uri 'none'; form-action 'none'"
    )
