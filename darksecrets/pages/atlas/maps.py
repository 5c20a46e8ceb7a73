"""Maps of one task for the atlas: means on a common frame, profiles of offsets, examples."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from darksecrets.core.arrays import Flags, Floats
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.interventions.results import SweepResult
from darksecrets.core.run.errors import InputError
from darksecrets.pages.atlas import examples, packing
from darksecrets.pages.atlas.frame import OFFSETS, Frame, Weights, frame_of, place, profile, runs
from darksecrets.paper.finetuning import tables

_BEFORE, _AFTER = 0, 1


@dataclass(frozen=True)
class Settings:
    """What is shown of a task.

    Attributes:
        labels: Names of the classes; empty for a regression.
        examples: How many examples.
        tokens: Largest number of their tokens, if there are enough such examples.
        seed: Of the examples drawn at random.
    """

    labels: Sequence[str]
    examples: int
    tokens: int
    seed: int


@dataclass
class Means:
    """Means over the examples of a store.

    Attributes:
        maps: [layer, head, bin, bin] on the frame.
        profiles: [layer, head, offset]
        placed: Examples with the frame's parts, behind `maps`.
    """

    maps: Weights
    profiles: Weights
    placed: int


def content(
    stores: Mapping[str, AttentionStore],
    predictions: pd.DataFrame,
    sweep: SweepResult | None,
    settings: Settings,
) -> dict[str, Any]:
    """What the page shows of a task's maps, as JSON can represent it.

    Args:
        stores: Stores by model, such as ``pretrained`` and ``finetuned/seed-1``, in this order;
            examples are shown of the first two.
        predictions: Those of the second model: ``idx``, ``label``, ``prediction``.
        sweep: Predictions of the second model with heads disabled; None without a sweep.
        settings: What to show.

    Raises:
        InputError: The stores have different examples.
    """
    _check(stores)
    first = next(iter(stores.values()))
    frame = frame_of(first)
    means = {model: means_of(store, frame) for model, store in stores.items()}
    chosen, flips = _chosen(list(stores.values())[:2], list(means.values()), frame, sweep, settings)
    table = predictions.set_index("idx")
    return {
        "frame": [
            {"name": name, "part": part}
            for part, name in zip(frame.parts, frame.names, strict=True)
        ],
        "shape": [first.layers, first.heads],
        "models": list(stores),
        "counts": {"examples": first.examples, "placed": next(iter(means.values())).placed},
        "means": {model: packing.pack_means(mean.maps) for model, mean in means.items()},
        "profiles": {model: packing.pack_means(mean.profiles) for model, mean in means.items()},
        "uniform": np.round(_uniform_profile(first), 4).tolist(),
        "examples": [
            _example(choice, list(stores.items())[:2], table, flips, settings) for choice in chosen
        ],
    }


def _check(stores: Mapping[str, AttentionStore]) -> None:
    (name, first), *others = stores.items()
    for other, store in others:
        same = np.array_equal(store.idx, first.idx) and np.array_equal(store.lengths, first.lengths)
        if not same or (store.layers, store.heads) != (first.layers, first.heads):
            raise InputError(
                f"{store.folder}: {other} has other examples or heads than {name}. "
                "Remove the folder and run again."
            )


def means_of(store: AttentionStore, frame: Frame) -> Means:
    """Means of a model's maps on a frame, and of its profiles."""
    maps = np.zeros((store.layers, store.heads, frame.bins, frame.bins))
    profiles = np.zeros((store.layers, store.heads, OFFSETS))
    placed = 0
    for example, own in _each(store):
        profiles += profile(own)
        parts = runs(store.special(example), store.segments(example))
        if frame.fits(parts):
            maps += place(own, parts)
            placed += 1
    return Means(
        (maps / placed).astype(np.float32), (profiles / store.examples).astype(np.float32), placed
    )


def _each(store: AttentionStore) -> Iterator[tuple[int, Weights]]:
    """Every example's maps, [layer, head, query, key]."""
    for batch, maps in store.batches():
        for i, example in enumerate(batch):
            yield example, maps[i].astype(np.float32)


