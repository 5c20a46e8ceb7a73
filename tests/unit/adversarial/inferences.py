"""Trials of the inferences about single heads: links, pairs of words, disabling; and of labels."""

import dataclasses
from collections.abc import Iterator, Sequence
from pathlib import Path

import numpy as np
import pandas as pd
from glue import TASKS

from adversarial import frames, maps, pairs, sweeps
from adversarial.trials import (
    LEVEL,
    LIMIT,
    NULL,
    ONE_END,
    POWER,
    Size,
    Statements,
    Trial,
    by_kind,
    once,
)
from darksecrets.core.data.tasks import Task
from darksecrets.core.stats.corrections import benjamini_hochberg
from darksecrets.paper.ablation.best import best
from darksecrets.paper.ablation.statistics import Resampling, effects
from darksecrets.paper.patterns.classes import LENIENT, PATTERNS
from darksecrets.paper.patterns.maps.annotator_agreement import compare_passes
from darksecrets.paper.patterns.maps.mapset import MapSet, label_table


def links(size: Size, folder: Path) -> Iterator[Trial]:
    """FrameNet's links (section 4.2): tests of heads, and which of them stand out."""
    rng = np.random.default_rng(0)
    of, kinds = maps.registry(size.noises)
    heads = [*of.values()]
    strengths = [(1 / 3, 0.25), (2 / 3, 0.25), (2 / 3, 0.5)]
    followers = [
        f"{weight:.0%} of the weight follows links in {share:.0%} of the sentences"
        for share, weight in strengths
    ]
    p, family = [], []
    for corpus in range(size.corpora):
        found = frames.measured(frames.corpus(rng, heads, strengths), 999, corpus)
        shaped = found.sort_values(["head", "direction"])[["p_value", "p_family"]].to_numpy()
        p.append(shaped[:, 0].reshape(-1, 2) < LEVEL)
        family.append(shaped[:, 1].reshape(-1, 2) < LEVEL)
    n = len(heads)
    test, stands = "framenet_heads: p_value < 0.05", "framenet_heads: exceeds_controls"
    yield from by_kind(test, NULL, kinds, [one[:n] for one in p], LEVEL)
    yield from by_kind(stands, NULL, kinds, [one[:n] for one in family], LEVEL)
    yield once(f"{stands}, any head", "all of these heads", [one[:n] for one in family], LEVEL)
    yield from by_kind(stands, POWER, followers, [one[n:] for one in family], LEVEL)
    alike = [frames.measured(frames.alike(rng), 499, n) for n in range(size.corpora)]
    kind = "random weights, words treated alike in all sentences"
    yield from by_kind(
        test, NULL, [kind], [one["p_value"].to_numpy()[None] < LEVEL for one in alike], LEVEL
    )
    yield once(
        f"{stands}, any head", kind, [one["exceeds_controls"].to_numpy() for one in alike], LEVEL
    )


_ELSEWHERE = [name for name in maps.ADVERSARIES if name.startswith(("same", "the same"))]
_LIMITS = {"equal_words": [*maps.HASHES, *_ELSEWHERE], "token_pairs": []}
"""Heads that a test is known not to see through: other parts of a word's form; the same place in
the other sentence, which heads may round in other ways than the control does."""


def related(size: Size, folder: Path) -> Iterator[Trial]:
    """Related tokens and equal words (sections 4.5 and 5)."""
    rng = np.random.default_rng(1)
    of, kinds = maps.registry(size.noises)
    further = maps.COMPARISONS | maps.EVERY_PLACE | maps.LETTERS | maps.HASHES
    of, kinds = of | further, [*kinds, *further]
    of, kinds = of | maps.WORDS, [*kinds, *["random scores of words"] * len(maps.WORDS)]
    heads = [*of.values()]
    for table in ("token_pairs", "equal_words"):
        p, q, r = [], [], []
        limits = np.isin(kinds, _LIMITS[table])
        for corpus in range(size.corpora):
            found = pairs.measured(folder / f"{table}-{corpus}", table, rng, heads, [])
            p.append(found["p_value"].to_numpy() < LEVEL)
            q.append(benjamini_hochberg(found["p_value"][~limits]) < LEVEL)
            r.append(found)
        for truth, chosen in ((NULL, ~limits), (LIMIT, limits)):
            if chosen.any():
                of_truth = np.array(kinds)[chosen].tolist()
                own = [passed[chosen] for passed in p]
                yield from by_kind(f"{table}: p_value < 0.05", truth, of_truth, own, LEVEL)
        yield once(f"{table}: q_value < 0.05, any head", "all other heads", q, LEVEL)
        yield from _related_power(table, size, folder, rng)


