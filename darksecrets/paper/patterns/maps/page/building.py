"""Build the labelling page: one file that opens from disk, loads nothing and sends nothing.

To keep labels unbiased, it shows only the map under its opaque name, its tokens, the annotator's
own last labels and the progress of the pass: not the map's model, task, layer or head, nobody
else's labels, and no prediction of a model.
"""

from __future__ import annotations

import dataclasses
import hashlib
from pathlib import Path
from typing import Any

import jinja2
from markupsafe import Markup

from darksecrets.core.plotting.one_file import embedded
from darksecrets.paper.patterns.classes import KEYS, NAMES_OF_KINDS, PATTERNS, STRENGTHS
from darksecrets.paper.patterns.maps.labelled_maps import BORDERLINE
from darksecrets.paper.patterns.maps.mapset import SETTLED, MapSet, answers
from darksecrets.paper.patterns.maps.page.drawn import colours, drawn, example, levels

_PARTS = Path(__file__).parent
_POLICY = (
    "default-src 'none'; style-src 'unsafe-inline'; script-src 'unsafe-inline'; base-uri 'none'; "
    "form-action 'none'"
)
"""Nothing is loaded from anywhere."""


def build(mapset: MapSet) -> str:
    """The whole page of a set of maps, as HTML.

    Args:
        mapset: The maps. Of their labels, the page knows only which maps earlier passes disagree
            on, and not what they say.
    """
    classes = [(key, name, PATTERNS[name], levels(example(name))) for key, name in KEYS.items()]
    template = jinja2.Template((_PARTS / "page.html").read_text(encoding="utf-8"), autoescape=True)
    return template.render(
        policy=Markup(_POLICY),
        style=Markup((_PARTS / "page.css").read_text(encoding="utf-8")),
        script=Markup((_PARTS / "page.js").read_text(encoding="utf-8")),
        content=Markup(embedded(content(mapset))),
        classes=classes,
        kinds=NAMES_OF_KINDS,
        strengths=STRENGTHS,
    )


def content(mapset: MapSet) -> dict[str, Any]:
    """What the page shows: maps, border-line examples, and the maps that pass `SETTLED` is over."""
    borderline = MapSet.load(BORDERLINE)
    settled = answers(borderline.settled().set_index("map").loc[borderline.table["map"]])
    return {
        "set": _digest(mapset),
        "colours": colours(),
        "maps": [
            {"name": name, **_drawn(mapset, place)}
            for place, name in enumerate(mapset.table["map"])
        ],
        "settled": SETTLED,
        "disputed": mapset.disputed(),
        "borderline": [
            _drawn(borderline, place) | dataclasses.asdict(given)
            for place, given in enumerate(settled)
        ],
    }


def _drawn(mapset: MapSet, place: int) -> dict[str, Any]:
    row = mapset.table.iloc[place]
    tokens = row["tokens"].split(" ")
    return drawn(mapset.maps[place], tokens, row["segments"], row["special"])


def _digest(mapset: MapSet) -> str:
    """What tells a set from others, so that a browser never mixes their labels."""
    found = hashlib.sha256(" ".join(mapset.table["map"]).encode())
    for weights in mapset.maps:
        found.update(weights.tobytes())
    return found.hexdigest()[:16]
