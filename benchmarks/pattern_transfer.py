"""What transfers to an encoder that was not labelled? Classifiers of patterns, compared.

    python benchmarks/pattern_transfer.py variants [--annotations FOLDER] [--seeds 1]
    python benchmarks/pattern_transfer.py noise [--seeds 5]
    python benchmarks/pattern_transfer.py curve [--draws 5]
    python benchmarks/pattern_transfer.py coverage

``variants``: every encoder of the labelled maps is left out in turn, in all its states that share
weights; each variant is trained on the others. The row *chosen* is the score of the choice itself:
for each encoder, the variant with the best mean over the *other* encoders. ``noise``: how far the
scores of the classifier and of the network move when they are trained again: with other composed
maps, and with other weights and another order of the maps. ``curve``: the same scores of
the regression with fewer encoders and fewer maps in the training. ``coverage``: whether
the intervals of Figure 2 cover the labelled shares of each encoder that was left out; this needs no
training, only the shipped cross-validation. Each takes a minute or two on one core; ``noise``,
which trains networks, ten minutes for every seed.
"""

from __future__ import annotations

import argparse
import itertools
import os
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Protocol

os.environ.setdefault("OMP_NUM_THREADS", "1")  # threads would wait for each other most of the time

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.core.run.states import FROM_NORMAL, RANDOM
from darksecrets.paper.patterns.classes import (
    DEFINITIONS,
    LENIENT,
    PATTERNS,
    Definition,
)
from darksecrets.paper.patterns.maps import labelled_maps
from darksecrets.paper.patterns.network import cnn, logistic, quality, teaching, trained
from darksecrets.paper.patterns.network.crossvalidation import softmax
from darksecrets.paper.patterns.network.kinds import MAP_KINDS, members
from darksecrets.paper.patterns.shares import estimates
from darksecrets.paper.patterns.tables import (
    AGAIN,
    CNN,
    MODEL,
    PATTERN_PREDICTIONS,
)

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]

FIRST_SEED, EPOCHS, DRAWN = 2019, 4, 60_000
"""Those of the classifier that ships; seeds count up from the first."""
PENALTIES = (0.03, 0.1, 0.3, 1.0, 3.0)
"""Inverse penalties of the regression, to choose from."""
SHARES = (0.1, 0.2, 0.4, 0.7)
"""Of the maps trained on, in the learning curve."""
GOAL = 80.0
"""F1 that every encoder should reach."""
SPREAD = {"mean": "mean", "std": "sd", "min": "least", "max": "greatest"}
"""Names of aggregates over trainings."""
TOGETHER = "networks together"
"""Several networks, whose probabilities are averaged."""


@dataclass(frozen=True)
class Labelled:
    """Labelled maps, prepared for all variants.

    Attributes:
        data: The maps.
        prepared: The same with the maps composed of them.
        composed: Whether composed maps are trained on.
    """

    data: labelled_maps.Annotations
    prepared: teaching.Prepared
    composed: bool = True

    @classmethod
    def read(cls, folder: Path) -> Labelled:
        """Read and prepare a set."""
        data = labelled_maps.load([folder])
        return cls(data, teaching.Prepared.of(data, FIRST_SEED))

    def examples(self, rows: Rows) -> tuple[teaching.Inputs, torch.Tensor, torch.Tensor]:
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
        every = np.arange(len(self.data.table))
        names = map(str, pd.unique(self.data.encoders))
        return [(name, *rows) for name, rows in zip(names, self.splits_of(every), strict=True)]

    @property
    def pretrained(self) -> list[str]:
        """Encoders whose weights were not drawn from a normal distribution."""
        trained_on_text = self.data.table["state"].isin(["pretrained", "finetuned"])
        return [str(one) for one in pd.unique(self.data.encoders[trained_on_text])]

    def splits_of(self, rows: Rows) -> list[tuple[Rows, Rows]]:
        """The same for some rows, without names."""
        names, groups = self.data.encoders[rows], self.data.groups[rows]
        own = [names == name for name in pd.unique(names)]
        return [(rows[~one & ~np.isin(groups, groups[one])], rows[one]) for one in own]

    def score(self, rows: Rows, chances: Floats, definition: Definition) -> float:
        """Weighted F1 × 100 of probabilities of kinds [maps, kinds]."""
        from sklearn.metrics import f1_score

        truth = self.data.table["label" if definition == LENIENT else "strict"].to_numpy()[rows]
        guesses = np.array(list(PATTERNS))[(chances @ members(definition)).argmax(axis=1)]
        known = truth != ""
        return 100 * float(f1_score(truth[known], guesses[known], average="weighted"))


