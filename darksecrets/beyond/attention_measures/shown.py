"""What the atlas shows of norms and of effective attention, beside the same of weights."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from darksecrets.beyond.attention_measures.tables import OF_MODELS
from darksecrets.core.run.columns import EFFECTIVE, MEASURE, NORMS, by_measure, of_weights
from darksecrets.core.run.shown import Shown
from darksecrets.paper.features import shown as features
from darksecrets.paper.features import tables
from darksecrets.paper.framenet import shown as framenet
from darksecrets.paper.framenet.tables import HEADS

_WORDS = {NORMS: "norms", EFFECTIVE: "effective attention"}
_STRIPES = ("[CLS]", "[SEP]", "punctuation")
"""Tokens whose stripes norms and effective attention are about: those that do little (4.4)."""
_KINDS = {
    tables.STRIPES: _STRIPES,
    tables.CLS_ATTENTION: _STRIPES,
    tables.TOKEN_PAIRS: (),
    tables.EQUAL_WORDS: (),
    HEADS: (),
}
"""Tables that have a alternative measure here, with the kinds that do; empty for all."""
_SUMMARIES = {of_weights(table): table.name for table in OF_MODELS}


def _alternatives() -> Iterator[Shown]:
    """Every measure of weights, by each other measure of attention."""
    for shown in (*features.SHOWN, *framenet.SHOWN):
        if shown.table in _KINDS:
            for measure, words in _WORDS.items():
                yield _alternative(shown, measure, words, _KINDS[shown.table])


def _alternative(shown: Shown, measure: str, words: str, kinds: tuple[str, ...]) -> Shown:
    """A measure of weights by another measure of attention."""
    first, colon, rest = shown.name.partition(":")
    summaries = tuple(_SUMMARIES[name] for name in shown.summaries if name in _SUMMARIES)
    return replace(
        shown,
        table=by_measure(shown.table),
        name=f"{first} by {words}{colon}{rest}",
        meaning=f"{shown.column(shown.value).meaning}; {words} in place of weights",
        by=words,
        where={MEASURE.name: measure} | ({shown.kind: kinds} if kinds else {}),
        over="",
        summaries=summaries,
        on_card=False,
    )


SHOWN = tuple(_alternatives())
