"""The tasks of a configuration: entries of the user, completed with those that ship.

A complete entry has ``text`` (a list), ``label``, ``labels`` or ``range``, ``metrics`` (a list),
and ``files`` or ``hub``.
"""

from __future__ import annotations

import difflib
import functools
import re
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any

from darksecrets.core.data.files import SUFFIXES
from darksecrets.core.data.metrics import METRICS, Metric, fitting
from darksecrets.core.data.tasks import Task
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES, read_yaml

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._+-]{0,29}")
RESERVED = ("pretrained", "maps", "classifier", "FrameNet")
"""Names of other folders beside those of tasks in a run's results."""

Entry = dict[str, Any]

_KINDS = {bool: "true or false", int: "a number", float: "a number", type(None): "null"}
"""What YAML reads without quotes, in words."""

_ORDER = (
    "text",
    "label",
    "labels",
    "range",
    "metrics",
    "files",
    "columns",
    "hub",
    "size",
    "flawed",
    "seeds",
    "epochs",
)


@functools.cache
def shipped() -> dict[str, Entry]:
    """The entries that ship: the seven tasks of the paper."""
    entries: dict[str, Entry] = read_yaml(RESOURCES / "tasks.yaml")
    return entries


def shipped_tasks() -> dict[str, Task]:
    """The tasks that ship, as jobs know them that read prepared data, for benchmarks and tests."""
    entries = {name: {**entry, "hub": None} for name, entry in shipped().items()}
    return {name: Task.from_entry(name, entry) for name, entry in entries.items()}


def resolve(tasks: Mapping[str, Any] | list[str], data: Mapping[str, Any]) -> dict[str, Entry]:
    """Complete and check the entries of the tasks.

    Args:
        tasks: Section ``tasks`` of a configuration: names, or entries by name.
        data: Section ``data``, for the tasks whose entries do not say where their data are.

    Returns:
        Complete entries by name, in the same order.

    Raises:
        InputError: Names every mistake, where it is and what was expected.
    """
    given = tasks if isinstance(tasks, Mapping) else dict.fromkeys(tasks)
    mistakes = [*_names(given)]
    entries = {}
    for name, entry in given.items():
        if not isinstance(name, str):
            continue
        own = entry or {}
        if not own and name not in shipped():
            mistakes.append(_unknown(str(name)))
            continue
        entries[name] = completed = _complete(str(name), own, data)
        wrong = [*_mistakes(own, completed, data)]
        mistakes += [f"tasks.{name}{line}" for line in wrong]
    if mistakes:
        listed = "\n".join(f"  - {line}" for line in mistakes)
        raise InputError(
            f"The configuration is not valid:\n{listed}\ndocs/tasks.md explains the entries."
        )
    return entries


def chosen(
    key: str, names: list[str] | None, known: Iterable[str], run: Iterable[str]
) -> list[str]:
    """Tasks that a key chooses from others: in their order; all of them if it is not set.

    Tasks that ship, but are not in the run, are left out, so that a run can be narrowed to some
    tasks by its key ``tasks`` alone.

    Raises:
        InputError: A name is not one of them; the message suggests a similar one.
    """
    tasks = list(known)
    elsewhere = shipped().keys() - set(run)
    choice = f"The tasks are {', '.join(tasks)}" if tasks else "There are no tasks to choose from"
    mistakes = []
    for name in names or ():
        if name not in tasks and name not in elsewhere:
            close = difflib.get_close_matches(name, tasks, n=1, cutoff=0.5)
            hint = f"Did you mean '{close[0]}'? " if close else ""
            mistakes.append(f"{key}: unknown task '{name}'. {hint}{choice}")
    if mistakes:
        listed = "\n".join(f"  - {line}" for line in mistakes)
        raise InputError(
            f"The configuration is not valid:\n{listed}\nconfig/README.md explains every key."
        )
    return [task for task in tasks if names is None or task in names]