Variant = Callable[[Labelled, Rows, Rows, int], Floats]
"""Train on the first rows, with a seed; return log probabilities of kinds for the second."""


def by_regression(known: Labelled, learned: Rows, tested: Rows, _: int) -> Floats:
    """Logistic regression on the hand-made features, as in the shipped classifier."""
    return by_penalty(known, learned, tested, logistic.INVERSE_PENALTY)


def by_penalty(known: Labelled, learned: Rows, tested: Rows, inverse_penalty: float) -> Floats:
    """The same with another penalty."""
    inputs, kinds, weights = known.examples(learned)
    net = logistic.train(inputs.features, kinds, weights, inverse_penalty)
    found: Floats = net(known.prepared.inputs[tested].features).double().numpy()
    return found


def by_nested_choice(known: Labelled, learned: Rows, tested: Rows, _: int) -> Floats:
    """The penalty that is best on encoders left out of the training maps, one after the other."""
    total = dict.fromkeys(PENALTIES, 0.0)
    for rows, own in known.splits_of(learned):
        for penalty, definition in itertools.product(PENALTIES, DEFINITIONS):
            chances = softmax(by_penalty(known, rows, own, penalty))
            total[penalty] += known.score(own, chances, definition)
    return by_penalty(known, learned, tested, max(PENALTIES, key=total.__getitem__))


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
    "features, regression, penalty chosen by leaving out encoders": by_nested_choice,
    "features, extra trees": by_scikit_learn(extra_trees),
}
MEANS = {"features, regression and trees": (SHIPPED, "features, extra trees")}


def adapted(outputs: Floats, prior: Floats, trust: float = 1.0) -> Floats:
    """Log probabilities for the shares of kinds that make a set of maps likeliest (label shift).

    Expectation and maximization of Saerens, Latinne and Decaestecker (2002).

    Args:
        outputs: [maps, kinds] log probabilities.
        prior: [kinds] shares in the training.
        trust: How far the shares are drawn from the prior to what was found: 1 is all the way.
    """
    share = prior.copy()
    for _ in range(50):
        chances = softmax(outputs + np.log(share.clip(1e-6)) - np.log(prior.clip(1e-6)))
        share = (1 - trust) * prior + trust * chances.mean(axis=0)
    return np.asarray(np.log(chances.clip(1e-12)), dtype=np.float64)


def variants(options: argparse.Namespace) -> None:
    """Score every variant on every encoder that was left out."""
    known = Labelled.read(options.annotations)
    splits = known.splits()
    scores: dict[tuple[str, str], list[float]] = {}
    for name, learned, tested in splits:
        by_seed: dict[str, list[Floats]] = {}
        for seed in range(options.seeds or 1):
            found = {part: fit(known, learned, tested, seed) for part, fit in PARTS.items()}
            for mean, parts in MEANS.items():
                found[mean] = np.mean([found[part] for part in parts], axis=0)
            _, kinds, weights = known.examples(learned)
            prior = (kinds * weights[:, None]).sum(dim=0).double().numpy()
            prior /= prior.sum()
            found[f"{SHIPPED}, prior adapted"] = adapted(found[SHIPPED], prior)
            found[f"{SHIPPED}, prior half adapted"] = adapted(found[SHIPPED], prior, trust=0.5)
            for variant, outputs in found.items():
                by_seed.setdefault(variant, []).append(outputs)
        for (variant, outputs), definition in itertools.product(by_seed.items(), DEFINITIONS):
            each = [known.score(tested, softmax(one), definition) for one in outputs]
            scores.setdefault((variant, definition), []).append(float(np.mean(each)))
        print(name, "done", flush=True)
    names = [name for name, *_ in splits]
    table = pd.concat([from_predictions(options.predictions, names), pd.DataFrame(scores, names).T])
    table.index.names = ["variant", "definition"]
    chosen = pd.DataFrame(
        {definition: choose(table.xs(definition, level=1)) for definition in DEFINITIONS}
    ).T
    chosen.index = pd.MultiIndex.from_product([["chosen by the other encoders"], DEFINITIONS])
    table = pd.concat([table, chosen])
    pretrained = [name for name in names if not without_pretraining(name)]
    table.insert(0, "mean", table[pretrained].mean(axis=1))
    table.insert(1, "least", table[pretrained].min(axis=1))
    table = table.round(1).rename_axis(["variant", "definition"]).reset_index()
    notes = (
        f"{len(known.data.table)} labelled maps. Weighted F1 × 100 on the maps of an encoder that "
        f"was left out of the training, mean of {options.seeds or 1} seed(s); networks from the "
        "shipped cross-validation. *mean*, *least*: of the pre-trained encoders. *Chosen by the "
        "other encoders*: the variant with the best mean "
        "over the other encoders, so that no encoder's score had a part in its choice."
    )
    title = "Classifiers of patterns on encoders that they have not seen"
    write_results("pattern_transfer", title, table, describe("torch", "numpy"), notes)


