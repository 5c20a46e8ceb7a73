"""What transfers to an encoder that was not labelled? Classifiers of patterns, compared.

    python benchmarks/pattern_transfer.py variants [--annotations FOLDER] [--seeds 1]
    python benchmarks/pattern_transfer.py curve [--draws 5]
    python benchmarks/pattern_transfer.py coverage

``variants``: every encoder of the labelled maps is left out in turn, in all its states that share
weights; each variant is trained on the others. The row *chosen* is the score of the choice itself:
for each encoder, the variant with the best mean over the *other* encoders. ``curve``: the same for
the hand-made features, with fewer encoders and fewer maps in the training. ``coverage``: how often
the intervals of Figure 2 cover the labelled shares of an encoder that was left out, and of half of
a labelled encoder's examples whose other half is labelled; this needs no training, only the shipped
cross-validation. Each takes a minute or two on one core.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.patterns import annotations, classifier, logistic, quality, shares, trained
from darksecrets.patterns.classes import PATTERNS, READINGS, WIDE, Reading
from darksecrets.patterns.crossvalidation import softmax
from darksecrets.patterns.readings import MAP_KINDS, members
from darksecrets.patterns.tables import COMBINED, EXAMPLE, MODEL, NETWORK, PATTERN_PREDICTIONS

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """Labelled maps, prepared for all variants.

    Attributes:
        data: The maps.
        prepared: The same with the maps composed of them.
        composed: Whether composed maps are trained on.
    """

    data: annotations.Annotations
    prepared: classifier.Prepared
    composed: bool = True

    @classmethod
    def read(cls, folder: Path) -> Labelled:
        """Read and prepare a set."""
        data = annotations.load([folder])
        return cls(data, classifier.Prepared.of(data, seed=2019))

    def examples(self, rows: Rows) -> tuple[classifier.Inputs, torch.Tensor, torch.Tensor]:
        """Inputs, possible kinds and weights of what is trained on."""
        inputs, kinds, weights = self.prepared.examples(rows)
        if not self.composed:
            inputs, kinds, weights = (
                self.prepared.inputs[rows],
                kinds[: len(rows)],
                weights[: len(rows)],
            )
        return inputs, torch.from_numpy(kinds), torch.from_numpy(weights)

    def splits(self) -> list[tuple[str, Rows, Rows]]:
        """For every encoder: its name, rows of the others without its sentences, its own rows."""
        names, groups = self.data.encoders, self.data.groups
        found = []
        for name in pd.unique(names):
            own = names == name
            others = ~own & ~np.isin(groups, groups[own])
            found.append((str(name), np.flatnonzero(others), np.flatnonzero(own)))
        return found

    def score(self, rows: Rows, chances: Floats, reading: Reading) -> float:
        """Weighted F1 × 100 of probabilities of kinds [maps, kinds]."""
        from sklearn.metrics import f1_score

        truth = self.data.table["label" if reading == WIDE else "strict"].to_numpy()[rows]
        guesses = np.array(list(PATTERNS))[(chances @ members(reading)).argmax(axis=1)]
        known = truth != ""
        return 100 * float(f1_score(truth[known], guesses[known], average="weighted"))


Variant = Callable[[Labelled, Rows, Rows, int], Floats]
"""Train on the first rows, with a seed; return log probabilities of kinds for the second."""


def by_regression(known: Labelled, learned: Rows, tested: Rows, _: int) -> Floats:
    """Logistic regression on the hand-made features, as in the shipped classifier."""
    inputs, kinds, weights = known.examples(learned)
    net = logistic.train(inputs.features, kinds, weights)
    found: Floats = net(known.prepared.inputs[tested].features).double().numpy()
    return found


def without_composed(variant: Variant) -> Variant:
    """A variant that is trained on labelled maps only."""

    def plain(known: Labelled, learned: Rows, tested: Rows, seed: int) -> Floats:
        return variant(replace(known, composed=False), learned, tested, seed)

    return plain


class Model(Protocol):
    """A classifier of scikit-learn."""

    classes_: Rows

    def fit(self, values: Floats, places: Rows, sample_weight: Floats) -> object:
        """Train on features [maps, features] and kinds [maps]."""

    def predict_proba(self, values: Floats) -> Floats:
        """[maps, kinds that were learned] probabilities."""


def by_scikit_learn(make: Callable[[int], Model]) -> Variant:
    """A model of scikit-learn on the hand-made features."""

    def variant(known: Labelled, learned: Rows, tested: Rows, seed: int) -> Floats:
        inputs, kinds, weights = known.examples(learned)
        model = make(seed)
        places = kinds.int().argmax(dim=1).numpy()
        model.fit(inputs.features.numpy(), places, sample_weight=weights.numpy())
        found = np.full((len(tested), len(MAP_KINDS)), -30.0)
        chances = model.predict_proba(known.prepared.inputs[tested].features.numpy())
        found[:, model.classes_] = np.log(chances.clip(1e-12))
        return found

    return variant


def extra_trees(seed: int) -> Model:
    """Extremely randomized trees."""
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(100, min_samples_leaf=2, random_state=seed)


SHIPPED = "features, regression"
PARTS: dict[str, Variant] = {
    SHIPPED: by_regression,
    "features, regression, nothing composed": without_composed(by_regression),
    "features, extra trees": by_scikit_learn(extra_trees),
}
MEANS = {"features, regression and trees": (SHIPPED, "features, extra trees")}


def adapted(outputs: Floats, prior: Floats) -> Floats:
    """Log probabilities for the shares of kinds that make a set of maps likeliest (label shift).

    Expectation and maximization of Saerens, Latinne and Decaestecker (2002).

    Args:
        outputs: [maps, kinds] log probabilities.
        prior: [kinds] shares in the training.
    """
    share = prior.copy()
    for _ in range(50):
        chances = softmax(outputs + np.log(share.clip(1e-6)) - np.log(prior.clip(1e-6)))
        share = chances.mean(axis=0)
    return np.asarray(np.log(chances.clip(1e-12)), dtype=np.float64)


def variants(options: argparse.Namespace) -> None:
    """Score every variant on every encoder that was left out."""
    known = Labelled.read(options.annotations)
    splits = known.splits()
    scores: dict[tuple[str, str], list[float]] = {}
    for name, learned, tested in splits:
        by_seed: dict[str, list[Floats]] = {}
        for seed in range(options.seeds):
            found = {part: fit(known, learned, tested, seed) for part, fit in PARTS.items()}
            for mean, parts in MEANS.items():
                found[mean] = np.mean([found[part] for part in parts], axis=0)
            _, kinds, weights = known.examples(learned)
            prior = (kinds * weights[:, None]).sum(dim=0).double().numpy()
            found[f"{SHIPPED}, prior adapted"] = adapted(found[SHIPPED], prior / prior.sum())
            for variant, outputs in found.items():
                by_seed.setdefault(variant, []).append(outputs)
        for (variant, outputs), reading in itertools.product(by_seed.items(), READINGS):
            each = [known.score(tested, softmax(one), reading) for one in outputs]
            scores.setdefault((variant, reading), []).append(float(np.mean(each)))
        print(name, "done", flush=True)
    names = [name for name, *_ in splits]
    table = pd.concat([from_predictions(options.predictions, names), pd.DataFrame(scores, names).T])
    table.index.names = ["variant", "reading"]
    chosen = pd.DataFrame({reading: choose(table.xs(reading, level=1)) for reading in READINGS}).T
    chosen.index = pd.MultiIndex.from_product([["chosen by the other encoders"], READINGS])
    table = pd.concat([table, chosen])
    table.insert(0, "mean", table.mean(axis=1))
    table.insert(1, "least", table[names].min(axis=1))
    table = table.round(1).rename_axis(["variant", "reading"]).reset_index()
    notes = (
        f"{len(known.data.table)} labelled maps. Weighted F1 × 100 on the maps of an encoder that "
        f"was left out of the training, mean of {options.seeds} seed(s); networks from the shipped "
        "cross-validation. *Chosen by the other encoders*: the variant with the best mean "
        "over the other encoders, so that no encoder's score had a part in its choice."
    )
    title = "Classifiers of patterns on encoders that they have not seen"
    write_results("pattern_transfer", title, table, describe("torch", "numpy"), notes)


def from_predictions(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """Scores of the shipped cross-validation for what includes a network, which trains slowly."""
    scores = quality.scores(PATTERN_PREDICTIONS.read(path), 100, seed=0)
    rows = scores[
        (scores["metric"] == "weighted_f1") & scores["classifier"].isin([NETWORK, COMBINED])
    ]
    table = rows.pivot_table(index=["classifier", "reading"], columns="maps_of", values="score")
    return table[[quality.unseen(name) for name in names]].set_axis(list(names), axis=1)


def choose(table: pd.DataFrame) -> pd.Series:
    """For each encoder (column), the score of the variant that is best on the others."""
    best = {name: table.drop(columns=name).mean(axis=1).idxmax() for name in table.columns}
    return pd.Series({name: table.loc[variant, name] for name, variant in best.items()})


def curve(options: argparse.Namespace) -> None:
    """Score the features with fewer encoders, and with fewer maps, in the training."""
    known = Labelled.read(options.annotations)
    splits = known.splits()
    names = known.data.encoders.astype(str)
    rng = np.random.default_rng(0)
    rows = []
    every = len(splits) - 1
    steps = [(others, 1.0) for others in range(1, every)]
    steps += [(every, share) for share in (0.1, 0.2, 0.4, 0.7, 1.0)]
    for others, share in steps:
        found: dict[Reading, list[float]] = {reading: [] for reading in READINGS}
        sizes = []
        for (name, learned, tested), _ in itertools.product(splits, range(options.draws)):
            some = rng.choice([one for one, *_ in splits if one != name], others, replace=False)
            kept = rng.permutation(learned[np.isin(names[learned], some)])
            kept = np.sort(kept[: round(share * len(kept))])
            if len({known.data.labels[row] for row in kept}) < 2:
                continue
            outputs = by_regression(known, kept, tested, 0)
            sizes.append(len(kept))
            for reading in READINGS:
                found[reading].append(known.score(tested, softmax(outputs), reading))
        rows.append(
            {"encoders": others, "maps": round(np.mean(sizes))}
            | {f"F1, {name}": round(float(np.mean(found[name])), 1) for name in READINGS}
            | {f"least, {name}": round(min(found[name]), 1) for name in READINGS}
        )
    notes = (
        f"Mean and least weighted F1 × 100 over all encoders left out and {options.draws} random "
        "choices of the encoders and maps trained on. *encoders* and *maps* (mean): in the "
        "training. The hand-made features alone, which are trained in a second."
    )
    title = "Learning curve of the classifier of patterns on encoders that it has not seen"
    machine = describe("torch", "numpy")
    write_results("pattern_learning_curve", title, pd.DataFrame(rows), machine, notes)


def coverage(options: argparse.Namespace) -> None:
    """How often intervals of corrected shares cover the labelled shares of maps left out."""
    predictions = PATTERN_PREDICTIONS.read(options.predictions)
    rng = np.random.default_rng(0)
    rows = []
    for reading in READINGS:
        outside = shares.Labelled.of(predictions, MODEL, reading)
        inside = shares.Labelled.of(predictions, EXAMPLE, reading)
        for name in pd.unique(outside.table["encoder"]):
            own = (outside.table["encoder"] == name).to_numpy()
            rows.append(_covered("unknown", reading, name, outside, ~own, own, [], rng))
        for name in pd.unique(inside.table["encoder"]):
            own = (inside.table["encoder"] == name).to_numpy()
            examples = rng.permutation(pd.unique(inside.table["example"][own]))
            half = np.isin(inside.table["example"], examples[: len(examples) // 2])
            rows.append(_covered("known", reading, name, inside, ~half, half & own, [name], rng))
    table = pd.DataFrame(rows)
    pooled = table.groupby(["encoder is", "reading"], as_index=False).mean(numeric_only=True)
    table = pd.concat([pooled.assign(encoder="all"), table], ignore_index=True)[table.columns]
    notes = (
        "Share of the five patterns whose 95% interval covers the labelled share; mean absolute "
        "error of shares as classified and corrected (for unknown encoders with the confusions of "
        "the others, which Figure 2 does not do), and mean length of the intervals, in points. "
        "*unknown*: the encoder was left out of the training and of the confusions. *known*: half "
        "of its examples are taken for a run, the other half gives the confusions."
    )
    title = "Coverage of the intervals of Figure 2"
    table = table.round(1)
    write_results("pattern_coverage", title, table, describe("numpy"), notes)


def _covered(
    kind: str,
    reading: str,
    name: str,
    known: shares.Labelled,
    labelled: npt.NDArray[np.bool_],
    run: npt.NDArray[np.bool_],
    own: Sequence[str],
    rng: np.random.Generator,
) -> dict[str, object]:
    """Compare the estimate for some maps with their labels."""
    part = shares.Labelled(
        known.table[labelled].reset_index(drop=True), known.predicted[:, labelled]
    )
    count = len(PATTERNS)
    classified = np.eye(count)[known.predicted[0, run]]
    truth = np.eye(count)[known.table["label"][run].map(list(PATTERNS).index)].mean(axis=0)
    state = known.table["state"][run].mode().iloc[0]
    counted = shares.Known.of(part, 1000, seed=0)
    found = shares.estimate(classified, counted, own, state, 1000, rng)
    rates = [one.rates(own, str(state)) for one in counted.once]
    shown = found["share"].to_numpy()
    corrected = np.mean([shares.correct(shown, one) for one in rates], axis=0)
    low, high = (found[f"corrected_{end}"].to_numpy() for end in ("low", "high"))
    return {
        "encoder is": kind,
        "reading": reading,
        "encoder": name,
        "maps": int(run.sum()),
        "covered, %": 100 * float(np.mean((low <= truth) & (truth <= high))),
        "as classified, error": 100 * float(np.abs(found["share"] - truth).mean()),
        "corrected, error": 100 * float(np.abs(corrected - truth).mean()),
        "interval": 100 * float((high - low).mean()),
    }


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["variants", "curve", "coverage"])
    parser.add_argument("--annotations", type=Path, default=annotations.SHIPPED)
    parser.add_argument("--predictions", type=Path, default=trained.PREDICTIONS)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    {"variants": variants, "curve": curve, "coverage": coverage}[options.what](options)


if __name__ == "__main__":
    main()