def _names(tasks: Mapping[str, Any]) -> Iterator[str]:
    """Mistakes in the names, which are parts of paths."""
    lower: dict[str, str] = {}
    for given in tasks:
        if not isinstance(given, str):
            kind = _KINDS.get(type(given), "a date")
            yield f"tasks: the name {given} is {kind} to YAML, not a text. Put it in quotes"
            continue
        name = given
        if not NAME.fullmatch(name):
            yield (
                f"tasks: the name {name!r} cannot be part of a path. Use at most 30 letters, "
                "digits or . _ + -, the first a letter or digit"
            )
        if name.lower() in map(str.lower, RESERVED):
            yield f"tasks: the name {name!r} is taken by another folder of the results"
        if other := lower.get(name.lower()):
            yield (
                f"tasks: {other!r} and {name!r} differ only in case; some file "
                "systems cannot tell them apart"
            )
        lower[name.lower()] = name


def _unknown(name: str) -> str:
    in_capitals = name.upper().replace("_", "-")  # as the names of the shipped tasks are
    close = difflib.get_close_matches(in_capitals, shipped(), n=1, cutoff=0.5)
    hint = f"did you mean '{close[0]}'? " if close else ""
    return (
        f"tasks: '{name}' has no entry; {hint}{', '.join(shipped())} ship with the "
        "project, any other task needs an entry (docs/tasks.md)"
    )


def has_own_data(name: str, entry: Mapping[str, Any], data: Mapping[str, Any]) -> bool:
    """Whether the data of a complete entry are not those that section ``data`` stands for."""
    standard = _complete(name, {}, data)
    return any(entry.get(key) != standard.get(key) for key in ("files", "hub"))


def _complete(name: str, own: Mapping[str, Any], data: Mapping[str, Any]) -> Entry:
    """An entry with what ships, and with where the data are."""
    base = dict(shipped().get(name, {}))
    classic, glue = (dict(base.pop(key, {})) for key in ("tsv", "hub"))
    source = "files" if "files" in own else "hub" if "hub" in own else data["source"]
    entry: Entry = {**base, **own}
    if source == "tsv":
        folder = Path(data["folder"] or "") / name
        validation = folder / classic.pop("validation", "dev.tsv")
        files = {"train": str(folder / "train.tsv"), "validation": str(validation)}
        entry = {**base, **classic, "files": files, **own}
    elif source == "hub":
        names = {"config": "data", "train": "train", "validation": "validation"}
        asked = own.get("hub", {})
        if data["source"] == "hub" and "repository" not in asked:
            names |= {"config": name.lower(), **glue}
            names |= {key: data[key] for key in ("repository", "revision")}
        entry["hub"] = {**names, **asked}
    for key, other in (("range", "labels"), ("labels", "range")):
        if key in own and other not in own:
            entry.pop(other, None)
    return _plain(entry, source)


def _plain(entry: Entry, source: str | None) -> Entry:
    """One form for what may be written in several ways, without keys that do not matter."""
    for key in ("text", "metrics"):
        if isinstance(entry.get(key), str):
            entry[key] = [entry[key]]
    labels = entry.get("labels")
    if isinstance(labels, Mapping):
        entry["labels"] = {_written(value): _written(label) for value, label in labels.items()}
    elif labels is not None:
        entry["labels"] = [_written(label) for label in labels]
    dropped = ("columns",) if source == "hub" else ()
    return {key: _copied(entry[key]) for key in _ORDER if key in entry and key not in dropped}


def _copied(value: Any) -> Any:  # noqa: ANN401 - a part of a configuration
    if isinstance(value, Mapping):
        return dict(value)
    return list(value) if isinstance(value, list) else value


def _written(label: object) -> object:
    """A number as the text that it is in a file."""
    number = isinstance(label, int | float) and not isinstance(label, bool)
    return str(label) if number else label


# --- Mistakes -----------------------------------------------------------------------------------


def _mistakes(own: Mapping[str, Any], entry: Entry, data: Mapping[str, Any]) -> Iterator[str]:
    """Mistakes of one entry, to be written after its name."""
    if missing := [key for key in ("text", "label", "metrics") if key not in entry]:
        yield f" lacks the key{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    if "labels" in own and "range" in own:
        yield " has labels and range: give labels (classes) or range (regression)"
    elif "labels" in entry:
        yield from _label_faults(entry["labels"])
    elif "range" in entry:
        low, high = entry["range"]
        if not low < high:
            yield f".range is [{low:g}, {high:g}]: write the smaller number first"
    else:
        yield " lacks labels (names of the classes) or range (of a regression)"
    if "labels" in entry or "range" in entry:
        for metric in entry.get("metrics", ()):
            yield from _metric_faults(metric, len(entry.get("labels", ())))
    yield from _data_faults(own, entry, data)