def from_predictions(path: Path, names: Sequence[str]) -> pd.DataFrame:
    """Scores of the shipped cross-validation for what includes a network, which trains slowly."""
    scores = quality.scores(PATTERN_PREDICTIONS.read(path), 100, seed=0)
    rows = scores[(scores["metric"] == "weighted_f1") & (scores["classifier"] == CNN)]
    table = rows.pivot_table(index=["classifier", "definition"], columns="maps_of", values="score")
    return table[[quality.unseen(name) for name in names]].set_axis(list(names), axis=1)


def without_pretraining(encoder: str) -> bool:
    """Whether an encoder's weights were drawn at random: nearly all of its maps are alike."""
    return encoder.endswith((f", {RANDOM}", f", {FROM_NORMAL}"))


def choose(table: pd.DataFrame) -> pd.Series:
    """For each encoder (column), the score of the variant that is best on the others."""
    best = {name: table.drop(columns=name).mean(axis=1).idxmax() for name in table.columns}
    return pd.Series({name: table.loc[variant, name] for name, variant in best.items()})


def noise(options: argparse.Namespace) -> None:
    """Train the classifier and the network several times, and write the scores after each.

    After each training, the networks so far are also read together: their probabilities' mean.
    """
    known = Labelled.read(options.annotations)
    rows = []
    networks: dict[str, list[Floats]] = {}
    for seed in range(options.seeds or 5):
        training = cnn.Training(EPOCHS, FIRST_SEED + seed, DRAWN)
        drawn = teaching.prepare_drawn(training)
        prepared = known.prepared.composed_again(known.data, FIRST_SEED + seed)
        for name, learned, tested in known.splits():
            if name not in known.pretrained:
                continue  # nearly all of their maps are heterogeneous
            regression = teaching.train_regression(prepared, learned)
            net = teaching.train_network(prepared, learned, drawn, training)
            with torch.inference_mode():
                by_regression = softmax(regression(prepared.inputs.features[tested]).numpy())
                by_network = softmax(net(prepared.inputs.images[tested]).numpy())
            trained_so_far = networks.setdefault(name, [])
            trained_so_far.append(by_network)
            found = {
                "classifier": by_regression,
                "network": by_network,
                TOGETHER: np.mean(trained_so_far, axis=0),
            }
            for (which, chances), definition in itertools.product(found.items(), DEFINITIONS):
                score = known.score(tested, chances, definition)
                rows.append((definition, seed, name, which, score))
        write_noise(pd.DataFrame(rows, columns=["definition", "seed", "encoder", "of", "F1"]))
        print("seed", seed, "done", flush=True)


