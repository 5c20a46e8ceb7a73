"""What transfers to an encoder that was not labelled? Classifiers of patterns, compared.

    python benchmarks/pattern_transfer.py variants [--annotations FOLDER] [--epochs 12] [--seeds 1]
    python benchmarks/pattern_transfer.py curve [--draws 3]
    python benchmarks/pattern_transfer.py coverage

``variants``: every encoder of the labelled maps is left out in turn, in all its states that share
weights; each variant is trained on the others. The row *chosen* is the score of the choice itself:
for each encoder, the variant with the best mean over the *other* encoders. ``curve``: the same for
the shipped variant, with fewer encoders and fewer maps in the training. ``coverage``: how often the
intervals of Figure 2 cover the labelled shares of an encoder that was left out, and of half of a
labelled encoder's examples whose other half is labelled; this needs no training, only the shipped
cross-validation. Minutes each, on one core; ``curve`` about ten.
"""

from __future__ import annotations

import argparse
import itertools
import sys
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import numpy.typing as npt
import pandas as pd
import torch
from _machine import describe, write_results

sys.path.insert(0, str(Path(__file__).parents[1]))

from darksecrets.patterns import annotations, classifier, cnn, perceptrons, shares, trained
from darksecrets.patterns.classes import PATTERNS, READINGS
from darksecrets.patterns.crossvalidation import softmax
from darksecrets.patterns.readings import MAP_KINDS, members, possible
from darksecrets.patterns.tables import EXAMPLE, MODEL, PATTERN_PREDICTIONS

Floats = npt.NDArray[np.float64]
Rows = npt.NDArray[np.int64]


@dataclass(frozen=True)
class Labelled:
    """Labelled maps, prepared for all variants."""

    data: annotations.Annotations
    inputs: classifier.Inputs
    fitting: npt.NDArray[np.bool_]

    @classmethod
    def read(cls, folder: Path) -> Labelled:
        """Read and prepare a set."""
        data = annotations.load([folder])
        fitting = possible(data.labels, list(data.table["strict"]))
        return cls(data, classifier.Inputs.of_labelled(data), fitting)

    def weights(self, rows: Rows) -> torch.Tensor:
        """[rows] weights in the training."""
        return torch.from_numpy(classifier.weights_of([self.data.labels[row] for row in rows]))

    def splits(self) -> list[tuple[str, Rows, Rows]]:
        """For every encoder: its name, rows of the others without its sentences, its own rows."""
        names, groups = self.data.encoders, self.data.groups
        found = []
        for name in pd.unique(names):
            own = names == name
            others = ~own & ~np.isin(groups, groups[own])
            found.append((str(name), np.flatnonzero(others), np.flatnonzero(own)))
        return found

    def score(self, rows: Rows, chances: Floats, reading: str) -> float:
        """Weighted F1 × 100 of probabilities of kinds [maps, kinds]."""
        from sklearn.metrics import f1_score

        column = "label" if reading == "wide" else "strict"
        truth = self.data.table[column].to_numpy()[rows]
        guesses = np.array(list(PATTERNS))[(chances @ members(reading)).argmax(axis=1)]  # type: ignore[arg-type]
        known = truth != ""
        return 100 * float(f1_score(truth[known], guesses[known], average="weighted"))


Variant = Callable[[Labelled, Rows, Rows, cnn.Training], Floats]
"""Train on the first rows; return log probabilities of kinds for the second."""


def by_network(planes: Sequence[int], size: int = cnn.SIZE) -> Variant:
    """The convolutional network on some planes of the images."""

    def variant(known: Labelled, learned: Rows, tested: Rows, training: cnn.Training) -> Floats:
        images = known.inputs.images[:, list(planes)]
        if size != cnn.SIZE:
            images = torch.nn.functional.interpolate(
                images, size=(size, size), mode="bilinear", antialias=True
            )
        fitting = torch.from_numpy(known.fitting[learned])
        net = cnn.train(
            images[learned],
            fitting,
            known.weights(learned),
            training,
            lambda: cnn.PatternNet(len(planes)),  # type: ignore[arg-type]
        )
        with torch.inference_mode():
            found: Floats = torch.log_softmax(net(images[tested]), dim=1).double().numpy()
        return found

    return variant


