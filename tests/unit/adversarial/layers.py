"""Trials of what layers know: types, places, random states and random subspaces know nothing."""

from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
from made_up_layers import planted, states_of, training_of, trees

from adversarial.trials import NULL, POWER, Size, Statements, Trial
from darksecrets.beyond.layers.measure.geometry import geometry_rows
from darksecrets.beyond.layers.measure.probing import order_row, probe_rows
from darksecrets.beyond.layers.measure.properties import word_types
from darksecrets.beyond.layers.measure.removal import RANDOM, costs
from darksecrets.beyond.layers.measure.structural import structural_rows
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task

_TASK = Task.from_entry("T", {"text": ["a"], "labels": ["no", "yes"], "metrics": ["accuracy"]})


def of_probes(size: Size, folder: Path) -> Iterator[Trial]:
    """Layers that have the word type alone, and one that has the class."""
    for kind, truth, strength in (
        ("word types alone", NULL, None),
        ("random states", NULL, None),
        ("the class is in layer 2", POWER, 2.0),
    ):
        made = Statements()
        for draw in range(max(6, size.sweeps // 5)):
            layer = None if strength is None else 2
            found = planted(
                words=900,
                layer=layer,
                by_type=kind == "word types alone",
                strength=strength or 0,
                seed=draw,
            )
            rows = probe_rows(found, training_of(found, draw), draw)
            if layer is not None:
                rows = rows[rows["layer"] == layer]
            above = rows["over_majority_low"] > 0
            made.each("layer_probes: over_majority is above 0", above, 0.025)
            order = order_row(found, training_of(found, draw), draw)
            gain = pd.Series([order["gain_low"]]) > 0
            made.each("layer_order: gain is above 0", gain, 0.025)
        yield from made.trials(kind, truth)


def of_trees(size: Size, folder: Path) -> Iterator[Trial]:
    """States that have the place in the sentence alone, or nothing, and random trees."""
    for kind in ("places alone", "random states"):
        made = Statements()
        for draw in range(max(6, size.sweeps // 5)):
            rng, sentences = np.random.default_rng(draw), trees(60, 12, seed=draw)
            words = sum(map(len, sentences))
            own = rng.standard_normal((words, 16))
            if kind == "places alone":
                steps = np.tril(np.ones((12, 12)))
                own = np.concatenate([steps[: len(one)] for one in sentences])
            states = states_of(sentences, [own])
            rows = structural_rows(states, sentences, np.arange(60) < 40, 8, draw)
            above = rows["over_chain_low"] > 0
            made.each("structural_probes: over_chain is above 0", above, 0.025)
            if kind == "random states":
                made.interval("structural_probes", "distance_correlation", rows)
                made.interval("structural_probes", "depth_correlation", rows)
        yield from made.trials(kind)


def of_geometry(size: Size, folder: Path) -> Iterator[Trial]:
    """States without a common direction, and words without a state of their own."""
    made = Statements()
    for draw in range(size.sweeps):
        rng, sentences = np.random.default_rng(draw), trees(60, 12, seed=draw)
        words = sum(map(len, sentences))
        states = states_of(sentences, [rng.standard_normal((words, 20))])
        rows = geometry_rows(states, word_types(states, sentences), draw)
        made.interval("layer_geometry", "anisotropy", rows)
        made.interval("layer_geometry", "self_similarity", rows)
    yield from made.trials("random states")


def of_removal(size: Size, folder: Path) -> Iterator[Trial]:
    """A subspace that was chosen for nothing, among random ones whose costs differ."""
    for kind, truth, more in (
        ("one more random subspace", NULL, 0.0),
        ("a subspace that costs 25 points more", POWER, 0.25),
    ):
        made = Statements()
        for draw in range(4 * size.sweeps):
            rng = np.random.default_rng(draw)
            labels, ids = rng.integers(2, size=120), np.arange(120, dtype=np.int32)
            inputs = {"input_ids": ids}
            validation = EncodedSplit(ids, labels, np.arange(121), inputs, {"input_ids": 0})
            wrong = 0.15 + 0.12 * rng.random(1 + RANDOM) + more * (np.arange(1 + RANDOM) == 0)
            removed = [np.where(rng.random(120) < rate, 1 - labels, labels) for rate in wrong]
            intact = np.where(rng.random(120) < 0.1, 1 - labels, labels)
            row = pd.DataFrame([costs(_TASK, intact, removed, validation, draw)])
            made.interval("removed_properties", "over_random", row)
            if truth == NULL:
                same = [np.where(rng.random(120) < 0.1, 1 - labels, labels) for _ in wrong]
                row = pd.DataFrame([costs(_TASK, intact, same, validation, draw)])
                made.interval("removed_properties", "delta", row)
        yield from made.trials(kind, truth)
