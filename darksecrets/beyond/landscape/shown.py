"""Figures of layers reset, of the loss and its flatness, and numbers that claims need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.colors import BoundaryNorm
from matplotlib.patheffects import withStroke
from matplotlib.ticker import MaxNLocator

from darksecrets.beyond.landscape import declared
from darksecrets.beyond.landscape.declared import (
    FROM,
    LAYER,
    RESET_MEANS,
    STATES,
    THIRD,
    TRAIN,
    UP_TO,
    VALIDATION,
)
from darksecrets.beyond.landscape.measure.statistics import learned
from darksecrets.core.arrays import Floats
from darksecrets.core.data.metrics import accuracy_rows, titles
from darksecrets.core.plotting import kit
from darksecrets.core.run import states
from darksecrets.core.run.numbers import written
from darksecrets.core.run.states import STATE_NAMES
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.independent import ESTIMATE
from darksecrets.paper.ablation.panels import reach_of, rows_of

# The score of every task with layers reset: alone, from below, from above (Hao et al. 2019).

_RESET_LOOKS = {
    UP_TO: kit.dot(kit.BLUE, "^", 2.6, markeredgewidth=0.4),
    LAYER: kit.dot(kit.INK, "o", 2.6, markeredgewidth=0.4),
    FROM: kit.dot(kit.VERMILLION, "v", 2.6, markeredgewidth=0.4),
}
_RESET_WORDS = {
    UP_TO: "1…k: embeddings and layers up to this one",
    LAYER: "k: this layer alone",
    FROM: "k…: this layer and all above",
}


def draw_reset_layers(sources: kit.Sources) -> kit.Figure:
    """Draw three columns of layers per task, beside them the differences to the fine-tuned model.

    As in Figure 8: layer 1 at the top, one scale per task, white for the model with nothing reset.
    Differences have intervals, and are filled if significant.
    """
    metrics = sources.main_metrics
    table = kit.pick(sources.table(RESET_MEANS), kind=_RESET_LOOKS)
    last = table["kind"] == UP_TO
    table["layer"] = table["last_layer"].where(last, table["first_layer"]).astype(int)
    table["sure"] = table["q_value"] < LEVEL

    def layers(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        values = kit.cells(rows, "score", "layer", "kind")[list(_RESET_LOOKS)]
        baseline = float(rows["baseline"].mean())
        reach = reach_of(values, rows.drop(columns="q_value"))
        names = [_RESET_WORDS[kind].split(":")[0] for kind in _RESET_LOOKS]
        texts = np.vectorize("{:.0f}".format)(values)
        values = values.set_axis(names, axis=1)
        low, high = baseline - reach, baseline + reach
        kit.matrix(axes, values, kit.CHANGE, high, low, texts=texts, labels=12)

    def differences(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        axes.axvline(0, color=kit.BASELINE, linewidth=2, zorder=1)
        names = dict.fromkeys(sorted(rows["layer"].unique()), "")
        look: dict[str, Any] = {
            "at": "layer",
            "places": names,
            "ends": ("ci_low", "ci_high"),
            "sure": "sure",
        }
        kit.intervals(axes, rows, "delta", _RESET_LOOKS, by="kind", spread=["kind"], **look)
        axes.set_title(f"none: {written(rows['baseline'].mean(), '.1f')}")
        axes.locator_params(axis="x", nbins=3)

    height = 0.4 + 0.13 * max(int(table["layer"].max()), 4)
    panels = [
        kit.Panel(layers, "layers", x="Reset", y="Layer", height=height, width=1.1),
        kit.Panel(differences, "intervals", x="Difference"),
    ]
    legend = {_RESET_WORDS[kind]: look for kind, look in _RESET_LOOKS.items()}
    legend["nothing reset"] = kit.line(kit.BASELINE, width=2)
    headline = sources.headline(
        lambda tasks: _halves_reset(pd.concat([rows_of(table, t, metrics[t]) for t in tasks]))
    )
    return kit.page(
        sources, headline, [panels], most=4, title=titles(metrics, sources.marked), legend=legend
    )


def _halves_reset(rows: pd.DataFrame) -> str:
    """What resetting the lower and the upper half of the layers costs."""
    half = int(rows["layer"].max()) // 2
    lower = rows[(rows["kind"] == UP_TO) & (rows["layer"] == half)]["delta"].mean()
    upper = rows[(rows["kind"] == FROM) & (rows["layer"] == half + 1)]["delta"].mean()
    first, second = (written(delta, "+.1f") for delta in (lower, upper))
    return f"Resetting the lower half of layers changes the score by {first}, the upper by {second}"


# Losses around a fine-tuned model: a plane and a line (Hao et al. 2019).

_LEVELS = 10
_ROBUST = 90
"""Percentile of the losses of a plane above which all have one colour."""
_FLAT = 1e-3
"""Share of a loss, below which differences are not drawn."""
_SURFACE_LOOKS = {
    states.PRETRAINED: kit.dot(kit.BLUE, "s", 4.5, markeredgecolor="white", markeredgewidth=0.6),
    states.FINETUNED: kit.dot(kit.BASELINE, "o", 4.5, markeredgecolor="white", markeredgewidth=0.6),
    states.FROM_NORMAL: kit.dot(kit.PINK, "^", 4.5, markeredgecolor="white", markeredgewidth=0.6),
}
_PLANE_NAMES = {
    states.PRETRAINED: "pre-trained",
    states.FINETUNED: "fine-tuned",
    states.FROM_NORMAL: "randomly initialized,\nfine-tuned",
}
_IN_FULL = {**_PLANE_NAMES, states.FROM_NORMAL: STATE_NAMES[states.FROM_NORMAL]}
_LABELS: dict[str, dict[str, Any]] = {
    states.PRETRAINED: {"xytext": (3, 4), "ha": "right"},
    states.FINETUNED: {"xytext": (-3, -9), "ha": "left"},
    states.FROM_NORMAL: {"xytext": (5, -2), "ha": "left"},
}
"""Where names stand, so that they stay within a panel and apart from each other."""
_CORNERS = {
    states.PRETRAINED: (1.0, 0.0),
    states.FINETUNED: (0.0, 0.0),
    states.FROM_NORMAL: (0.0, 1.0),
}
"""Places of the three models on the axes of their plane."""
_LINES = {VALIDATION: {"color": kit.INK}, TRAIN: kit.line(kit.INK, dash=":")}


def draw_loss_surfaces(sources: kit.Sources) -> kit.Figure:
    """Draw, for the first seed of every task, the plane and the line."""
    surfaces = _first_seed_rows(sources.table(declared.LOSS_SURFACES))

    def plane(axes: kit.Axes, task: str, which: str) -> None:
        _contours(axes, kit.pick(surfaces, task=task, plane=which, split=TRAIN))
        for name, (x, y) in _CORNERS.items():
            _dot(axes, name, x, y)

    def line(axes: kit.Axes, task: str) -> None:
        for split, look in _LINES.items():
            own = kit.pick(surfaces, task=task, plane=declared.LINE, split=split).sort_values("x")
            x = 1 - own["x"]  # as in the plane above: the fine-tuned model is at 0
            axes.fill_between(x, own["ci_low"], own["ci_high"], color=kit.GREY, alpha=0.2, lw=0)
            axes.plot(x, own["loss"], **look)
        for place, name in ((1, states.PRETRAINED), (0, states.FINETUNED)):
            axes.axvline(place, color=_SURFACE_LOOKS[name]["color"], linewidth=0.8, zorder=0)
        axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 5, 10]))

    panels = [
        [
            kit.Panel(
                plane,
                of=(declared.MODELS,),
                x="To pre-trained",
                y="To randomly initialized",
                height=1.5,
            )
        ],
        [kit.Panel(line, declared.LINE, x="To pre-trained", y="Loss", height=1.1)],
    ]
    legend: dict[str, Any] = {_IN_FULL[name]: look for name, look in _SURFACE_LOOKS.items()}
    legend |= {"loss of training examples": _LINES[TRAIN]}
    legend |= {"of validation examples": _LINES[VALIDATION]}
    on_line = kit.pick(surfaces, plane=declared.LINE, split=TRAIN)
    headline = sources.headline(lambda tasks: _barriers(kit.pick(on_line, task=tasks)))
    return kit.page(sources, headline, panels, most=4, legend=legend, what="Darker: greater loss.")


def _barriers(line: pd.DataFrame) -> str:
    """On how many tasks the loss rises between the pre-trained and the fine-tuned model."""
    between = line[(line["x"] >= 0) & (line["x"] <= 1)].sort_values("x")
    rises = between.groupby("task")["loss"].agg(lambda losses: losses.max() > losses.iloc[0])
    count = int(rises.sum())
    return (
        f"From pre-trained to fine-tuned weights, training loss rises on {count} of "
        f"{len(rises)} tasks"
    )


def levels(losses: Floats) -> Floats:
    """Boundaries of colours, evenly spaced on a logarithmic scale, ascending.

    The highest is a percentile of the losses, because a few nodes far away are much higher than
    all others. Losses that hardly differ get boundaries around them, so that they have one colour.
    """
    lowest = max(float(losses.min()), 1e-6)
    highest = max(float(np.percentile(losses, _ROBUST)), lowest * (1 + _FLAT))
    return np.geomspace(lowest, highest, _LEVELS + 1)


def _first_seed_rows(table: pd.DataFrame) -> pd.DataFrame:
    return table[table["seed"] == table.groupby("task")["seed"].transform("min")]


def _contours(axes: kit.Axes, rows: pd.DataFrame) -> None:
    losses = rows.pivot(index="row", columns="column", values="loss").to_numpy(dtype=np.float64)
    x, y = (rows.groupby(place)[way].first() for place, way in (("column", "x"), ("row", "y")))
    found = levels(losses)
    losses = np.maximum(losses, found[0])
    norm = BoundaryNorm(found, 256, extend="max")
    mesh = axes.contourf(x, y, losses, cmap=kit.SCORE, norm=norm, levels=found, extend="max")
    if losses.max() > found[1]:
        axes.contour(x, y, losses, levels=found[1:], colors="white", linewidths=0.25)
    bar = kit.scale(axes.figure, mesh, ax=axes)
    bar.set_ticks(found[::2].tolist(), labels=[f"{level:.2g}" for level in found[::2]])
    bar.ax.minorticks_off()
    axes.xaxis.set_major_locator(MaxNLocator(3, steps=[1, 5, 10]))


def _dot(axes: kit.Axes, name: str, x: float, y: float) -> None:
    axes.plot([x], [y], zorder=3, **_SURFACE_LOOKS[name])
    halo = [withStroke(linewidth=1.4, foreground="white")]
    place: dict[str, Any] = {"textcoords": "offset points", **_LABELS[name]}
    axes.annotate(_PLANE_NAMES[name], (x, y), color=kit.INK, path_effects=halo, **place)


# How flat the loss is around fine-tuned models, by how they began (Hao et al. 2019).

_FLATNESS_LOOKS = {
    declared.STATES[0]: kit.dot(kit.BLUE),
    declared.STATES[1]: kit.dot(kit.VERMILLION, "s"),
}


def draw_flatness(sources: kit.Sources) -> kit.Figure:
    """Draw the mean rise of the loss around every model: both states side by side on every task.

    Dots are single seeds with their intervals over directions, hollow for models that have not
    learned. The scale is logarithmic where all is positive and numbers differ by more than a factor
    of ten.
    """
    table = sources.table(declared.FLATNESS)
    flags = learned(table).rename("learned").reset_index()
    table = table.merge(flags, on=["task", "state"], how="left")
    places = {task: task for task in sources.tasks}

    def states(axes: kit.Axes, _: str) -> None:
        look: dict[str, Any] = {"at": "task", "by": "state", "places": places, "sure": "learned"}
        look |= {"spread": ["state", "seed"], "apart": 0.12, "upright": True}
        kit.intervals(axes, table, "rise", _FLATNESS_LOOKS, ends=("rise_low", "rise_high"), **look)
        axes.tick_params(axis="x", rotation=90 if len(places) > 3 else 0)
        if table[["rise", "rise_low"]].min().min() > 0:
            if table["rise"].max() > 10 * table["rise"].min():
                axes.set_yscale("log")
        else:
            axes.axhline(0, color=kit.BAND, linewidth=0.6, zorder=0)

    legend = {STATE_NAMES[state]: look for state, look in _FLATNESS_LOOKS.items()}
    legend["hollow: not learned"] = kit.hollow(kit.dot(kit.GREY))
    panel = kit.Panel(states, x="Task", y="Mean rise of the loss", height=1.6)
    grid = kit.Grid([""], panel)
    what = "A dot is a seed. 95% intervals over directions."
    headline = _sharper_without_pretraining(table)
    return kit.page(sources, headline, grid, legend=legend, width=kit.COLUMN, what=what)


def _sharper_without_pretraining(rows: pd.DataFrame) -> str:
    """On how many tasks the loss rises more around models that began with random weights.

    Only tasks count that both models learned: around a model that did not, the loss may be flat.
    """
    learned_rows = rows[rows["learned"]]
    wide = learned_rows.pivot_table(index="task", columns="state", values="rise")
    wide = wide.reindex(columns=list(declared.STATES)).dropna()
    if wide.empty:
        return "No task was learned with and without pre-training, so flatness is not compared"
    pretrained, random = (wide[state] for state in declared.STATES)
    count = int((random > pretrained).sum())
    return f"The loss rises more around models without pre-training on {count} of {len(wide)} tasks"


_NAMES = ("lower", "middle", "upper")
_MODEL = ["on", "state", "seed"]


def thirds(reset: pd.DataFrame) -> pd.DataFrame:
    """Effects of resetting a third of the layers on accuracy, or on a task's first metric.

    Args:
        reset: The table ``reset_layers``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``third``; ``value``, with ``low`` and
        ``high``. Encoders with fewer than three layers have no rows.
    """
    chosen = reset[reset["kind"] == THIRD]
    ends = {"delta": "value", "ci_low": "low", "ci_high": "high"}
    rows = accuracy_rows(chosen).rename(columns=ends)
    place = rows.groupby(_MODEL)["first_layer"].rank().astype(int) - 1
    rows = rows.assign(third=[_NAMES[number] for number in place])
    return rows[[*_MODEL, "third", *ESTIMATE]].reset_index(drop=True)


def flatness_gained(flatness: pd.DataFrame) -> pd.DataFrame:
    """How much flatter the loss is after fine-tuning pre-trained weights than random ones.

    Of two models of one seed, it is the relative difference (r − p) / (|r| + |p|), between −1 and
    1, so that tasks have one unit. Both models must have learned their training examples: around
    one that has not, the loss may be flat, but it is no optimum.

    Args:
        flatness: The table ``flatness``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``; ``value``, above 0 if the loss is flatter
        around the model that began with pre-trained weights, with ``low`` and ``high``: both ends
        at the worst, which is valid for any dependence. Tasks on which a state has not learned, by
        the mean over seeds, have no rows.
    """
    flags = learned(flatness).groupby("task").all()
    chosen = flatness[flatness["task"].isin(flags.index[flags])]
    key = ["task", "seed"]
    ours, theirs = (chosen[chosen["state"] == state].set_index(key) for state in STATES)
    theirs = theirs.reindex(ours.index)
    found = ours.index.to_frame(index=False).rename(columns={"task": "on"})
    return found.assign(
        state=STATES[0],
        value=_relative(theirs["rise"], ours["rise"]),
        low=_relative(theirs["rise_low"], ours["rise_high"]),
        high=_relative(theirs["rise_high"], ours["rise_low"]),
    )[["on", "state", "seed", *ESTIMATE]]


def _relative(one: pd.Series[float], other: pd.Series[float]) -> Floats:
    """(one − other) / (|one| + |other|); 0 where both are 0."""
    total = (one.abs() + other.abs()).to_numpy(dtype=np.float64)
    difference = (one - other).to_numpy(dtype=np.float64)
    return np.divide(difference, total, out=np.zeros_like(difference), where=total != 0)
