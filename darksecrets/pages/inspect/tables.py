"""Tables of a look at text: the examples, and the maps to draw large."""

from __future__ import annotations

from darksecrets.core.run.columns import HEAD, IDX, LAYER, names
from darksecrets.core.run.tables import Table, integer, like, text
from darksecrets.paper.patterns.tables import PATTERN_MAPS

_IDX = like(IDX, "number of the example, from 0, in the order of the text")
_OF_MAPS = {column.name: column for column in PATTERN_MAPS.columns}

EXAMPLES = Table(
    "examples",
    "The examples of a look at text.",
    (
        _IDX,
        text("sentence1", "the sentence, or the first of two"),
        text("sentence2", "the second sentence", optional=True),
        integer("tokens", "tokens that the encoder saw, special ones included", low=3),
        integer("cut", "tokens cut off because the text was too long"),
    ),
    key=("idx",),
)

SHOWN = Table(
    "shown",
    "The maps of a look at text that are drawn large.",
    (_IDX, LAYER, HEAD, *(_OF_MAPS[name] for name in ("pattern", "probability"))),
    key=names(_IDX, LAYER, HEAD),
)

TABLES = (EXAMPLES, SHOWN)