def by_perceptrons(known: Labelled, learned: Rows, tested: Rows, training: cnn.Training) -> Floats:
    """Perceptrons on the hand-made features."""
    fitting = torch.from_numpy(known.fitting[learned])
    values = known.inputs.features
    net = perceptrons.train(values[learned], fitting, known.weights(learned), training.seed)
    with torch.inference_mode():
        found: Floats = net(values[tested]).double().numpy()
    return found


def by_scikit_learn(make: Callable[[int], object]) -> Variant:
    """A model of scikit-learn on the hand-made features."""

    def variant(known: Labelled, learned: Rows, tested: Rows, training: cnn.Training) -> Floats:
        values = known.inputs.features.numpy()
        kinds = known.fitting.argmax(axis=1)
        model = make(training.seed)
        model.fit(values[learned], kinds[learned])  # type: ignore[attr-defined]
        found = np.full((len(tested), len(MAP_KINDS)), -30.0)
        chances = model.predict_proba(values[tested])  # type: ignore[attr-defined]
        found[:, model.classes_] = np.log(chances.clip(1e-12))  # type: ignore[attr-defined]
        return found

    return variant


def logistic(_: int) -> object:
    """Logistic regression."""
    from sklearn.linear_model import LogisticRegression
    from sklearn.pipeline import make_pipeline
    from sklearn.preprocessing import StandardScaler

    return make_pipeline(StandardScaler(), LogisticRegression(C=0.1, max_iter=2000))


def boosted(seed: int) -> object:
    """Gradient-boosted trees."""
    from sklearn.ensemble import HistGradientBoostingClassifier

    return HistGradientBoostingClassifier(max_iter=60, random_state=seed)


def extra_trees(seed: int) -> object:
    """Extremely randomized trees."""
    from sklearn.ensemble import ExtraTreesClassifier

    return ExtraTreesClassifier(300, min_samples_leaf=2, random_state=seed)


ALL_PLANES = range(len(cnn.CHANNELS))
PARTS: dict[str, Variant] = {
    "network, darkness": by_network([0]),
    "network, darkness and weight × L": by_network([0, 1]),
    "network, all planes": by_network(ALL_PLANES),
    "features, perceptrons": by_perceptrons,
    "features, logistic regression": by_scikit_learn(logistic),
    "features, gradient boosting": by_scikit_learn(boosted),
    "features, extra trees": by_scikit_learn(extra_trees),
}
SHIPPED = "network, all planes + features, perceptrons"
MEANS = {
    SHIPPED: ("network, all planes", "features, perceptrons"),
    "all of these": tuple(PARTS),
}


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
            training = cnn.Training(options.epochs, seed)
            found = {part: fit(known, learned, tested, training) for part, fit in PARTS.items()}
            for mean, parts in MEANS.items():
                found[mean] = np.mean([found[part] for part in parts], axis=0)
            weights = known.weights(learned).double().numpy()[:, None]
            prior = (known.fitting[learned] * weights).sum(axis=0)
            found[f"{SHIPPED}, prior adapted"] = adapted(found[SHIPPED], prior / prior.sum())
            for variant, outputs in found.items():
                by_seed.setdefault(variant, []).append(outputs)
        for (variant, outputs), reading in itertools.product(by_seed.items(), READINGS):
            each = [known.score(tested, softmax(one), reading) for one in outputs]
            scores.setdefault((variant, reading), []).append(float(np.mean(each)))
        print(name, "done", flush=True)
    names = [name for name, *_ in splits]
    table = pd.DataFrame(scores, index=names).T
    table.index.names = ["variant", "reading"]
    chosen = pd.DataFrame({reading: choose(table.xs(reading, level=1)) for reading in READINGS}).T
    chosen.index = pd.MultiIndex.from_product([["chosen by the other encoders"], READINGS])
    table = pd.concat([table, chosen])
    table.insert(0, "mean", table.mean(axis=1))
    table.insert(1, "least", table[names].min(axis=1))
    table = table.round(1).rename_axis(["variant", "reading"]).reset_index()
    notes = (
        f"{len(known.data.table)} labelled maps. Weighted F1 × 100 on the maps of an encoder that "
        f"was left out of the training, mean of {options.seeds} seed(s), networks trained for "
        f"{options.epochs} epochs. *Chosen by the other encoders*: the variant with the best mean "
        "over the other encoders, so that no encoder's score had a part in its choice."
    )
    title = "Classifiers of patterns on encoders that they have not seen"
    write_results("pattern_transfer", title, table, describe("torch", "numpy"), notes)


