"""Figures of important heads, and numbers that claims need."""

from __future__ import annotations

from typing import Any

import pandas as pd

from darksecrets.beyond.importance import declared
from darksecrets.beyond.importance.declared import (
    EXAMPLES,
    IMPORTANCE_AGREEMENT,
    LEARNED,
    LOSS,
    MLPS,
    SCORE,
    TRAINED_ON,
)
from darksecrets.core.data.metrics import accuracy_rows, titles
from darksecrets.core.plotting import kit
from darksecrets.core.run.numbers import written
from darksecrets.core.stats.independent import ESTIMATE, blanked
from darksecrets.paper.ablation.panels import REFERENCES, compare, rows_of

# Which importance can be trusted: agreement with disabling heads and MLPs (section 4.6).

_AGREEMENT_LOOKS = {
    LOSS: kit.dot(kit.MARK, size=2.5),
    SCORE: kit.dot(kit.VERMILLION, "^", size=2.5, markerfacecolor="white"),
    EXAMPLES: kit.dot(kit.GREEN, "D", size=2),
}
_NAMES = {
    LOSS: "loss of the same examples",
    SCORE: "score on the validation set",
    EXAMPLES: "itself, on other examples",
}


def draw_importance_agreement(sources: kit.Sources) -> kit.Figure:
    """Draw, per task, the rank correlation of each definition with each reference.

    Dots and intervals are averaged over seeds.
    """
    table = sources.table(IMPORTANCE_AGREEMENT)
    of = table["mode"].where(table["part"] != MLPS, "MLPs")
    table["name"] = table["definition"] + " (" + of + ")"
    places = {name: name for name in table["name"]}

    def agreement(axes: kit.Axes, task: str) -> None:
        rows = kit.pick(table, task=task).groupby(["name", "reference"], sort=False)
        means = rows[["spearman", "ci_low", "ci_high"]].mean().reset_index()
        axes.axvline(0, color=kit.INK, linewidth=0.5)
        look: dict[str, Any] = {
            "at": "name",
            "places": places,
            "by": "reference",
            "spread": ["reference"],
        }
        kit.intervals(axes, means, "spearman", _AGREEMENT_LOOKS, ends=("ci_low", "ci_high"), **look)
        axes.set_xlim(-1, 1)

    look: dict[str, Any] = {"height": 0.15 + 0.16 * len(places), "fixed": True, "share": "columns"}
    panels = kit.Panel(agreement, x="Rank correlation", **look)
    headline = sources.headline(lambda tasks: _best_definition(kit.pick(table, task=tasks)))
    legend = {_NAMES[name]: look for name, look in _AGREEMENT_LOOKS.items()}
    return kit.page(sources, headline, panels, most=4, legend=legend)


def _best_definition(table: pd.DataFrame) -> str:
    """The definition of heads' importance that follows the validation score best, if one does."""
    rows = table[(table["part"] != MLPS) & (table["reference"] == SCORE)]
    rows = rows[rows["spearman"].notna()]
    if rows.empty:
        return "No definition of importance can be compared with the validation score"
    by_definition = rows.groupby("definition")
    significant = by_definition["ci_low"].min() > 0
    means = by_definition["spearman"].mean()[significant]
    if means.empty:
        return "No definition of heads' importance follows the validation score significantly"
    return (
        f"Of heads' importance, {means.idxmax()} follows the validation score best: rank "
        f"correlation {written(means.max(), '.2f')}"
    )


# Score against the share of heads removed, in several orders (Michel et al. 2019, figure 3).

_BANDS = {
    declared.RANDOM: kit.line(kit.GREY, "s", width=0.8),
    declared.GREEDY: kit.line(kit.VERMILLION, "^", width=0.8),
}
_CURVE_LOOKS = {
    declared.ABSOLUTE: kit.line(kit.BLUE, "o", width=0.8),
    declared.SIGNED: kit.line(kit.SKY, "v", width=0.8),
    declared.EXACT: kit.line(kit.GREEN, "P", width=0.8),
    declared.REVERSED: kit.line(kit.INK, "x", "-.", width=0.8),
}
"""Orders that are drawn without bands, which would hide each other."""


