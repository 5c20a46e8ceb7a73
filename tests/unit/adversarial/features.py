"""Trials of the inferences about attention to tokens with a feature (section 4.4)."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pandas as pd

from adversarial import encoders
from adversarial.encoders import LAYERS, Corpus, Encoder
from adversarial.trials import (
    LEVEL,
    LIMIT,
    NULL,
    ONE_END,
    POWER,
    Flags,
    Size,
    Statements,
    Trial,
    once,
)
from darksecrets.core.run.states import RANDOM
from darksecrets.core.stats.crossed import drawn_means, excess_over_rivals
from darksecrets.paper.features.changes import changes
from darksecrets.paper.features.levels import levels
from darksecrets.paper.features.profiles import Profiles
from darksecrets.paper.features.tables import ATTENTION_MEASURES
from darksecrets.paper.features.trends import origins, trends

_SURE = 0.975
"""A statement that is as probable as this is said to be true, as claims do."""
_SEEDS = 3
_FEATURES = 9
_SHAPE = 0.2
"""Of a gamma distribution: four in ten numbers are below 0.01, one in twenty is above 1."""
_MANY = 48
"""Examples that bootstrap intervals of rare features need."""
_ORIGINS = ("correlation", "random", "difference")

Profiled = Mapping[str, Sequence[Profiles]]


def attention(size: Size, folder: Path) -> Iterator[Trial]:
    """Levels, changes, trends and origins of encoders that are unrelated."""
    for number, (kind, draw) in enumerate(encoders.UNRELATED.items()):
        made = Statements()
        for n in range(size.texts):
            rng = np.random.default_rng([11, n])
            corpus, where = Corpus.draw(rng), folder / f"{number}-{n}"
            one, other = (
                {state: [draw(rng)] for state in ("pretrained", "finetuned", RANDOM)}
                for _ in range(2)
            )
            models = {
                "t": _measured(corpus, one, where / "t"),
                "u": _measured(corpus, other, where / "u"),
            }
            _of_levels(models, n, made)
            _of_changes(changes({"t": models["t"]}, 499, 50, n), made)
            _of_trends(trends({"t": models["t"]}, 499, 50, n), made)
            _of_origins(origins({"t": models["t"]}, 200, n), made)
        yield from made.trials(kind)


def attention_over_seeds(size: Size, folder: Path) -> Iterator[Trial]:
    """Intervals of changes and trends, over examples or seeds, where on average there are none."""
    for kind, before, after, seeds in (
        ("weights drawn anew in every example", encoders.anew, encoders.anew, 1),
        (f"random weights, {_SEEDS} seeds", encoders.uniform, encoders.random_weights, _SEEDS),
    ):
        made = Statements()
        for n in range(size.texts):
            rng = np.random.default_rng([12, n])
            states = {"pretrained": [before(rng)], "finetuned": [after(rng) for _ in range(seeds)]}
            states[RANDOM] = [before(rng)]
            corpus, where = Corpus.draw(rng, _MANY), folder / f"{seeds}-{n}"
            models = {"t": _measured(corpus, states, where)}
            of_layers = changes(models, 199, 200, n)
            names = ("over_control", "change") if seeds == 1 else ("over_control",)
            for name in names:
                made.interval("attention_changes", name, of_layers)
            found = trends(models, 199, 200, n).query("state == 'finetuned'")
            made.interval("attention_trends", "correlation", found)
        yield from made.trials(kind)


def attention_that_changes(size: Size, folder: Path) -> Iterator[Trial]:
    """Fine-tuning raises attention to nouns, more in every layer; on a task, it changes little."""
    kind = "fine-tuning raises attention to nouns, from layer to layer, on one of two tasks"
    made = Statements()
    for n in range(size.texts):
        rng = np.random.default_rng([13, n])
        corpus, where = Corpus.draw(rng), folder / str(n)
        scores = encoders.scores(rng)
        rise = np.linspace(1, 6, LAYERS)[:, None, None, None] * corpus.nouns
        states = {
            "pretrained": [encoders.softmax(scores)],
            "finetuned": [encoders.softmax(scores + rise)],
            RANDOM: [encoders.random_weights(rng)],
        }
        kept = scores + 0.5 * rng.standard_normal(scores.shape)
        others = {
            "pretrained": [encoders.softmax(scores)],
            "finetuned": [encoders.softmax(kept)],
            RANDOM: [encoders.random_weights(rng)],
        }
        models = {
            "t": _measured(corpus, states, where / "t"),
            "u": _measured(corpus, others, where / "u"),
        }
        nouns = "task == 't' and feature == 'noun' and state == 'finetuned'"
        level = levels(models, 200, n).query(f"{nouns} and measure == 'greatest' and layer.isna()")
        for column in ("greatest_of_features", "greatest_of_tasks"):
            made.any(f"attention_levels: {column} > 0.975", level[column] > _SURE)
        change = changes({"t": models["t"]}, 499, 50, n).query("feature == 'noun'")
        made.any("attention_changes: q_value < 0.05", change["q_value"] < LEVEL)
        trend = trends({"t": models["t"]}, 499, 50, n).query(nouns)
        made.any("attention_trends: p_value < 0.05", trend["p_value"] < LEVEL)
        origin = origins({"u": models["u"]}, 200, n)
        for name in ("correlation", "difference"):
            made.interval("attention_origins", name, origin)
    yield from made.trials(kind, POWER)


def rivals(size: Size, folder: Path) -> Iterator[Trial]:
    """Whether a feature is said to get less than others that get as much as it does.

    All share the greatest weight. One may get much in few examples and little in most: its mean is
    then often far below the truth, and what varies about it, too.
    """
    for skewed, truth in ((False, NULL), (True, LIMIT)):
        for seeds in (1, _SEEDS):
            rng, refuted = np.random.default_rng([16, seeds]), []
            for _ in range(5 * size.sweeps):
                weights = rng.normal(0, 0.1, (1, size.examples, _FEATURES))
                if skewed:
                    weights[0, :, 0] = 0.1 * (rng.gamma(_SHAPE, size=size.examples) - _SHAPE)
                    weights[0, :, 0] /= np.sqrt(_SHAPE)
                moved = rng.normal(0, 0.005 * (seeds > 1), (seeds, 1, _FEATURES))
                drawn = drawn_means(weights + moved, 500, rng)[None]
                means = (weights + moved).mean(axis=(0, 1))[None]
                refuted.append(excess_over_rivals(means, drawn, 0.0)[2, 0] < 0)
            kind = "one gets much in few examples" if skewed else "all are as even"
            kind = f"nine features share the greatest weight, {kind}, {seeds} seeds"
            name = "attention_levels: interval of over_rivals below 0"
            yield once(name, kind, refuted, ONE_END, truth)


def _measured(
    corpus: Corpus, states: Mapping[str, Sequence[Encoder]], folder: Path
) -> dict[str, list[Profiles]]:
    return {
        state: [corpus.profiles(one, folder / f"{state}-{n}") for n, one in enumerate(drawn)]
        for state, drawn in states.items()
    }


def _of_levels(models: Mapping[str, Profiled], seed: int, made: Statements) -> None:
    """Is any feature, or task, said to get most? Once for each encoder or feature and place."""
    table = levels(models, 200, seed)
    places = ["state", "measure", "layer"]
    for measure, rows in table.groupby("measure", sort=False):
        most = rows.groupby(["state", "layer", "task"], dropna=False)["over_rivals_low"].max() > 0
        made.each(f"attention_levels ({measure}): interval of over_rivals above 0", most)
    for column, rest in (("greatest_of_features", "task"), ("greatest_of_tasks", "feature")):
        most = table.groupby([*places, rest], dropna=False, sort=False)[column].max() > _SURE
        for measure in ATTENTION_MEASURES:
            made.each(
                f"attention_levels ({measure}): {column} > 0.975", most.xs(measure, level="measure")
            )


def _of_changes(table: pd.DataFrame, made: Statements) -> None:
    made.each("attention_changes: p_value < 0.05", table["p_value"] < LEVEL)
    for name, family in (("encoder", table["layer"].isna()), ("layers", table["layer"].notna())):
        passed = table.loc[family, "q_value"] < LEVEL
        made.any(f"attention_changes: q_value < 0.05 ({name})", passed)


def _of_trends(table: pd.DataFrame, made: Statements) -> None:
    made.each("attention_trends: p_value < 0.05", table["p_value"] < LEVEL)
    passed: Flags = (table.groupby("state")["q_value"].min() < LEVEL).to_numpy()
    made.each("attention_trends: q_value < 0.05", passed)


def _of_origins(table: pd.DataFrame, made: Statements, names: Sequence[str] = _ORIGINS) -> None:
    for name in names:
        made.interval("attention_origins", name, table)
