"""Tables of weights beside norms (Kobayashi et al. 2020)."""

from __future__ import annotations

from dataclasses import replace

from darksecrets.run.columns import FIRST, LAYER, MAPS, PUNCTUATION, SEPARATOR, names, per_head
from darksecrets.run.tables import Column, Table, interval

SPECIAL, FREQUENT, OTHER = "special", "frequent word", "other word"
KINDS = (FIRST, SEPARATOR, SPECIAL, PUNCTUATION, FREQUENT, OTHER)
"""Kinds of tokens; `SPECIAL` are the first two together. All others exclude each other."""

_SHARE = Column("weight", "number", "", "share", low=0, high=1)


def _with_ends(column: Column, bounds: tuple[float, float]) -> tuple[Column, ...]:
    """A column and the ends of its interval, which needs 6 examples."""
    name, unit = column.name, column.unit
    return column, *interval(name, name, unit=unit, bounds=bounds, optional=True)


_KIND = Column(
    "kind",
    "text",
    f"`{FIRST}`: [CLS]; `{SEPARATOR}`: [SEP]; `{SPECIAL}`: both; `{FREQUENT}`: its word piece "
    "occurs more often in the task's examples than that of the median word token",
    values=KINDS,
)
_WEIGHT = (
    *_with_ends(
        replace(_SHARE, meaning="share of the attention weights that such tokens get"), (0, 1)
    ),
    replace(
        _SHARE,
        name="uniform",
        meaning="the same under uniform attention to the tokens in reach",
        control_of="weight",
    ),
)
_NORM = (
    *_with_ends(
        replace(
            _SHARE,
            name="norm",
            meaning="share of the lengths of what tokens add to the output, ‖α f(x)‖",
        ),
        (0, 1),
    ),
    replace(
        _SHARE,
        name="shuffled",
        meaning="the same if the lengths ‖f(x)‖ are assigned to the tokens of an example at random",
        control_of="norm",
    ),
)
_OVER_CONTROL = (
    *_with_ends(
        Column("over_control", "number", "`norm` − `shuffled`", "share", low=-1, high=1), (-1, 1)
    ),
    Column(
        *("random", "number", "the same of the encoder with random weights: mean of its layer"),
        "share",
        low=-1,
        high=1,
        control_of="over_control",
    ),
)
_KEPT = _with_ends(
    Column(
        *("kept", "number", "`norm` / `weight`: what norms leave of the share of the weights"),
        low=0,
        optional=True,
    ),
    (0, float("inf")),
)
_LENGTH = _with_ends(
    Column("length", "number", "mean length ‖f(x)‖, divided by that of all tokens", low=0),
    (0, float("inf")),
)
_CORRELATION = (
    *_with_ends(
        Column(
            "correlation",
            "number",
            "Pearson's correlation, over all such tokens, of the logarithms of the weight that a "
            "token gets (relative to uniform attention) and of its length ‖f(x)‖; empty if either "
            "varies by less than 0.01 %",
            low=-1,
            high=1,
            optional=True,
        ),
        (-1, 1),
    ),
    Column(
        *("random_correlation", "number"),
        "the same of the encoder with random weights: mean of its layer",
        low=-1,
        high=1,
        optional=True,
        control_of="correlation",
    ),
)
_EXAMPLES = Column("examples", "integer", "examples with such a token", low=1)
_COLUMNS = (*_WEIGHT, *_NORM, *_OVER_CONTROL, *_KEPT, *_LENGTH, *_CORRELATION)
_INTERVALS = "Intervals: bootstrap over examples, as wide as Student's t; empty with fewer than 6."

NORM_STATISTICS = per_head(
    "norm_statistics",
    "How much every head attends to kinds of tokens, by weights and by norms (Kobayashi et al. "
    f"2020). Kinds absent from a task have no rows. {_INTERVALS}",
    *_COLUMNS,
    _EXAMPLES,
    kind=_KIND,
)

NORM_LEVELS = Table(
    "norm_levels",
    "The same, means over the heads of a layer, or of the whole encoder (correlations: of the "
    "heads that have one). Intervals of `weight`, `norm`, `summed`: bootstrap over examples; of "
    "others, also over heads (Student's t): other heads might have been trained; empty with fewer "
    "than 6 examples.",
    (
        *MAPS,
        _KIND,
        replace(LAYER, meaning="layer, from 1; empty for all layers", optional=True),
        *_COLUMNS,
        *_with_ends(
            replace(
                _SHARE,
                name="summed",
                meaning="share of the lengths of what tokens add through all heads of a layer "
                "together, ‖Σ α f(x)‖; mean over layers",
            ),
            (0, 1),
        ),
        _EXAMPLES,
    ),
    key=(*names(*MAPS), "kind", "layer"),
)

TABLES = (NORM_STATISTICS, NORM_LEVELS)