def _label_faults(labels: Any) -> Iterator[str]:  # noqa: ANN401
    values = [*labels, *labels.values()] if isinstance(labels, Mapping) else labels
    if wrong := [label for label in values if not isinstance(label, str) or not label.strip()]:
        found = ", ".join(
            str(label).lower() if isinstance(label, bool) else repr(label) for label in wrong
        )
        yield f".labels has {found}, not names: put yes, no, on, off, true, false in quotes"
        return
    names = list(labels.values()) if isinstance(labels, Mapping) else labels
    for label in values:
        if not label.isprintable():
            yield f".labels has {label!r}, with a control character: use a name that can be shown"
    if repeated := sorted({label for label in names if names.count(label) > 1}):
        yield f".labels has {', '.join(repeated)} more than once: use different names"
    if len(set(names)) < 2:
        yield f".labels has {len(set(names))} class: at least two are needed"


def _metric_faults(name: str, classes: int) -> Iterator[str]:
    metric, known = METRICS.get(name), ", ".join(fitting(classes))
    if metric is None:
        close = _similar(name)
        hint = f"did you mean {' or '.join(map(repr, close))}?" if close else f"known are: {known}"
        yield f".metrics: unknown metric '{name}'; {hint}"
    elif not metric.fits(classes):
        yield (
            f".metrics: '{name}' is a metric {_what(metric)} and does not fit "
            f"{_describe_task(classes)}; use {known}"
        )


def _what(metric: Metric) -> str:
    return {"classes": "of classes", "two classes": "of two classes"}.get(
        metric.kind, "of a regression"
    )


def _describe_task(classes: int) -> str:
    return f"a task with {classes} classes" if classes else "a regression (it has a range)"


def _similar(name: str) -> list[str]:
    """Metrics that a misspelled or abbreviated name may mean."""
    asked = re.sub(r"[^a-z0-9]", "", name.lower())
    if close := [key for key, short in _SHORT.items() if asked in short]:
        return close
    close = difflib.get_close_matches(name.lower(), METRICS, n=2, cutoff=0.5)
    return close or [key for key in METRICS if asked and asked in key.replace("_", "")][:3]


_SHORT = {
    "matthews_corrcoef": ("mcc", "matthews", "matthew", "mathews", "phi"),
    "accuracy": ("acc",),
    "balanced_accuracy": ("bacc", "uar"),
    "f1_macro": ("macrof1", "macro"),
    "f1_micro": ("microf1", "micro"),
    "f1_weighted": ("weightedf1",),
    "pearson": ("pearsonr", "r", "correlation"),
    "spearman": ("spearmanr", "rho"),
    "r2": ("r2score", "rsquared"),
}
"""Other names by which metrics are known."""


def _data_faults(own: Mapping[str, Any], entry: Entry, data: Mapping[str, Any]) -> Iterator[str]:
    if "files" in own and "hub" in own:
        yield " has files and hub: give one of them"
    if "files" in own:
        for split, path in own["files"].items():
            if Path(path).suffix not in SUFFIXES:
                ends = f"{', '.join(SUFFIXES[:-1])} or {SUFFIXES[-1]}"
                yield f".files.{split} is {path}: give a file that ends in {ends}"
    if missing := [
        key
        for key in ("repository", "revision")
        if "hub" in own and key not in entry.get("hub", {})
    ]:
        yield f".hub lacks the key{'s' if len(missing) > 1 else ''} {', '.join(missing)}"
    columns = entry.get("columns", ())
    wanted = [*entry.get("text", ()), *([entry["label"]] if "label" in entry else [])]
    if columns and (absent := [column for column in wanted if column not in columns]):
        yield f".columns is {', '.join(columns)}, without {', '.join(absent)}"
    if len(set(wanted)) < len(wanted):
        yield f" has the columns {', '.join(wanted)}: use different ones for text and label"
    if "files" in entry or "hub" in entry:
        return
    if data["source"] is None:
        yield " has neither files nor hub: say where the data are, here or in data.source"
