"""Tables of a look at text: the examples, and the maps to draw large."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.patterns.tables import PATTERN_MAPS
from darksecrets.run.columns import HEAD, IDX, LAYER, names
from darksecrets.run.tables import Column, Table

_IDX = replace(IDX, meaning="number of the example, from 0, in the order of the text")
_OF_MAPS = {column.name: column for column in PATTERN_MAPS.columns}

EXAMPLES = Table(
    "examples",
    "The examples of a look at text.",
    (
        _IDX,
        Column("sentence1", "text", "the sentence, or the first of two"),
        Column("sentence2", "text", "the second sentence", optional=True),
        Column("tokens", "integer", "tokens that the encoder saw, special ones included", low=3),
        Column("cut", "integer", "tokens cut off because the text was too long", low=0),
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
