"""What tokens with a feature get in every example: what tests over examples need of the maps.

It is collected while a model's maps are measured, as means over the heads of a layer.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from darksecrets.core.arrays import Flags, Floats, Integers, Singles
from darksecrets.core.run.arrays import Arrays
from darksecrets.core.run.errors import InputError
from darksecrets.paper.features import example_store, tables

Values = Mapping[str, Floats]
"""By measure, [example, feature, layer, head]; NaN where an example has no such token."""

CONTROLLED = (tables.GREATEST, tables.FROM_CLS)
"""Measures that are also taken of random tokens."""

ROUNDING = float(np.finfo(np.float16).eps)
"""Maps are in half precision: weights this close, relative to the greatest, are equal."""


def quotient(sums: Floats, counts: Floats | Integers) -> Floats:
    """Means from sums; NaN where nothing was counted."""
    with np.errstate(invalid="ignore"):
        return np.asarray(sums / counts)


def all_token_measures(columns: Singles, features: Flags) -> Values:
    """Measures of all tokens with a feature together.

    Args:
        columns: [example, token, layer, head] mean weight that each token receives.
        features: [example, token, feature].
    """
    having = features.astype(np.float64)
    counts = having.sum(axis=1)[:, :, None, None]
    total = np.einsum("ejf,ejlh->eflh", having, columns, optimize=True)
    tied = columns >= columns.max(axis=1, keepdims=True) * (1 - ROUNDING)
    shares = tied / tied.sum(axis=1, keepdims=True)
    most = np.einsum("ejf,ejlh->eflh", having, shares, optimize=True)
    mean = quotient(total, counts)
    present = np.where(counts > 0, 1, np.nan)
    return {
        tables.PER_TOKEN: mean,
        tables.TOTAL: total * present,
        tables.MOST_ATTENDED: most * present,
    }


FILE = "examples.npz"
"""Name of the file of a model, in the folder of its task."""


@dataclass(frozen=True)
class Profiles:
    """Attention to tokens with a feature, example by example.

    Attributes:
        idx: [examples] the data set's number of each example.
        tokens: [examples, features] how many tokens have the feature.
        weights: By measure, [examples, features, layers] means over heads; NaN for examples
            without such a token. `FROM_CLS` has one layer, the last.
        uniform: The same under uniform attention.
        control: The same of random tokens, for the measures of `CONTROLLED`.
        heads: By measure, [features, layers, heads] means over examples.
        control_heads: The same of random tokens, for the measures of `CONTROLLED`.
    """

    idx: Integers
    tokens: Integers
    weights: Values
    uniform: Values
    control: Values
    heads: Values
    control_heads: Values

    def save(self, path: Path) -> None:
        """See `example_store.write`."""
        arrays: Arrays = {
            f"{part} {name}": values
            for part in _PARTS
            for name, values in getattr(self, part).items()
        }
        example_store.write(path, {"idx": self.idx, "tokens": self.tokens, **arrays})

    @classmethod
    def load(cls, path: Path) -> Profiles:
        """See `example_store.read`."""
        found = example_store.read(
            path, "attention of single examples", "measure_attention", "idx", "tokens"
        )
        parts: dict[str, Values] = {
            part: {
                name: found[f"{part} {name}"]
                for name in tables.ATTENTION_MEASURES
                if f"{part} {name}" in found
            }
            for part in _PARTS
        }
        return cls(found["idx"], found["tokens"], **parts)


_PARTS = ("weights", "uniform", "control", "heads", "control_heads")


@dataclass
class Collector:
    """Gathers the profiles of a model, batch by batch."""

    idx: list[int] = field(default_factory=list)
    tokens: list[Integers] = field(default_factory=list)
    examples: dict[str, dict[str, list[Floats]]] = field(
        default_factory=lambda: {part: {} for part in ("weights", "uniform", "control")}
    )
    sums: dict[str, dict[str, Floats]] = field(
        default_factory=lambda: {"weights": {}, "control": {}}
    )

    def add(
        self, idx: list[int], features: Flags, weights: Values, uniform: Values, control: Values
    ) -> None:
        """Add the examples of a batch.

        Args:
            idx: Their numbers.
            features: [example, token, feature].
            weights: Their measures.
            uniform: The same under uniform attention; one head, and one layer if all are alike.
            control: The same of random tokens.
        """
        self.idx += idx
        self.tokens.append(features.sum(axis=1))
        for part, values in (("weights", weights), ("uniform", uniform), ("control", control)):
            for name, head_values in values.items():
                mean, layers = head_values.mean(axis=-1), weights[name].shape[2]
                layer_values = np.broadcast_to(mean, (*mean.shape[:-1], layers))
                self.examples[part].setdefault(name, []).append(layer_values)
                if part in self.sums:
                    sums = np.nan_to_num(head_values).sum(axis=0)
                    self.sums[part][name] = self.sums[part].get(name, 0) + sums

    def profiles(self) -> Profiles:
        """Everything that was added."""
        parts = {
            part: {name: np.concatenate(values) for name, values in measures.items()}
            for part, measures in self.examples.items()
        }
        heads = {
            part: {
                name: quotient(sums, (~np.isnan(parts[part][name])).sum(axis=0)[..., None])
                for name, sums in measures.items()
            }
            for part, measures in self.sums.items()
        }
        return Profiles(
            np.array(self.idx),
            np.concatenate(self.tokens),
            parts["weights"],
            parts["uniform"],
            parts["control"],
            heads["weights"],
            heads["control"],
        )


Models = Mapping[str, Mapping[str, Sequence[Profiles]]]
"""Models of a run by task and state; `finetuned` has one for every seed."""


def check_paired(models: Models) -> None:
    """Check that all models of a task saw the same examples, in the same order.

    Raises:
        InputError: They did not, so they cannot be compared example by example.
    """
    for task, states in models.items():
        every = [one for profiles in states.values() for one in profiles]
        if any(not np.array_equal(one.idx, every[0].idx) for one in every):
            raise InputError(
                f"{task}: the models {', '.join(states)} were measured on different examples. "
                f"Remove features/{task} and run again."
            )


def stacked(profiles: Sequence[Profiles], part: str, measure: str) -> Floats:
    """[models, ...] one part of several models; `append_encoder` adds the mean over layers."""
    return np.stack([getattr(one, part)[measure] for one in profiles])


def append_encoder(values: Floats) -> Floats:
    """[..., layers + 1] values of every layer and, last, their mean: the whole encoder."""
    return np.concatenate([values, values.mean(axis=-1, keepdims=True)], axis=-1)


def layer_numbers(layers: int) -> list[int | None]:
    """Layers from 1, then None for the whole encoder, as `append_encoder` orders them."""
    return [*range(1, layers + 1), None]
