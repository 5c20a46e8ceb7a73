"""Sentences on which shallow heuristics of entailment are wrong (McCoy et al. 2019)."""

from __future__ import annotations

import csv
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from darksecrets.core.run.errors import InputError

ENTAILMENT, OTHER = "entailment", "non-entailment"
_COLUMNS = ("gold_label", "sentence1", "sentence2", "heuristic")


@dataclass(frozen=True)
class Hans:
    """The examples of a file.

    Attributes:
        columns: ``sentence1`` and ``sentence2``.
        entailed: [examples] whether the first entails the second.
        heuristic: [examples] the heuristic that says so of all.
    """

    columns: dict[str, list[str]]
    entailed: np.ndarray
    heuristic: np.ndarray


def read_hans(path: Path) -> Hans:
    """Read examples in the published layout: tab-separated, with a header; each once.

    Raises:
        InputError: A column or a value is missing, or a label is another; the message says where.
    """
    rows = []
    try:
        with path.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream, delimiter="\t", quoting=csv.QUOTE_NONE)
            if missing := [name for name in _COLUMNS if name not in (reader.fieldnames or ())]:
                raise InputError(
                    f"{path}: the columns {', '.join(missing)} are missing; expected "
                    f"{', '.join(_COLUMNS)}, separated by tabs. Correct inputs.hans."
                )
            for number, row in enumerate(reader, 2):
                if not all(row[name] for name in _COLUMNS):
                    raise InputError(f"{path}, line {number}: a value is missing.")
                if row["gold_label"] not in (ENTAILMENT, OTHER):
                    raise InputError(
                        f"{path}, line {number}: the label is {row['gold_label']!r}; expected "
                        f"{ENTAILMENT} or {OTHER}."
                    )
                rows.append(tuple(row[name] for name in _COLUMNS))
    except (OSError, UnicodeDecodeError) as error:
        raise InputError(f"{path} cannot be read ({error}). Correct inputs.hans.") from error
    if not rows:
        raise InputError(f"{path} has no examples. Correct inputs.hans.")
    labels, first, second, heuristics = zip(*dict.fromkeys(rows), strict=True)
    return Hans(
        columns={"sentence1": list(first), "sentence2": list(second)},
        entailed=np.array(labels) == ENTAILMENT,
        heuristic=np.array(heuristics),
    )


def check(config: Mapping[str, Any]) -> None:
    """Check the file, and that a task is about entailment.

    Args:
        config: A resolved configuration.

    Raises:
        InputError: See `read_hans`; or no task can be asked.
    """
    path = config["inputs"]["hans"]
    if path is None:
        return
    read_hans(Path(path))
    if not tasks_of(config):
        raise InputError(
            f"inputs.hans is {path}, but no task of inputs.tasks has two texts and the label "
            f"'{ENTAILMENT}'. Add MNLI or RTE, or leave inputs.hans out."
        )


def tasks_of(config: Mapping[str, Any]) -> list[str]:
    """Tasks that can be asked: of two texts, with the label *entailment*."""
    return [
        name
        for name in config["inputs"]["tasks"]
        if ENTAILMENT in (config["tasks"][name].get("labels") or ())
        and len(config["tasks"][name]["text"]) > 1
    ]