def _uniform_profile(store: AttentionStore) -> Weights:
    """[layer, offset] the profile of uniform attention, the control of profiles."""
    total = np.zeros((store.layers, OFFSETS))
    lengths, counts = np.unique(store.lengths, return_counts=True)
    for length, count in zip(lengths, counts, strict=True):
        total += count * profile(store.uniform(int(length)))
    return (total / store.examples).astype(np.float32)


def _chosen(
    stores: Sequence[AttentionStore],
    means: Sequence[Means],
    frame: Frame,
    sweep: SweepResult | None,
    settings: Settings,
) -> tuple[list[examples.Choice], Flags]:
    """The examples shown, and for which heads their prediction flips."""
    distance, change = _compared(stores, means, frame)
    flips = _flips(stores[0], sweep, settings.labels)
    candidates = examples.short(stores[0].lengths, settings.tokens, settings.examples)
    chosen = examples.choose(candidates, distance, change, flips, settings.examples, settings.seed)
    return chosen, flips


def _compared(
    stores: Sequence[AttentionStore], means: Sequence[Means], frame: Frame
) -> tuple[Floats, Floats]:
    """Of every example, the distance from the mean maps of both models, and 1 − their cosine."""
    distance = np.full(stores[0].examples, np.nan)
    change = np.zeros(stores[0].examples)
    for (example, before), (_, after) in zip(*map(_each, stores), strict=True):
        change[example] = 1 - float(_cosine(before, after).mean())
        parts = runs(stores[0].special(example), stores[0].segments(example))
        if frame.fits(parts):
            pairs = zip((before, after), means, strict=False)
            distance[example] = sum(
                float(((place(m, parts) - mean.maps) ** 2).sum()) for m, mean in pairs
            )
    return distance, change


def _cosine(first: Weights, second: Weights) -> Floats:
    """[layer, head] cosine of two maps."""
    product = np.einsum("lhqk,lhqk->lh", first, second)
    norms = [np.einsum("lhqk,lhqk->lh", own, own) for own in (first, second)]
    return product / np.sqrt(norms[0] * norms[1])


def _flips(store: AttentionStore, sweep: SweepResult | None, labels: Sequence[str]) -> Flags:
    """[head, example] whether disabling a head flips the prediction; heads in order of layers."""
    heads = store.layers * store.heads
    if sweep is None:
        return np.zeros((heads, store.examples), dtype=np.bool_)
    places = pd.Series(range(len(sweep.idx)), index=sweep.idx)[store.idx].to_numpy()
    sets = sweep.sets[sweep.sets["kind"] == "head"].sort_values(["layer", "head"])
    rows = sets.index.to_numpy()
    own = sweep.predictions[:, places]
    return examples.flipped(own[rows], own[0], labels)


def _example(
    choice: examples.Choice,
    stores: Sequence[tuple[str, AttentionStore]],
    predictions: pd.DataFrame,
    flips: Flags,
    settings: Settings,
) -> dict[str, Any]:
    """One example with its tokens, labels and maps."""
    _, store = stores[0]
    idx = int(store.idx[choice.example])
    row: Any = predictions.loc[idx]
    return {
        "idx": idx,
        "rule": choice.rule,
        "tokens": store.tokens(choice.example),
        "label": _say(float(row["label"]), settings.labels),
        "prediction": _say(float(row["prediction"]), settings.labels),
        "flips": np.flatnonzero(flips[:, choice.example]).tolist(),
        "maps": {model: packing.pack_map(own.maps(choice.example)) for model, own in stores},
    }


def _say(value: float, labels: Sequence[str]) -> str:
    """A label in words, or a score."""
    return labels[int(value)] if labels else f"{value:.2f}"


def read_predictions(path: Path, labels: Sequence[str]) -> pd.DataFrame:
    """Columns of a file of predictions that the atlas shows.

    Args:
        path: Table `paper.finetuning.tables.predictions`.
        labels: Names of the task's classes; empty for a regression.
    """
    return tables.predictions(len(labels) or 1).read(path, ["idx", "label", "prediction"])


def as_json(content: Mapping[str, Any]) -> str:
    """The content of a task as text."""
    return json.dumps(content, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