def write_noise(scores: pd.DataFrame) -> None:
    """Mean, standard deviation and range over the seeds, by encoder and on average.

    Of the networks read together, only the last score counts, that of all of them.
    """
    average = scores.groupby(["definition", "seed", "of"], as_index=False)["F1"].mean()
    scores = pd.concat([scores, average.assign(encoder="mean of all")])
    together = scores["of"] == TOGETHER
    keys = ["definition", "encoder"]
    grouped = scores[~together].groupby([*keys, "of"], sort=False)["F1"]
    spread = grouped.agg(["mean", "std", "min", "max"]).unstack().swaplevel(axis=1)
    spread = spread.sort_index(axis=1, level=0, sort_remaining=False)
    spread.columns = [f"{which}, {SPREAD[number]}" for which, number in spread.columns]
    last = scores[together & (scores["seed"] == scores["seed"].max())]
    spread[TOGETHER] = last.set_index(keys)["F1"]
    notes = (
        "Weighted F1 × 100 on the maps of a pre-trained encoder that was left out of the training, "
        f"over {scores['seed'].nunique()} trainings. The classifier's regression has no random "
        "numbers; each training has other composed maps. The network starts from other weights "
        f"and sees other drawn maps in another order, {EPOCHS} epochs each. *sd*: standard "
        f"deviation over trainings. *{TOGETHER}*: the mean of the probabilities of all."
    )
    title = "How far training noise moves the scores of classifiers of patterns"
    table = spread.round(1).reset_index()
    write_results("pattern_noise", title, table, describe("torch", "numpy"), notes)


def curve(options: argparse.Namespace) -> None:
    """Score the regression with fewer pre-trained encoders, and with fewer maps, in the training.

    Encoders that were drawn from a normal distribution, whose maps are nearly all heterogeneous,
    are always trained on and never tested.
    """
    known = Labelled.read(options.annotations)
    names, pretrained = known.data.encoders.astype(str), known.pretrained
    every = len(pretrained) - 1
    rng = np.random.default_rng(0)
    rows = []
    for name, learned, tested in known.splits():
        others = [one for one in pretrained if one != name]
        if name not in pretrained:
            continue
        steps = [
            (some, 1.0) for n in range(1, every + 1) for some in itertools.combinations(others, n)
        ]
        steps += [(tuple(others), share) for share in SHARES for _ in range(options.draws)]
        for some, share in steps:
            kept = learned[~np.isin(names[learned], sorted(set(others) - set(some)))]
            kept = np.sort(rng.permutation(kept)[: round(share * len(kept))])
            outputs = softmax(by_regression(known, kept, tested, 0))
            scores = {
                definition: known.score(tested, outputs, definition) for definition in DEFINITIONS
            }
            rows.append({"tested": name, "encoders": len(some), "share": share} | scores)
    scores = pd.DataFrame(rows).melt(
        ["tested", "encoders", "share"], DEFINITIONS, "definition", "F1"
    )
    keys = ["definition", "encoders", "share"]
    means = scores.groupby([*keys, "tested"])["F1"].mean().unstack()[pretrained]
    needed = _needed(means.xs(1.0, level="share"), second_labelling(options.predictions))
    means.insert(0, "mean", means.mean(axis=1))
    table = means.round(1).reset_index().sort_values(keys, ascending=[False, True, True])
    table["share"] = [f"{share:.0%}" for share in table["share"]]
    table = table.rename(columns={"encoders": "pre-trained encoders", "share": "maps of them"})
    notes = (
        "Weighted F1 × 100 on the maps of a pre-trained encoder that was left out, by how many "
        "others were trained on (mean over all choices of them) and how many of their maps (mean "
        f"of {options.draws} draws). Encoders drawn from a normal distribution are always trained "
        f"on and not shown.\n\n{needed}"
    )
    title = "Learning curve of the classifier of patterns on encoders that it has not seen"
    write_results("pattern_learning_curve", title, table, describe("torch", "numpy"), notes)


