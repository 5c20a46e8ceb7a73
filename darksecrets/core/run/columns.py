"""Columns that tables of several sections share."""

from __future__ import annotations

from darksecrets.core.run.states import RANDOM, STATES
from darksecrets.core.run.tables import Column, Table, integer, interval, like, number, share, text

TOKEN_KINDS = FIRST, SEPARATOR, PUNCTUATION, WORD = (
    "first special",
    "separator",
    "punctuation",
    "word",
)
"""Kinds of tokens, each token of one: the special token that an input starts with ([CLS], `<s>`),
all other special tokens ([SEP], `</s>`), punctuation, and every other word piece."""

TASK = text("task", "task of the model")
STATE = text("state", "how the model was made", values=STATES)
SEED = integer("seed", "seed of fine-tuning")
LAYER = integer("layer", "layer, from 1", low=1)
HEAD = integer("head", "head of the layer, from 1", low=1)
IDX = integer("idx", "number of the example in the validation split")

MODEL = (TASK, STATE, SEED)
"""Columns that identify a model; the classifier of `pretrained` is drawn from the seed."""
STATE_OF_MAPS = like(
    STATE,
    f"how the model was made; `{RANDOM}`: randomly initialized, never trained",
    values=(*STATES, RANDOM),
)
MAPS = (
    TASK,
    STATE_OF_MAPS,
    like(
        SEED,
        f"seed of fine-tuning, or of the draw of `{RANDOM}`; empty for `pretrained`",
        optional=True,
    ),
)
"""Columns that identify the model of maps; those of `pretrained` do not depend on a seed."""

ENCODERS = (
    like(TASK, "task of the model, or of its examples; empty for others", optional=True),
    *MAPS[1:],
)
"""Columns that identify a model where those that are not fine-tuned belong to no task."""

MEASURES = WEIGHTS, NORMS, EFFECTIVE = ("weights", "norms", "effective")
"""Measures of attention: its weights; the lengths of what is weighted (Kobayashi et al. 2020); what
of the weights makes a difference to the output (Brunner et al. 2020)."""
MEASURE = text(
    "attention",
    "the measure of attention: its weights; the norms of what is weighted, or effective attention, "
    "both as shares of a row",
    values=MEASURES,
)

P_VALUE = share("p_value", "p-value of one test")
Q_VALUE = share("q_value", "false discovery rate")


def correlation(meaning: str) -> tuple[Column, Column, Column]:
    """A rank correlation, ``spearman``, and the ends of its interval; each may be missing."""
    column = number("spearman", meaning, low=-1, high=1, optional=True)
    return column, *interval("spearman", bounds=(-1, 1), optional=True)


def names(*columns: Column) -> tuple[str, ...]:
    """Names of columns, for the key of a table."""
    return tuple(column.name for column in columns)


def per_head(
    name: str,
    meaning: str,
    *values: Column,
    kind: Column | None = None,
    each: Column | None = None,
    may_be_empty: bool = False,
) -> Table:
    """Declare the table of a measure of maps, with rows for every head of every model.

    Args:
        name: Name of the table.
        meaning: What the measure is, in a line.
        *values: Columns of the measure: an estimate, its control, the number of examples.
        kind: If there are several rows per head, the column that distinguishes them.
        each: If there are several rows per head and kind, the column that distinguishes these.
        may_be_empty: Whether a task may have no rows.
    """
    key = (*MAPS, *([kind] if kind else []), LAYER, HEAD, *([each] if each else []))
    every = names(LAYER, HEAD)
    return Table(name, meaning, (*key, *values), names(*key), every, may_be_empty=may_be_empty)
