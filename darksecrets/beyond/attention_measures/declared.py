"""Settings, tables and entry of the analysis of other measures of attention."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Literal

import pandas as pd

from darksecrets.core.run.analysis import Analysis
from darksecrets.core.run.columns import (
    EFFECTIVE,
    MEASURE,
    NORMS,
    WEIGHTS,
    declare_by_measure,
    table_of_weights,
)
from darksecrets.core.run.settings import Section, setting
from darksecrets.core.run.shown import Shown
from darksecrets.paper.features import shown as shown_of_features
from darksecrets.paper.features import tables as features
from darksecrets.paper.framenet import shown as shown_of_framenet
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


OF_HEADS = tuple(
    declare_by_measure(table)
    for table in (
        features.STRIPES,
        features.CLS_ATTENTION,
        features.TOKEN_PAIRS,
        features.EQUAL_WORDS,
        features.PAIR_CONTROLS,
        features.HEAD_STATISTICS,
    )
)
"""Measures of single heads, gathered from all tasks."""

OF_MODELS = tuple(
    declare_by_measure(table)
    for table in (
        features.TOKEN_PAIR_CORRELATIONS,
        features.ATTENTION_LEVELS,
        features.ATTENTION_CHANGES,
        features.ATTENTION_TRENDS,
        features.ATTENTION_ORIGINS,
    )
)
"""Comparisons of models, features and tasks."""

LINKED = LINKED_HEADS, LINKED_CONTROLS = (
    declare_by_measure(framenet.HEADS),
    declare_by_measure(framenet.CONTROLS_OF_HEADS),
)
"""Heads along frame-semantic links."""

TABLES = (*OF_HEADS, *OF_MODELS, *LINKED)


def prepend_weights(weights: pd.DataFrame, others: pd.DataFrame) -> pd.DataFrame:
    """A table by measure: rows of attention weights, then those of the other measures.

    Args:
        weights: The table of attention weights, without the column ``measure``.
        others: The same of other measures, with it.
    """
    named = weights.assign(**{MEASURE.name: WEIGHTS})[[MEASURE.name, *weights.columns]]
    return pd.concat([named, others], ignore_index=True)


def profiles_in(folder: Path, measure: str, model: str) -> Path:
    """Where the profiles of a model by a measure are, in the folder of a task."""
    return folder / measure / f"{model}.npz"


_WORDS = {NORMS: "norms", EFFECTIVE: "effective attention"}
_STRIPES = ("[CLS]", "[SEP]", "punctuation")
"""Tokens whose stripes norms and effective attention are about: those that do little (4.4)."""
_KINDS = {
    features.STRIPES: _STRIPES,
    features.CLS_ATTENTION: _STRIPES,
    features.TOKEN_PAIRS: (),
    features.EQUAL_WORDS: (),
    framenet.HEADS: (),
}
"""Tables that have an alternative measure here, with the kinds that do; empty for all."""
_SUMMARIES = {table_of_weights(table): table.name for table in OF_MODELS}


def _alternatives() -> Iterator[Shown]:
    """Every measure of weights, by each other measure of attention."""
    for shown in (*shown_of_features.SHOWN, *shown_of_framenet.SHOWN):
        if shown.table in _KINDS:
            for measure, words in _WORDS.items():
                yield _alternative(shown, measure, words, _KINDS[shown.table])


def _alternative(shown: Shown, measure: str, words: str, kinds: tuple[str, ...]) -> Shown:
    """A measure of weights by another measure of attention."""
    first, colon, rest = shown.name.partition(":")
    summaries = tuple(_SUMMARIES[name] for name in shown.summaries if name in _SUMMARIES)
    return replace(
        shown,
        table=declare_by_measure(shown.table),
        name=f"{first} by {words}{colon}{rest}",
        meaning=f"{shown.column(shown.value).meaning}; {words} in place of weights",
        by=words,
        where={MEASURE.name: measure} | ({shown.kind: kinds} if kinds else {}),
        over="",
        summaries=summaries,
        on_card=False,
    )


SHOWN = tuple(_alternatives())


ANALYSIS = Analysis(
    name="attention_measures",
    question="Do the conclusions about attention hold by norms and by effective attention?",
    papers="Kobayashi et al. 2020, Brunner et al. 2020",
    tables={"Sections 4.2 to 5, further: alternative attention measures": TABLES},
    settings=Settings,
    shown=SHOWN,
    requires=("values", "words"),
)