def _needed(means: pd.DataFrame, ceilings: pd.Series) -> str:
    """How many pre-trained encoders a power law would need for F1 = `GOAL`.

    What is missing to a ceiling, 100 or what a second labelling reaches, falls as a power of the
    number of encoders: a line in logarithms, fitted to each tested encoder.

    Args:
        means: F1 by definition and number of encoders (rows) and tested encoder (columns).
        ceilings: F1 of a second labelling, by definition and encoder.
    """
    found = []
    for (definition, rows), name in itertools.product(
        means.groupby(level="definition"), means.columns
    ):
        scores = rows[name].to_numpy()
        if scores[-1] >= GOAL:
            continue
        several = np.log(rows.index.get_level_values("encoders").to_numpy())
        counts = []
        for ceiling in (100.0, ceilings[definition, name]):
            slope, start = np.polyfit(several, np.log(ceiling - scores), 1)
            counts.append(float(np.exp((np.log(ceiling - GOAL) - start) / slope)))
        found.append(f"{min(counts):.1f} to {max(counts):.1f} for {name} ({definition})")
    return (
        f"**What F1 = {GOAL:.0f} on every encoder would take.** If what is missing to 100, or to "
        "the F1 of a second labelling, falls as a power of the number of pre-trained encoders, "
        f"these are needed in the training (now {len(means.columns) - 1}; fits of "
        f"{len(means.columns) - 1} points): {'; '.join(found) or 'no more'}. All others have it. "
        "The number of maps is no substitute: the lower half of the table hardly rises beyond "
        "40%. Three of these encoders are relatives, so one of another kind may teach, and need, "
        "more than the fits say."
    )


def second_labelling(path: Path) -> pd.Series:
    """Weighted F1 × 100 of the second labelling against the first, by definition and encoder."""
    from sklearn.metrics import f1_score

    table = PATTERN_PREDICTIONS.read(path)
    again = table[(table["classifier"] == AGAIN) & (table["left_out"] == MODEL)]
    found = {
        keys: 100 * float(f1_score(rows["label"], rows["predicted"], average="weighted"))
        for keys, rows in again.groupby(["definition", "encoder"])
    }
    return pd.Series(found)


def coverage(options: argparse.Namespace) -> None:
    """Whether intervals of shares cover the labelled shares of each encoder left out."""
    predictions = PATTERN_PREDICTIONS.read(options.predictions)
    rows = []
    for definition in DEFINITIONS:
        known = quality.predictions_of(CNN, predictions, MODEL, definition)
        for name, own in known.groupby("encoder", sort=False):
            if without_pretraining(str(name)):
                continue
            others = predictions[predictions["encoder"] != name]
            confusions = estimates.count_confusions(others, definition, pretrained=True)
            seen = np.eye(len(PATTERNS))[own["predicted"].map(list(PATTERNS).index)]
            found = estimates.estimate(seen, confusions, 1000, np.random.default_rng(0))
            truth = [own["label"].isin(classes).mean() for classes in estimates.GROUPS.values()]
            low, high = found["ci_low"].to_numpy(), found["ci_high"].to_numpy()
            rows.append(
                {
                    "definition": definition,
                    "encoder": name,
                    "maps": len(own),
                    "covered": int(((low <= truth) & (truth <= high)).sum()),
                    "of": len(truth),
                    "error": 100 * float(np.abs(found["share"] - truth).mean()),
                    "interval": 100 * float((high - low).mean()),
                }
            )
    notes = (
        "Each pre-trained encoder is taken for a run's: it was left out of the training, and only "
        "the errors on the others count. How many of the labelled shares (of the five patterns, "
        "and of the first three together) its 95% intervals cover; mean absolute error of shares "
        "as classified and mean length of the intervals, in points. A run has the errors on one "
        "more encoder, and shorter intervals."
    )
    title = "Coverage of the intervals of Figure 2"
    table = pd.DataFrame(rows).round(1)
    write_results("pattern_coverage", title, table, describe("numpy"), notes)


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["variants", "noise", "curve", "coverage"])
    parser.add_argument("--annotations", type=Path, default=labelled_maps.SHIPPED)
    parser.add_argument("--predictions", type=Path, default=trained.PREDICTIONS)
    parser.add_argument("--seeds", type=int, help="of variants (default: 1), and of noise (5)")
    parser.add_argument("--draws", type=int, default=5)
    options = parser.parse_args()
    torch.set_num_threads(1)
    programs = {"variants": variants, "noise": noise, "curve": curve, "coverage": coverage}
    programs[options.what](options)


if __name__ == "__main__":
    main()