def choose(table: pd.DataFrame) -> pd.Series:
    """For each encoder (column), the score of the variant that is best on the others."""
    best = {name: table.drop(columns=name).mean(axis=1).idxmax() for name in table.columns}
    return pd.Series({name: table.loc[variant, name] for name, variant in best.items()})


def fit_shipped(known: Labelled, learned: Rows, tested: Rows, training: cnn.Training) -> Floats:
    """The shipped variant."""
    return np.asarray(
        np.mean([PARTS[part](known, learned, tested, training) for part in MEANS[SHIPPED]], axis=0)
    )


def curve(options: argparse.Namespace) -> None:
    """Score the shipped variant with fewer encoders, and with fewer maps, in the training."""
    known = Labelled.read(options.annotations)
    splits = known.splits()
    names = known.data.encoders
    rng = np.random.default_rng(0)
    rows = []
    for others in range(1, len(splits)):
        for share in (1.0,) if others < len(splits) - 1 else (0.125, 0.25, 0.5, 1.0):
            draws = options.draws if (others, share) != (len(splits) - 1, 1.0) else 1
            found = {reading: [] for reading in READINGS}
            sizes = []
            for (name, learned, tested), draw in itertools.product(splits, range(draws)):
                rest = [one for one, *_ in splits if one != name]
                some = rng.choice(rest, others, replace=False)
                kept = learned[np.isin(names[learned].astype(str), some)]
                kept = rng.permutation(kept)[: max(20, round(share * len(kept)))]
                if len({known.data.labels[row] for row in kept}) < 2:
                    continue
                outputs = fit_shipped(known, kept, tested, cnn.Training(options.epochs, draw))
                sizes.append(len(kept))
                for reading in READINGS:
                    found[reading].append(known.score(tested, softmax(outputs), reading))
            rows.append(
                {"encoders": others, "maps": round(np.mean(sizes))}
                | {f"weighted F1, {name}": round(np.mean(found[name]), 1) for name in READINGS}
                | {f"least, {name}": round(np.min(found[name]), 1) for name in READINGS}
            )
            print(rows[-1], flush=True)
    notes = (
        f"Mean and least weighted F1 × 100 over all encoders left out, {options.draws} random "
        f"choices of the encoders and maps trained on, {options.epochs} epochs. *encoders* and "
        "*maps* (mean): in the training."
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
            rows.append(_covered("unknown", reading, name, outside, ~own, own, None, rng))
        for name in pd.unique(inside.table["encoder"]):
            own = (inside.table["encoder"] == name).to_numpy()
            examples = rng.permutation(pd.unique(inside.table["example"][own]))
            half = np.isin(inside.table["example"], examples[: len(examples) // 2])
            rows.append(_covered("known", reading, name, inside, ~half, half & own, name, rng))
    table = pd.DataFrame(rows)
    pooled = table.groupby(["encoder is", "reading"], as_index=False).mean(numeric_only=True)
    table = pd.concat([pooled.assign(encoder="all"), table], ignore_index=True)[table.columns]
    notes = (
        "Share of the five patterns whose 95% interval covers the labelled share; mean absolute "
        "error of shares as classified and corrected, and mean length of the intervals, in points. "
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
    own: str | None,
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
    found = shares.estimate(classified, part, own, state, 1000, rng)
    low, high = (found[f"corrected_{end}"].to_numpy() for end in ("low", "high"))
    return {
        "encoder is": kind,
        "reading": reading,
        "encoder": name,
        "maps": int(run.sum()),
        "covered, %": 100 * float(np.mean((low <= truth) & (truth <= high))),
        "as classified, error": 100 * float(np.abs(found["share"] - truth).mean()),
        "corrected, error": 100 * float(np.abs(found["corrected"] - truth).mean()),
        "interval": 100 * float((high - low).mean()),
    }


def main() -> None:
    """Read the command line."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("what", choices=["variants", "curve", "coverage"])
    parser.add_argument("--annotations", type=Path, default=annotations.SHIPPED)
    parser.add_argument("--predictions", type=Path, default=trained.PREDICTIONS)
    parser.add_argument("--epochs", type=int, default=12)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--draws", type=int, default=2)
    options = parser.parse_args()
    torch.set_num_threads(1)
    {"variants": variants, "curve": curve, "coverage": coverage}[options.what](options)


if __name__ == "__main__":
    main()
