"""What linear probes read from layers, beside word types, random classes and codes."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterable, Iterator

import numpy as np
import pandas as pd
import torch

from darksecrets.beyond.layers.measure.linear import Scale, fit, minimise, penalised
from darksecrets.beyond.layers.measure.properties import Property, leave_out_rare_classes
from darksecrets.core.arrays import Flags, Floats, Integers, Singles
from darksecrets.core.run.progress import progress
from darksecrets.core.stats.ratios import Ratio, ratio, share
from darksecrets.core.stats.resampling import feasible, interval_of_known, multinomial_weights

TRAINING = 2 / 3
"""Share of the sentences that probes are trained on."""
PORTIONS = (0.001, 0.002, 0.004, 0.008, 0.016, 0.032, 0.0625, 0.125, 0.25, 0.5, 1)
"""Ends of the portions of the online code (Voita and Titov 2020)."""
_DRAWS = 1000
_SURE = 1.5
"""Half-widths of its interval by which a gain must exceed 0, about three standard errors: each of
several properties of an untrained encoder may gain by chance."""


def training_groups(groups: int, seed: int) -> Flags:
    """[groups] which sentences a probe is trained on: a random two thirds."""
    order = np.random.default_rng(seed).permutation(groups)
    chosen = np.zeros(groups, dtype=bool)
    chosen[order[: round(TRAINING * groups)]] = True
    return chosen


def usable(properties: Iterable[Property], training: Flags) -> Iterator[tuple[Property, Flags]]:
    """Properties without rare classes, and for each which items are for training.

    Args:
        properties: Properties of the same sentences or examples.
        training: [groups] which of these are for training.
    """
    for one in properties:
        found = leave_out_rare_classes(one, training[one.groups])
        if found is not None:
            yield found, training[found.groups]


def probe_rows(found: Property, training: Flags, seed: int) -> pd.DataFrame:
    """Rows of `LAYER_PROBES` of one model and property.

    Args:
        found: The property.
        training: [items] which items a probe is trained on.
        seed: Seed of random classes, and of the order of the online code.
    """
    classes, labels = len(found.classes), found.labels
    frequent = most_frequent(found, training)
    random = None if found.types is None else random_classes(found, training, seed)
    groups, rows = found.groups[~training], []
    # Fine-tuned models memorise the labels of their training examples.
    coded = training if found.types is not None else ~training
    by_type = frequent[~training] == labels[~training]
    with progress(f"Probes: {found.name}", len(found.states), "layers") as advance:
        for layer in range(len(found.states)):
            features = found.features(layer)
            probe = fit(features[training], labels[training], classes)
            right = probe.predict(features[~training]) == labels[~training]
            row = {
                "layer": layer,
                **group_ratio(right, groups, share).columns("accuracy", 0, 1),
                "majority": by_type.mean(),
                **group_ratio(right * 1.0 - by_type, groups, ratio).columns("over_majority", -1, 1),
                "control": math.nan,
                "compression": compression(features, labels, classes, coded, found.groups, seed),
            }
            if random is not None:
                other = fit(features[training], random[training], classes)
                answers = other.predict(features[~training])
                row["control"] = (answers == random[~training]).mean()
            rows.append(row)
            advance(1)
    return pd.DataFrame(rows).assign(
        property=found.name,
        items=int((~training).sum()),
        sentences=len(np.unique(groups)),
        classes=classes,
        left_out=", ".join(found.left_out) or None,
    )


def group_ratio(
    values: Floats | Flags, groups: Integers, kind: Callable[[Floats, Floats], Ratio]
) -> Ratio:
    """A share, or a ratio, of items; sentences are what is drawn.

    Args:
        values: [items].
        groups: [items] sentence of each.
        kind: `share` or `ratio`, of `core.stats.ratios`.
    """
    numbers = np.unique(groups, return_inverse=True)[1]
    sums = np.bincount(numbers, weights=values).astype(np.float64)
    sizes = np.bincount(numbers).astype(np.float64)
    return kind(sums, sizes)


def _unknown(name: str) -> dict[str, float]:
    return {name: math.nan, f"{name}_low": math.nan, f"{name}_high": math.nan}


def most_frequent(found: Property, training: Flags) -> Integers:
    """[items] the most frequent class of each item's word type in training.

    Of types that training lacks, and of examples, it is the most frequent class of all.
    """
    classes = len(found.classes)
    everywhere = int(np.bincount(found.labels[training]).argmax())
    if found.types is None:
        return np.full(len(found.labels), everywhere)
    counts = np.zeros((found.types.max() + 1, classes), dtype=np.int64)
    np.add.at(counts, (found.types[training], found.labels[training]), 1)
    best = np.where(counts.any(axis=1), counts.argmax(axis=1), everywhere)
    answers: Integers = best[found.types]
    return answers


def random_classes(found: Property, training: Flags, seed: int) -> Integers:
    """[items] a class of each item's word type, drawn as often as classes occur in training.

    A type has the same class wherever it stands (Hewitt and Liang 2019).
    """
    assert found.types is not None
    shares = np.bincount(found.labels[training], minlength=len(found.classes)) / training.sum()
    rng = np.random.default_rng(seed)
    drawn = rng.choice(len(found.classes), size=found.types.max() + 1, p=shares)
    classes: Integers = drawn[found.types].astype(np.int64)
    return classes


def compression(
    features: Singles,
    labels: Integers,
    classes: int,
    coded: Flags,
    groups: Integers,
    seed: int,
) -> float:
    """How much shorter the online code of labels is than uniform codes.

    The first portion has uniform codes; each next one those of a probe that is trained on all
    portions before it (Voita and Titov 2020). Sentences come in random order.

    Args:
        features: [items, size].
        labels: [items] numbers of classes.
        classes: How many there are.
        coded: [items] which items are coded.
        groups: [items] sentence of each.
        seed: Seed of the order.
    """
    places = np.random.default_rng(seed).permutation(groups.max() + 1)
    items = np.flatnonzero(coded)
    items = items[np.argsort(places[groups[items]], kind="stable")]
    ends = sorted({end for share in PORTIONS if (end := round(share * len(items))) >= classes})
    bits = ends[0] * math.log2(classes)
    for end, following in itertools.pairwise(ends):
        known, new = items[:end], items[end:following]
        probe = fit(features[known], labels[known], classes)
        found = probe.log_probabilities(features[new])
        bits -= float(found[np.arange(len(new)), labels[new]].sum()) / math.log(2)
    return len(items) * math.log2(classes) / bits


def order_row(found: Property, training: Flags, seed: int) -> dict[str, object]:
    """A row of `LAYER_ORDER` of one model and property; see `probe_rows` for the arguments."""
    features = [found.features(layer) for layer in range(len(found.states))]
    labels, scored, groups = found.labels, ~training, found.groups[~training]
    scales = [Scale.of(own[training]) for own in features]
    inputs = torch.stack([scale(own) for scale, own in zip(scales, features, strict=True)])
    del features
    numbers = np.unique(groups, return_inverse=True)[1]
    sizes = np.bincount(numbers).astype(np.float64)
    hits: list[Floats] = []
    with progress(f"Mixes: {found.name}", len(inputs), "layers") as advance:
        for last in range(len(inputs)):
            mix = fit_mix(inputs[: last + 1, training], labels[training], len(found.classes))
            right = mix.predict(inputs[: last + 1, scored]) == labels[scored]
            hits.append(np.bincount(numbers, weights=right).astype(np.float64))
            advance(1)
    weights = multinomial_weights(
        _DRAWS, np.ones(len(sizes), np.int64), np.random.default_rng(seed)
    )
    counts = np.stack(hits, axis=1)
    scores = counts.sum(axis=0) / sizes.sum()
    drawn = (weights @ counts) / (weights @ sizes)[:, None]
    gain = ratio(counts[:, -1] - counts[:, 0], sizes)
    row = {"property": found.name, **gain.columns("gain", -1, 1), "sentences": len(sizes)}
    if not gain.value - _SURE * (gain.value - gain.low) > 0:
        return {**row, **_unknown("expected_layer")}
    low, high = feasible(interval_of_known(expected_layers(drawn)), 0, len(inputs) - 1)
    return {
        **row,
        "expected_layer": expected_layers(scores[None])[0],
        "expected_layer_low": low,
        "expected_layer_high": high,
    }


def expected_layers(scores: Floats) -> Floats:
    """Σ l Δ(l) / Σ Δ(l), with Δ(l) what layer l adds to the layers below (Tenney et al. 2019).

    Args:
        scores: [draws, layers + 1] scores of mixes of layers 0 to l.
    """
    added = np.diff(scores, axis=1)
    with np.errstate(invalid="ignore", divide="ignore"):
        found: Floats = added @ np.arange(1, scores.shape[1]) / added.sum(axis=1)
    return found


class Mix:
    """A linear probe of a weighted mean of layers, with weights that are learned, too.

    Args:
        layers: Number of layers, with 0.
        size: Size of the states.
        classes: Number of classes.
    """

    def __init__(self, layers: int, size: int, classes: int) -> None:
        self.shares = torch.zeros(layers, requires_grad=True)
        self.weights = torch.zeros(size, classes, requires_grad=True)
        self.bias = torch.zeros(classes, requires_grad=True)

    def scores(self, inputs: torch.Tensor) -> torch.Tensor:
        """[items, classes] of states [layers, items, size]."""
        mixed = torch.einsum("l,lns->ns", torch.softmax(self.shares, dim=0), inputs)
        return mixed @ self.weights + self.bias

    def predict(self, inputs: torch.Tensor) -> Integers:
        """[items] the most probable class of each."""
        with torch.no_grad():
            found: Integers = self.scores(inputs).argmax(dim=1).numpy()
        return found


def fit_mix(inputs: torch.Tensor, labels: Integers, classes: int) -> Mix:
    """Fit the probe of a mix to states [layers, items, size] on their scales, and labels [items].

    Every mix begins with equal weights: begun with those of fewer layers, it stays near them.
    """
    mix, targets = Mix(len(inputs), inputs.shape[2], classes), torch.from_numpy(labels)
    minimise(
        lambda: penalised(mix.scores(inputs), targets, mix.weights),
        [mix.shares, mix.weights, mix.bias],
    )
    return mix
