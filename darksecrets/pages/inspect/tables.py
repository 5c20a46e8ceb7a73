"""The table of a look at text: its examples."""

from __future__ import annotations

from darksecrets.core.run.columns import IDX
from darksecrets.core.run.tables import Table, integer, like, text

_IDX = like(IDX, "number of the example, from 0, in the order of the text")

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

TABLES = (EXAMPLES,)
