"""The page: its parts put into one file that opens from disk and loads nothing."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.plotting import one_file
from darksecrets.core.plotting.one_file import embedded

LIMIT = 10_000_000
"""Largest size of the page in bytes; examples that do not fit are left out, the last ones first."""

_PARTS = Path(__file__).parent / "page"
_SCRIPTS = (
    "dom",
    "data",
    "address",
    "colour",
    "marks",
    "grid",
    "histogram",
    "scatter",
    "table",
    "thumbnails",
    "maps",
    "card",
    "claims",
    "export",
    "main",
)
"""In this order they are one script."""


def files() -> list[Path]:
    """The files of the page, on which it depends like on code."""
    return [_PARTS / name for name in ("page.html", "style.css", *(f"{n}.js" for n in _SCRIPTS))]


def page(content: Mapping[str, Any], numbers: str, limit: int = LIMIT) -> str:
    """The whole page.

    Args:
        content: What it shows, see `darksecrets.pages.atlas.building.content`.
        numbers: Its numbers, packed.
        limit: Largest size in bytes.
    """
    style = _read("style.css")
    script = "\n".join(_read(f"{name}.js") for name in _SCRIPTS)
    script = one_file.scoped(script)
    parts = {
        "policy": one_file.policy(script, style),
        "style": style,
        "script": script,
        "numbers": numbers,
    }
    empty = _filled(parts | {"content": embedded({**content, "maps": {}})})
    maps = fitting(content["maps"], limit - len(empty.encode()))
    return _filled(parts | {"content": embedded({**content, "maps": maps})})


def fitting(maps: Mapping[str, Mapping[str, Any]], room: int) -> dict[str, Any]:
    """The maps of every task with as many examples as there is room for, in the order of choice.

    Args:
        maps: Maps of every task, see `darksecrets.pages.atlas.maps.content`.
        room: Bytes.
    """
    kept: dict[str, dict[str, Any]] = {
        task: {**own, "examples": [], "left out": len(own["examples"])}
        for task, own in maps.items()
    }
    room -= len(embedded(kept).encode())
    most = max((len(own["examples"]) for own in maps.values()), default=0)
    for rank in range(most):
        for task, own in maps.items():
            size = sum(len(embedded(one).encode()) + 2 for one in own["examples"][rank : rank + 1])
            if not size or size > room:
                continue
            room -= size
            kept[task]["examples"].append(own["examples"][rank])
            kept[task]["left out"] -= 1
    return kept


def _read(name: str) -> str:
    return (_PARTS / name).read_text(encoding="utf-8")


def _filled(parts: Mapping[str, str]) -> str:
    return one_file.filled(_read("page.html"), parts)
