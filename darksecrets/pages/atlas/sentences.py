"""One sentence about every head, by the rules that the measures declare (`Shown.phrases`)."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

import numpy as np

from darksecrets.core.arrays import Floats
from darksecrets.core.run.series import CHOSEN, MEAN, Model, Series, average
from darksecrets.core.run.shown import LEVEL, Phrase, Shown

_DASH = "–"
_UNKNOWN = re.compile(r" \[–, –\]| \(95% interval – to –\)|95% interval – to –; ")
_Columns = Mapping[str, Floats]
_Values = Mapping[str, float]


def describe(series: Sequence[Series], task: str, model: Model) -> list[str]:
    """A sentence about every head of a model on a task.

    Args:
        series: All series of the run.
        task: The task.
        model: The model; with `MEAN` in place of its seed, the means over seeds.

    Returns:
        Sentences, the heads of layer 1 first; empty for a head of which there is nothing to say.
    """
    kinds: dict[int, tuple[Shown, list[tuple[Series, _Columns]]]] = {}
    for one in series:
        if one.shown.phrases and (columns := _columns(one, task, model)):
            if one.shown.kind == "metric" and one.kind:
                continue  # only the main metric is said
            kinds.setdefault(id(one.shown), (one.shown, []))[1].append((one, columns))
    if not kinds:
        return []
    shape = series[0].values.shape[-2:]
    found = []
    for place in np.ndindex(shape):
        texts = [
            text
            for shown, parts in kinds.values()
            for text in said(shown, dict(_value_at(*part, task, place) for part in parts))
        ]
        found.append(_sentence(list(dict.fromkeys(texts))))
    return found


def _columns(series: Series, task: str, model: Model) -> _Columns:
    """The columns of a model; none if the series is not about it."""
    if model.seed == MEAN:
        return average(series, task, model.state)
    found = {name: series.of(task, model, name) for name in series.columns}
    return {name: values for name, values in found.items() if values is not None}


def _value_at(
    series: Series, columns: _Columns, task: str, place: tuple[int, ...]
) -> tuple[str, _Values]:
    """The kind of a head's values, or what was chosen for the head; and its values."""
    values = {name: float(numbers[place]) for name, numbers in columns.items()}
    chosen = values.get(CHOSEN, np.nan)
    if np.isnan(chosen):
        return series.kinds.get(task, series.kind), values
    return series.choices[int(chosen)], values


def _sentence(parts: Sequence[str]) -> str:
    text = "; ".join(parts)
    return f"{text[0].upper()}{text[1:]}." if text else ""


def said(shown: Shown, kinds: Mapping[str, _Values]) -> list[str]:
    """What is said of a head.

    Args:
        shown: The measure.
        kinds: Of each kind, the head's values by column.
    """
    known = {kind: values for kind, values in kinds.items() if not np.isnan(values[shown.value])}
    texts = []
    for kind in known:
        for phrase in shown.phrases:
            if _applies(phrase, shown, kind, known):
                texts.append(_filled(phrase, shown, kind, known[kind]))
                break
    return texts


def _applies(phrase: Phrase, shown: Shown, kind: str, kinds: Mapping[str, _Values]) -> bool:
    """Whether a phrase is true of a kind of a head's values."""
    values = kinds[kind]
    value = values[shown.value]
    if phrase.kinds and kind not in phrase.kinds:
        return False
    if phrase.greatest:
        rivals = [
            own[shown.value] for name, own in kinds.items() if name in (phrase.kinds or kinds)
        ]
        first = next(name for name in kinds if kinds[name][shown.value] == max(rivals))
        if value < max(rivals) or kind != first:
            return False
    if phrase.significant and not values.get(shown.test, 1.0) < LEVEL:
        return False
    if phrase.sign and phrase.sign * value <= 0:
        return False
    if phrase.at_least is not None and value < phrase.at_least:
        return False
    if phrase.at_most is not None and value > phrase.at_most:
        return False
    controls = [values[c.name] for c in shown.controls if not np.isnan(values.get(c.name, np.nan))]
    return not phrase.times or value >= phrase.times * max(controls, default=np.inf)


def _filled(phrase: Phrase, shown: Shown, kind: str, values: _Values) -> str:
    """The phrase with its numbers; without an interval that is unknown."""
    low, high = (values.get(name, np.nan) for name in (*shown.ends(shown.value), "", "")[:2])
    numbers = {
        **{
            name: values.get(name, np.nan)
            for name in (*(c.name for c in shown.controls), *shown.beside)
        },
        "value": values[shown.value],
        "low": low,
        "high": high,
        "loss": -values[shown.value],
        "least": -high,
        "most": -low,
    }
    written = {name: _Number(number) for name, number in numbers.items()}
    text = phrase.text.format(kind=shown.words.get(kind, kind), **written)
    return _UNKNOWN.sub("", text)


class _Number(float):
    """A number that is written as a dash if it is unknown."""

    def __format__(self, form: str) -> str:
        return _DASH if np.isnan(self) else super().__format__(form)