def _related_power(
    table: str, size: Size, folder: Path, rng: np.random.Generator
) -> Iterator[Trial]:
    """Heads that follow the pairs, beside noise."""
    weights, q, every = [0.02, 0.05, 0.1], [], [maps.noise] * 20
    for corpus in range(size.corpora):
        found = pairs.measured(folder / f"{table}-power-{corpus}", table, rng, every, weights)
        q.append(found["q_value"].to_numpy()[len(every) :] < LEVEL)
    followers = [f"{weight:.0%} of the weight goes to the related token" for weight in weights]
    yield from by_kind(f"{table}: q_value < 0.05", POWER, followers, q, LEVEL)


_METRICS = {"accuracy": sweeps.CLASSES, "f1": sweeps.CLASSES, "pearson": sweeps.REGRESSION}
_SAMPLES = Resampling(bootstrap=200, permutations=999, splits=60, seed=3)


def _task(metric: str) -> Task:
    return dataclasses.replace(TASKS[_METRICS[metric]], metrics=(metric,))


def ablation(size: Size, folder: Path) -> Iterator[Trial]:
    """Effects of disabling (section 4.6): equal models, shuffled labels, and known effects."""
    shape = sweeps.Shape(size.examples, size.layers, size.layers, sets=6)
    alike = dataclasses.replace(shape, common=0.5)
    for metric, name in _METRICS.items():
        rng = np.random.default_rng(2)
        for kind, of, change in (
            ("equal models", shape, _unchanged),
            ("equal models, all sets change alike", alike, _unchanged),
            ("shuffled labels", shape, _shuffled),
            ("examples repeated one to four times", shape, sweeps.repeated),
        ):
            drawn = (change(sweeps.sweep(name, rng, of), rng) for _ in range(size.sweeps))
            tables = [_statements(known, metric) for known in drawn]
            yield from _ablation_nulls(metric, kind, tables)
        yield from _ablation_power(metric, shape, size.sweeps)


def outliers(size: Size, folder: Path) -> Iterator[Trial]:
    """Effects on Pearson's correlation (section 4.6), where some predictions are far off."""
    rng, said = np.random.default_rng(5), Statements()
    shape = sweeps.Shape(size.examples, size.layers, size.layers, tails=2)
    for _ in range(size.sweeps):
        table, *_ = _statements(sweeps.sweep(_METRICS["pearson"], rng, shape), "pearson")
        for part in ("head", "layer"):
            own = table[table["kind"] == part]
            said.any(f"{part}_ablation (pearson): q_value < 0.05", own["q_value"] < LEVEL)
    yield from said.trials("equal models, outliers of infinite variance", LIMIT)


def over_layers(size: Size, folder: Path) -> Iterator[Trial]:
    """What a head costs beyond the others of its layer (section 4.6): all of a layer cost alike."""
    rng, said = np.random.default_rng(6), Statements()
    shape = sweeps.Shape(size.examples, size.layers, size.layers)
    costly = dict.fromkeys(range(1, 1 + size.layers), -0.5)
    for _ in range(size.sweeps):
        table, *_ = _statements(sweeps.sweep(sweeps.CLASSES, rng, shape, costly), "accuracy")
        heads = table[(table["kind"] == "head") & (table["metric"] == "accuracy")]
        said.interval("head_ablation", "over_layer", heads)
    yield from said.trials("heads of a layer matter alike")