def draw_pruning_curves(sources: kit.Sources) -> kit.Figure:
    """Draw the score of every task against the share of removed heads, for each order.

    Bands, of random orders and the greedy one, are 95 % intervals of the difference to the intact
    model, drawn around its score. Scores and ends of intervals are averaged over seeds.
    """
    table, metrics = sources.table(declared.PRUNING_CURVES), sources.main_metrics
    table["percent"] = 100 * table["share"]

    def scores(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        compare(axes, rows)
        ends = ("low", "high")
        kit.lines(axes, rows, "percent", "score", _BANDS, by="order", ends=ends, alpha=0.15)
        kit.lines(axes, rows, "percent", "score", _CURVE_LOOKS, by="order")
        axes.set_xlim(0, 100)

    legend: dict[str, Any] = {
        "at random" if n == declared.RANDOM else n: look
        for n, look in (_BANDS | _CURVE_LOOKS).items()
    }
    panels = [[kit.Panel(scores, x="Heads removed (%)", y="Score", height=1.4)]]
    headline = sources.headline(
        lambda tasks: _half_removed(pd.concat([rows_of(table, t, metrics[t]) for t in tasks]))
    )
    legend |= REFERENCES
    return kit.page(
        sources, headline, panels, most=4, title=titles(metrics, sources.marked), legend=legend
    )


def _half_removed(rows: pd.DataFrame) -> str:
    """What removing about half of the heads changes by the absolute gradient, and at random.

    The order is Michel et al.'s, not the one that does best on these examples.
    """
    distance = (rows["share"] - 0.5).abs()
    half = rows[distance == distance.groupby(rows["order"]).transform("min")]
    changes = (half["score"] - half["baseline"]).groupby(half["order"]).mean()
    order = declared.ABSOLUTE
    change = written(changes[order], "+.1f")
    said = f"Without half of the heads the score changes by {change} ({order})"
    if declared.RANDOM in changes:
        said += f", at random by {written(changes[declared.RANDOM], '+.1f')}"
    return said


# Score of the heads that learned gates keep, beside as many others (after Voita et al. 2019).

_GATE_LOOKS = {
    declared.RANDOM: kit.line(kit.GREY, "s"),
    declared.ABSOLUTE: kit.line(kit.BLUE, "o"),
    declared.LEARNED: kit.line(kit.VERMILLION, "^"),
}
_STYLES: dict[str, dict[str, Any]] = {
    declared.TRAINED_ON: {"linestyle": "-", "linewidth": 0.9},
    declared.FINE_TUNED: {"linestyle": ":", "linewidth": 0.9, "markerfacecolor": "white"},
}
_INTACT = kit.line(kit.INK, width=0.7)
_CHANCE = kit.line(kit.INK, dash="-.", width=0.7)
_APART = 0.6  # per cent of heads, between the intervals of one penalty


def draw_learned_gates(sources: kit.Sources) -> kit.Figure:
    """Draw the score of every task against the share of heads that are kept.

    Bars are 95 % intervals of the difference to the model with all heads, drawn around its score.
    All numbers are averaged over seeds.
    """
    table, metrics = sources.table(declared.LEARNED_GATES), sources.main_metrics

    def scores(axes: kit.Axes, task: str) -> None:
        rows = rows_of(table, task, metrics[task])
        by = ["weights", "chosen_by", "penalty"]
        means = rows.groupby(by).mean(numeric_only=True).reset_index()
        for number, (weights, style) in enumerate(_STYLES.items()):
            weight_rows = means[means["weights"] == weights]
            baseline = {**_INTACT, "linestyle": style["linestyle"]}
            axes.axhline(weight_rows["baseline"].mean(), zorder=1, **baseline)
            for place, (name, look) in enumerate(_GATE_LOOKS.items()):
                own = weight_rows[weight_rows["chosen_by"] == name]
                own = own.assign(percent=100 * own["share"] + (3 * number + place - 2.5) * _APART)
                ends = own["percent"], own["low"], own["high"]
                axes.vlines(*ends, color=look["color"], linewidth=0.6, zorder=2)
                kit.lines(axes, own, "percent", "score", {name: {**look, **style}})
        axes.axhline(rows["chance"].mean(), zorder=1, **_CHANCE)
        learned = means[
            (means["chosen_by"] == declared.LEARNED) & (means["weights"] == declared.TRAINED_ON)
        ]
        below: dict[str, Any] = {"transform": axes.get_xaxis_transform(), "va": "bottom"}
        below |= {"bbox": {"color": "white", "pad": 0.3}, "zorder": 2}
        for row in learned.to_dict("records"):
            name = f"λ {row['penalty']:g}"
            axes.text(100 * row["share"], 0.02, name, ha="center", rotation=90, **below)
        axes.margins(y=0.25)  # room for these
        axes.set_xlim(-3, 103)

    names = "kept at random", "kept by absolute gradient", "kept by learned gates"
    legend = dict(zip(names, _GATE_LOOKS.values(), strict=True))
    plain = kit.line(kit.INK, "o", markersize=3)
    legend |= {
        "trained-on weights": plain | _STYLES[declared.TRAINED_ON],
        "fine-tuned weights": plain | _STYLES[declared.FINE_TUNED],
        "all heads": _INTACT,
        "most frequent label": _CHANCE,
    }
    panels = [[kit.Panel(scores, x="Heads kept (%)", y="Score", height=1.5)]]
    headline = sources.headline(
        lambda tasks: _kept_by_gates(pd.concat([rows_of(table, t, metrics[t]) for t in tasks]))
    )
    return kit.page(
        sources, headline, panels, most=4, title=titles(metrics, sources.marked), legend=legend
    )


def _kept_by_gates(rows: pd.DataFrame) -> str:
    """How the score changes with the heads that gates keep at the greatest penalty, and others."""
    few = rows[rows["penalty"] == rows["penalty"].max()]
    share = 100 * float(few["share"].mean())
    changes = (few["score"] - few["baseline"]).groupby(few["chosen_by"]).mean()
    chosen = (declared.LEARNED, declared.RANDOM)
    gates, by_chance = (written(changes[name], "+.1f") for name in chosen)
    said = f"{gates} points if gates choose them, {by_chance} at random"
    return f"With {share:.0f}% of the heads: {said}"


FEW = 0.25
"""Share of the heads that Voita et al. left, about: 10 of 48."""
_MODEL = ["on", "state", "seed"]
_HETEROGENEOUS = "pattern_heads.share.heterogeneous"


def removable_shares(smaller: pd.DataFrame) -> pd.DataFrame:
    """Shares of the model's heads that can be removed: selected on training examples, then scored.

    A share counts if the drop on validation examples is within the tolerance; else it is 0, since
    no head is shown to be removable.

    Args:
        smaller: The table ``smaller_models``. Models for which all training examples determined the
            orders are left out.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``order``; ``value``, and as its ends the
        share if the drop is significantly smaller than the tolerance, and if it is not
        significantly greater. The score is accuracy, or the first metric of a task that has none.
    """
    rows = accuracy_rows(smaller)
    rows = rows[rows["chosen_on"] > 0]
    ends = {"value": "delta", "low": "ci_low", "high": "ci_high"}
    return rows.assign(
        **{
            name: rows["share"].where(rows[column] >= -rows["tolerance"], 0.0)
            for name, column in ends.items()
        }
    )


def largest_shares(pruned: pd.DataFrame) -> pd.DataFrame:
    """Shares of the model's heads that can be removed together.

    Args:
        pruned: The table ``pruned_heads``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``, ``order``; ``value``, with ``low`` and
        ``high``. The score is accuracy, or the first metric of a task that has none.
    """
    rows = accuracy_rows(pruned)
    return rows.assign(
        value=rows["largest"] / rows["heads"],
        low=rows["ci_low"] / rows["heads"],
        high=rows["ci_high"] / rows["heads"],
    )


def layers_with_one_head(needs: pd.DataFrame) -> pd.DataFrame:
    """Shares of the layers that can be left with their most important head alone.

    Args:
        needs: The table ``layer_needs``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``; ``value``, and as its ends the shares of the
        layers for which the drop is significantly smaller than the tolerance, and for which it is
        not significantly greater.
    """
    one = accuracy_rows(needs[needs["kept"] == 1])
    flags = one.assign(
        value=one["tolerated"], low=one["noninferior"], high=one["ci_high"] >= -one["tolerance"]
    )
    return flags.groupby(_MODEL, as_index=False, sort=False)[["value", "low", "high"]].mean()


def few_heads_by_gates(learned: pd.DataFrame) -> pd.DataFrame:
    """What is lost if gates that learn close at least three quarters of the heads.

    Nothing is lost where training on with all heads has failed, so there is no value then.

    Args:
        learned: The table ``learned_gates``.

    Returns:
        Columns ``on`` (the task), ``state``, ``seed``; ``value``, with ``low`` and ``high``: the
        difference from the model that was trained on with all heads, at the smallest penalty that
        closes as many. Models in which no penalty does have no row.
    """
    rows = accuracy_rows(learned)
    rows = rows[(rows["chosen_by"] == LEARNED) & (rows["weights"] == TRAINED_ON)]
    few = rows[rows["share"] <= FEW].sort_values("penalty").drop_duplicates(_MODEL)
    ends = {"delta": "value", "ci_low": "low", "ci_high": "high"}
    few = blanked(few.rename(columns=ends), few["baseline"] <= few["chance"])
    return few[[*_MODEL, *ESTIMATE]]


def structure_correlations(important: pd.DataFrame) -> pd.DataFrame:
    """Correlations of importance with the share of maps that have one of the paper's structures.

    Args:
        important: The table ``important_heads``.

    Returns:
        Columns ``on`` (the task), ``definition``, ``measured``; ``value``, with ``low`` and
        ``high``: the correlation with the share of heterogeneous maps, with the other sign.
    """
    rows = important[important["measure"] == _HETEROGENEOUS].rename(columns={"task": "on"})
    return rows.assign(value=-rows["spearman"], low=-rows["ci_high"], high=-rows["ci_low"])
