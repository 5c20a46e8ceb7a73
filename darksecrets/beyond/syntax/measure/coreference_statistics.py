"""Tables of coreference: every head beside its controls, and the best one beside other methods.

Texts are the sampling units. The best head is chosen on random halves of the texts and scored on
the others.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from darksecrets.beyond.syntax.declared import (
    ALL,
    BEST_HEAD,
    COREFERENCE_HEADS,
    COREFERENCE_METHODS,
    DISTANCE,
    EXPRESSIONS,
    MODEL,
)
from darksecrets.beyond.syntax.measure.antecedents import WITHOUT_MODEL, Resolved
from darksecrets.core.run.tables import Table
from darksecrets.core.stats.paired import FEWEST, intersection_union, sign_flips
from darksecrets.core.stats.ratios import share
from darksecrets.core.stats.resampling import group_sums, halves
from darksecrets.core.stats.selection import BestGain, best_gain

Floats = npt.NDArray[np.float64]
Flags = npt.NDArray[np.bool_]

DRAWS = 2000
"""Random changes of signs in the tests."""
SPLITS = 200
"""Random halves of the texts."""


def tables(resolved: Resolved, seed: int) -> tuple[pd.DataFrame, pd.DataFrame]:
    """The tables `coreference_heads` and `coreference_methods` of a model, without its columns.

    Args:
        resolved: How the model's heads resolve.
        seed: Seed of the tests and of the halves.
    """
    kinds = dict(kinds_of(resolved))
    furthest = {kind: best_distance(resolved, which) for kind, which in kinds.items()}
    p = _tests(resolved, kinds, furthest, np.random.default_rng(seed))
    heads = [
        _heads(resolved, kind, which, furthest[kind], p[number])
        for number, (kind, which) in enumerate(kinds.items())
    ]
    methods = [
        _methods(resolved, kind, which, furthest[kind], seed) for kind, which in kinds.items()
    ]
    return _columns(heads, COREFERENCE_HEADS), _columns(methods, COREFERENCE_METHODS)


def _columns(parts: list[pd.DataFrame], table: Table) -> pd.DataFrame:
    """Parts together, with the columns of a table but those of the model."""
    own = [column.name for column in table.columns if column not in MODEL]
    return pd.concat(parts, ignore_index=True).reindex(columns=own)


def kinds_of(resolved: Resolved) -> Iterator[tuple[str, Flags]]:
    """All anaphors, and those of each kind that occurs: [anaphors] which ones they are."""
    yield ALL, np.ones(len(resolved.kind), dtype=bool)
    for number, name in enumerate(EXPRESSIONS):
        if (which := resolved.kind == number).any():
            yield name, which


def best_distance(resolved: Resolved, which: Flags) -> int:
    """The distance in words at which most antecedents are right; of several, the shortest.

    It is chosen on the texts that it is scored on, which favours it over heads.
    """
    return int(resolved.distances[which].sum(axis=0).argmax()) + 1


def accuracy_by_form(resolved: Resolved, which: Flags) -> Floats:
    """[anaphors, layers, heads] what the best rule finds among expressions of the same form.

    For each head and form of its choices, the best of `Resolved.of_form` is taken. It is chosen on
    the texts that it is scored on, which favours it over heads.
    """
    found = np.zeros(resolved.heads.shape)
    for form in range(1 + int(resolved.form.max())):
        own = which[:, None, None] & (resolved.form == form)
        best = np.where(own[:, None], resolved.of_form, 0).sum(axis=0).argmax(axis=0)
        rule = np.take_along_axis(resolved.of_form, best[None, None], axis=1)[:, 0]
        found += np.where(own, rule, 0)
    return found


def _per_text(values: Floats, texts: npt.NDArray[np.int64]) -> Floats:
    """[texts, ...] sums over the anaphors of every text that has some."""
    _, groups = np.unique(texts, return_inverse=True)
    flat = values.reshape(len(values), -1)
    return group_sums(flat, groups).reshape(-1, *values.shape[1:])


def _tests(
    resolved: Resolved,
    kinds: dict[str, Flags],
    furthest: dict[str, int],
    rng: np.random.Generator,
) -> Floats:
    """[kinds, layers, heads] p-values of exceeding every control, corrected over all of them."""
    differences = []
    for kind, which in kinds.items():
        fixed = resolved.distances[:, furthest[kind] - 1, None, None]
        same_form = accuracy_by_form(resolved, which)
        controls = (fixed, resolved.other_query, resolved.same_kind, same_form)
        kind_flags = which[:, None, None]
        differences.append([np.where(kind_flags, resolved.heads - each, 0) for each in controls])
    over: Floats = np.moveaxis(
        np.array(differences), 2, 0
    )  # [anaphors, kinds, controls, layers, heads]
    tested = sign_flips(_per_text(over, resolved.text), DRAWS, rng, zero=1e-9)
    return intersection_union(np.moveaxis(tested.family, 1, 0))


def _heads(resolved: Resolved, kind: str, which: Flags, furthest: int, p: Floats) -> pd.DataFrame:
    """Rows of all heads for one kind of anaphor."""
    texts = resolved.text[which]
    sizes = _per_text(np.ones(len(texts)), texts)
    accuracy = share(_per_text(resolved.heads[which], texts), sizes[:, None, None])
    layers, heads = p.shape
    layer, head = (places.ravel() + 1 for places in np.indices((layers, heads)))
    return pd.DataFrame(
        {
            "kind": kind,
            "layer": layer,
            "head": head,
            **{name: values.ravel() for name, values in accuracy.columns("accuracy").items()},
            "fixed_distance": resolved.distances[which, furthest - 1].mean(),
            "other_query": resolved.other_query[which].mean(axis=0).ravel(),
            "same_kind": resolved.same_kind[which].mean(axis=0).ravel(),
            "same_form": accuracy_by_form(resolved, which)[which].mean(axis=0).ravel(),
            "p_family": p.ravel(),
            "anaphors": len(texts),
            "texts": len(sizes),
        }
    )


def _methods(resolved: Resolved, kind: str, which: Flags, furthest: int, seed: int) -> pd.DataFrame:
    """Rows of the best head and of all other methods for one kind of anaphor."""
    texts = resolved.text[which]
    sizes = _per_text(np.ones(len(texts)), texts)
    right = {
        **dict(zip(WITHOUT_MODEL, resolved.methods[which].T, strict=True)),
        DISTANCE: resolved.distances[which, furthest - 1],
    }
    sums = {name: _per_text(values, texts) for name, values in right.items()}
    head_sums = _per_text(resolved.heads[which].reshape(len(texts), -1), texts)
    counts = {"anaphors": len(texts), "texts": len(sizes)}
    rows = [_best(head_sums, sizes, resolved.heads.shape[-1], seed) | {"method": BEST_HEAD}]
    for name, hits in sums.items():
        best = _chosen(head_sums - hits[:, None], sizes, seed)
        rows.append(
            {
                "method": name,
                "distance": furthest if name == DISTANCE else None,
                **share(hits, sizes).columns("accuracy"),
                **_add_ends("gain", best),
            }
        )
    return pd.DataFrame(rows).assign(kind=kind, **counts)


def _best(head_sums: Floats, sizes: Floats, heads: int, seed: int) -> dict[str, Any]:
    """The best head: accuracy on halves that did not choose it, and which was chosen most."""
    best = _chosen(head_sums, sizes, seed)
    if np.isnan(best.mean):
        return {}
    layer, head = divmod(int(best.chosen.argmax()), heads)
    return {
        **_add_ends("accuracy", best, 0, 1),
        "layer": layer + 1,
        "head": head + 1,
        "chosen": best.chosen.max(),
    }


def _chosen(head_sums: Floats, sizes: Floats, seed: int) -> BestGain:
    """The best head of random halves of the texts.

    Args:
        head_sums: [texts, heads] sums over the anaphors of a text.
        sizes: [texts] their numbers.
        seed: Seed of the halves.
    """
    if len(sizes) < FEWEST:
        nothing = np.full(head_sums.shape[1], 0.0)
        return BestGain(np.nan, np.nan, np.nan, nothing)
    rng = np.random.default_rng(seed)
    ones = np.concatenate(list(halves(SPLITS, len(sizes), rng))).astype(np.float64)
    sides = [(part @ head_sums) / (part @ sizes)[:, None] for part in (ones, 1 - ones)]
    return best_gain(*sides)


def _add_ends(
    name: str, found: BestGain, lowest: float = -np.inf, highest: float = np.inf
) -> dict[str, float]:
    low, high = np.clip([found.low, found.high], lowest, highest)
    return {name: found.mean, f"{name}_low": low, f"{name}_high": high}