def _unchanged(known: sweeps.Known, rng: np.random.Generator) -> sweeps.Known:
    return known


def _shuffled(known: sweeps.Known, rng: np.random.Generator) -> sweeps.Known:
    result = known.result
    result = dataclasses.replace(result, labels=rng.permutation(result.labels))
    return dataclasses.replace(known, result=result)


def _statements(
    known: sweeps.Known, metric: str
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Tables of effects, of their means, and of the best ones' gains."""
    task = _task(metric)
    return (*effects(known.result, task, _SAMPLES), best(known.result, task, _SAMPLES))


def _ablation_nulls(
    metric: str, kind: str, tables: Sequence[tuple[pd.DataFrame, ...]]
) -> Iterator[Trial]:
    for part in ("head", "layer", "set"):
        rows = [effect[effect["kind"] == part] for effect, _, _ in tables]
        p = [of["p_value"].to_numpy()[None] < LEVEL for of in rows]
        q = [of["q_value"].to_numpy() < LEVEL for of in rows]
        name = f"{part}_ablation ({metric})"
        yield from by_kind(f"{name}: p_value < 0.05", NULL, [kind], p, LEVEL)
        yield once(f"{name}: q_value < 0.05, any", kind, q, LEVEL)
    for part in ("head", "layer"):
        means = [of[of["kind"] == part].iloc[0] for _, of, _ in tables]
        sure = [row["mean_low"] > 0 or row["mean_high"] < 0 for row in means]
        yield once(
            f"survival ({metric}): interval of mean_effect of a {part} leaves out 0",
            kind,
            sure,
            LEVEL,
        )
        gains = [of[of["kind"] == part].iloc[0] for _, _, of in tables]
        real = [row["ci_low"] > 0 for row in gains]
        yield once(f"survival ({metric}): unbiased_gain of a {part} above 0", kind, real, ONE_END)


def _ablation_power(metric: str, shape: sweeps.Shape, draws: int) -> Iterator[Trial]:
    """One head helps; its true gain is in the name."""
    rng = np.random.default_rng(4)
    for effect in (0.15, 0.35) if metric != "pearson" else (0.1, 0.2):
        found, gained = [], []
        for _ in range(draws):
            known = sweeps.sweep(_METRICS[metric], rng, shape, {7: effect})
            table, _, gains = _statements(known, metric)
            row = table.iloc[6]
            found.append(row["q_value"] < LEVEL and row["delta"] > 0)
            gained.append(gains.iloc[0]["ci_low"] > 0)
        kind = f"one head of {shape.layers**2} gains {100 * known.true[metric][7]:.1f} points"
        name = f"({metric})"
        yield once(f"head_ablation {name}: q_value < 0.05", kind, found, LEVEL, POWER)
        yield once(f"survival {name}: unbiased_gain above 0", kind, gained, ONE_END, POWER)


def annotators(size: Size, folder: Path) -> Iterator[Trial]:
    """Agreement of two who label maps (section 4.1)."""
    rng = np.random.default_rng(6)
    for truth, kind, agree in ((NULL, "labels at random", 0.0), (POWER, "a fifth alike", 0.2)):
        passed = []
        for _ in range(size.sweeps):
            one, other = rng.choice(list(PATTERNS), size=(2, 100), p=[0.3, 0.2, 0.2, 0.1, 0.2])
            other = np.where(rng.random(100) < agree, one, other)
            given = [("a", one), ("b", other)]
            labels = label_table(
                (f"m{place}", label, "", None, None, who, 1, "shown", "")
                for who, of_one in given
                for place, label in enumerate(of_one)
            )
            names = [f"m{place}" for place in range(100)]
            table = pd.DataFrame({"map": names, "model": "encoder", "state": "finetuned"})
            found = compare_passes(MapSet(table, [], labels))
            (low,) = found.loc[found["definition"] == LENIENT, "ci_low"]
            passed.append(low > 0)
        yield once("agreement: kappa's interval above 0", kind, passed, ONE_END, truth)
