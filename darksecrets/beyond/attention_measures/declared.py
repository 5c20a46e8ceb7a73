"""Settings, tables and entry of the analysis of other measures of attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import MEASURE, WEIGHTS
from darksecrets.core.run.settings import Section, setting
from darksecrets.core.run.tables import Table
from darksecrets.paper.features import tables as features
from darksecrets.paper.framenet import tables as framenet

Measures = tuple[Literal["norms", "effective"], ...]


@dataclass(frozen=True)
class Settings(Section):
    """What is taken as attention beside its weights."""

    measures: Measures = setting(
        ("norms", "effective"),
        "What sections 4.2, 4.4, 4.5 and 5 take as attention beside its weights: the norms of what "
        "is weighted (Kobayashi et al. 2020), effective attention (Brunner et al. 2020), or both; "
        "claims are decided by each.",
        minItems=1,
        uniqueItems=True,
    )


def declare_by_measure(table: Table) -> Table:
    """Declare the table that has a table's columns for every measure of attention.

    Args:
        table: The table of attention weights.
    """
    return replace(
        table,
        name=f"{table.name}_by_measure",
        meaning=f"`{table.file}` by every measure of attention; its own rows are `{WEIGHTS}`.",
        columns=(MEASURE, *table.columns),
        key=(MEASURE.name, *table.key),
    )


LEVELS = declare_by_measure(features.ATTENTION_LEVELS)
"""What the figure draws."""

PAIRS, EQUAL_WORD_CONTROLS = map(
    declare_by_measure, (features.TOKEN_PAIRS, features.EQUAL_WORD_CONTROLS)
)
LINKED_HEADS, LINKED_CONTROLS = map(
    declare_by_measure, (framenet.HEADS, framenet.CONTROLS_OF_HEADS)
)
"""What jobs hand on to the one that decides claims."""

REPLACED = tuple(
    table.name
    for table in (
        features.TOKEN_PAIR_CORRELATIONS,
        features.ATTENTION_LEVELS,
        features.ATTENTION_CHANGES,
        features.ATTENTION_TRENDS,
        features.ATTENTION_ORIGINS,
        features.EQUAL_WORD_CONTROLS,
        framenet.HEADS,
        framenet.CONTROLS_OF_HEADS,
    )
)
"""Tables of attention weights in whose place claims are decided by those of other measures."""


def profiles_in(folder: Path, measure: str, model: str) -> Path:
    """Where the profiles of a model by a measure are, in the folder of a task."""
    return folder / measure / f"{model}.npz"


ANALYSIS = Analysis(
    name="attention_measures",
    question="Do the conclusions about attention hold by norms and by effective attention?",
    papers="Kobayashi et al. 2020, Brunner et al. 2020",
    tables={"Sections 4.2 to 5, further: alternative attention measures": (LEVELS,)},
    settings=Settings,
    requires=("values", "words"),
)
