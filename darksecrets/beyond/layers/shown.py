"""Figures of what layers know, and numbers that claims need."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import pandas as pd

from darksecrets.beyond.layers import declared
from darksecrets.beyond.layers.declared import (
    LAYER_GEOMETRY,
    LAYER_ORDER,
    LAYER_PROBES,
    REMOVED_PROPERTIES,
    STRUCTURAL_PROBES,
)
from darksecrets.core.plotting import kit
from darksecrets.core.run.states import FINETUNED, PRETRAINED, RANDOM, STATE_NAMES
from darksecrets.core.stats.independent import ESTIMATE, minus, named
from darksecrets.core.words import listed

_LOOKS = {
    RANDOM: kit.line(kit.GREY, "x", "--"),
    PRETRAINED: kit.line(kit.STATES[PRETRAINED], "o"),
    FINETUNED: kit.line(kit.STATES[FINETUNED], "^"),
}
_BASELINE = kit.line(kit.BASELINE, dash=":", width=1.2)
_CONTROL = kit.line(kit.PINK, dash="-.", width=0.8)


def _legend(rows: pd.DataFrame) -> dict[str, Mapping[str, Any]]:
    present = set(rows["state"])
    return {STATE_NAMES[state]: look for state, look in _LOOKS.items() if state in present}


def _draw_states(axes: kit.Axes, rows: pd.DataFrame, value: str) -> None:
    """A line for every state, with its interval; fine-tuned models are averaged over tasks."""
    ends = (f"{value}_low", f"{value}_high")
    kit.lines(axes, rows, "layer", value, _LOOKS, by="state", ends=ends)
    _number_layers(axes, rows)


def _number_layers(axes: kit.Axes, rows: pd.DataFrame) -> None:
    """Layers from 0, the embeddings."""
    axes.set_xticks([0, *kit.ticks(int(rows["layer"].max()), 6)])


def middle(layers: pd.Series[int]) -> int:
    """The layer halfway up."""
    return round(int(layers.max()) / 2)


# What linear probes read, after Figure 2 of Tenney et al. (2019) and Liu et al. (2019).


def draw_layer_probes(sources: kit.Sources) -> kit.Figure:
    """Draw, for every property, accuracy by layer beside word types; and expected layers."""
    table = sources.keep_learned(sources.table(LAYER_PROBES))
    order = sources.keep_learned(sources.table(LAYER_ORDER))
    shown = [name for name in declared.PROPERTIES if (table["property"] == name).any()]

    def probes(axes: kit.Axes, name: str) -> None:
        rows = kit.pick(table, property=name)
        trained = rows[rows["state"] == PRETRAINED]
        kit.lines(axes, trained, "layer", "majority", {"": _BASELINE})
        kit.lines(axes, trained, "layer", "control", {"": _CONTROL})
        _draw_states(axes, rows, "accuracy")

    def codes(axes: kit.Axes, name: str) -> None:
        rows = kit.pick(table, property=name)
        kit.lines(axes, rows, "layer", "compression", _LOOKS, by="state")
        _number_layers(axes, rows)
        axes.axhline(1, color=kit.GREY, linewidth=0.5)

    def layers(axes: kit.Axes, _: str) -> None:
        known = order[order["expected_layer"].notna()]
        means = known.groupby(["state", "property"], as_index=False)[
            ["expected_layer", "expected_layer_low", "expected_layer_high"]
        ].mean()
        kit.intervals(
            axes,
            means,
            "expected_layer",
            {
                state: kit.dot(str(look["color"]), str(look["marker"]))
                for state, look in _LOOKS.items()
            },
            by="state",
            at="property",
            places={name: name for name in shown if (means["property"] == name).any()},
            ends=("expected_layer_low", "expected_layer_high"),
        )

    panels = [
        [kit.Panel(probes, y="Accuracy", height=1.0)],
        [kit.Panel(codes, x="Layer", y="Compression", height=0.8)],
    ]
    known = int(order[order["expected_layer"].notna()]["property"].nunique())
    below = kit.Panel(layers, x="Expected layer", height=0.2 * known + 0.35, fixed=True)
    grids = [kit.Grid(shown, panels, most=4)]
    if known:
        grids.append(kit.Grid(["Where a property can be resolved"], below))
    return kit.page(
        sources,
        _headline_of_probes(table),
        *grids,
        legend=_legend(table)
        | {"most frequent class of the word type": _BASELINE, "random classes": _CONTROL},
        what="Fine-tuned: mean over seeds and learned tasks. Bands: mean 95% intervals. Each panel "
        "has its own scale.",
        averaged=True,
        width=kit.PAGE,
    )


def _headline_of_probes(table: pd.DataFrame) -> str:
    """What the layer halfway up tells of parts of speech, before fine-tuning."""
    rows = kit.pick(table, state=PRETRAINED)
    rows = rows[rows["property"] == declared.TAG]
    if rows.empty:
        return "What linear probes find in layers"
    row = rows[rows["layer"] == middle(rows["layer"])].iloc[0]
    found = f"Probes of layer {row['layer']} find {row['accuracy']:.0%} of parts of speech"
    if row["over_majority_low"] > 0:
        return f"{found}; word types alone, {row['majority']:.0%}"
    return f"{found}, not significantly more than word types alone ({row['majority']:.0%})"


# Trees in space, after Figure 1 of Hewitt and Manning (2019).

_SCORES = {
    "uuas": "Gold arcs in trees",
    "distance_correlation": "Correlation of distances",
    "depth_correlation": "Correlation of depths",
}


def draw_structural_probes(sources: kit.Sources) -> kit.Figure:
    """Draw how much the distances and depths in every layer are those of dependency trees."""
    table = sources.keep_learned(sources.table(STRUCTURAL_PROBES))

    def draw(axes: kit.Axes, score: str) -> None:
        _draw_states(axes, table, score)
        if score == "uuas":
            axes.axhline(float(table["chain"].mean()), **_BASELINE)

    row = table[(table["state"] == PRETRAINED) & (table["layer"] == middle(table["layer"]))].iloc[0]
    return kit.page(
        sources,
        _headline_of_trees(row),
        kit.Grid(list(_SCORES), kit.Panel(draw, x="Layer", height=1.3), title=_SCORES.__getitem__),
        legend=_legend(table) | {"chain of neighbours": _BASELINE},
        what="Fine-tuned: mean over seeds and learned tasks. Bands: mean 95% intervals.",
        averaged=True,
        width=kit.PAGE,
    )


def _headline_of_trees(row: pd.Series) -> str:
    """What trees of the layer halfway up have of the gold arcs, before fine-tuning."""
    found = f"Trees of layer {row['layer']} have {row['uuas']:.0%} of the gold arcs"
    chain = f"a chain of neighbours {row['chain']:.0%}"
    if row["over_chain_low"] > 0 or row["over_chain_high"] < 0:
        return f"{found}, {chain}"
    return f"{found}, {chain}: no significant difference"


# How states lie in space, after Figures 1 and 2 of Ethayarajh (2019).

_MEASURES = {
    "anisotropy": "Cosine of words of different sentences",
    "self_similarity": "Cosine of a word in two sentences, minus the former",
    "outlier_share": "Share of the largest dimension",
}


def draw_layer_geometry(sources: kit.Sources) -> kit.Figure:
    """Draw how alike the states of words are, by layer, and how much one dimension takes."""
    table = sources.keep_learned(sources.table(LAYER_GEOMETRY))

    def draw(axes: kit.Axes, measure: str) -> None:
        if measure == "outlier_share":
            kit.lines(axes, table, "layer", measure, _LOOKS, by="state")
            _number_layers(axes, table)
            axes.axhline(float(table["even_share"].iloc[0]), **_BASELINE)
        else:
            _draw_states(axes, table, measure)

    rows = kit.pick(table, state=PRETRAINED).sort_values("layer")
    first, last = (float(rows["anisotropy"].iloc[place]) for place in (0, -1))
    return kit.page(
        sources,
        f"The cosine of two words' states is {first:.2f} in the embeddings, {last:.2f} in the last "
        "layer",
        kit.Grid(
            list(_MEASURES), kit.Panel(draw, x="Layer", height=1.3), title=_MEASURES.__getitem__
        ),
        legend=_legend(table) | {"all dimensions alike": _BASELINE},
        what="Fine-tuned: mean over seeds and learned tasks. Bands: mean 95% intervals.",
        averaged=True,
        width=kit.PAGE,
    )


# What a property that is known is used for, after Figure 2 of Elazar et al. (2021).

_REMOVED = kit.line(kit.VERMILLION, "o")
_AT_RANDOM = kit.line(kit.GREY, "x", "--")


def draw_removed_properties(sources: kit.Sources) -> kit.Figure:
    """Draw what scores lose if parts of speech are taken out of a layer, or random dimensions."""
    table = kit.pick(sources.table(REMOVED_PROPERTIES), task=sources.tasks)

    def draw(axes: kit.Axes, task: str) -> None:
        rows = kit.pick(table, task=task)
        kit.lines(axes, rows, "layer", "random", {"": _AT_RANDOM})
        kit.lines(axes, rows, "layer", "delta", {"": _REMOVED}, ends=("delta_low", "delta_high"))
        _number_layers(axes, rows)
        axes.axhline(0, color=kit.GREY, linewidth=0.5)

    def describe(tasks: list[str]) -> str:
        rows = kit.pick(table, task=tasks)
        halfway = rows[rows["layer"] == middle(rows["layer"])]
        worse = halfway.groupby("task")["over_random_high"].max() < 0
        taken = f"Taking parts of speech out of layer {middle(rows['layer'])} costs"
        if not worse.any():
            return f"{taken} no task significantly more than random dimensions"
        return f"{taken} {listed(worse.index[worse].tolist())} more than random dimensions"

    return kit.page(
        sources,
        sources.headline(describe),
        kit.Panel(draw, x="Layer", y="Change of the score (points)", height=1.3, share="columns"),
        legend={"without parts of speech": _REMOVED, "without random dimensions": _AT_RANDOM},
        what="Means over seeds. Bands: mean 95% intervals over examples.",
    )


# Numbers for claims. Layers are compared by thirds of the encoder, so that none is chosen by what
# it scores.


def _third(rows: pd.DataFrame, part: int) -> pd.DataFrame:
    """Rows of the lower (0), middle (1) or upper (2) third of the layers above the embeddings."""
    layers = int(rows["layer"].max())
    ends = [round(layers * share / 3) for share in range(4)]
    return rows[(rows["layer"] > ends[part]) & (rows["layer"] <= ends[part + 1])]


def _mean(rows: pd.DataFrame, on: list[str]) -> pd.DataFrame:
    """Means of estimates, with the mean of their intervals: valid for any dependence."""
    return rows.groupby(on, dropna=False, as_index=False)[ESTIMATE].mean()


def _difference(
    table: pd.DataFrame,
    column: str,
    ours: Callable[[pd.DataFrame], pd.DataFrame],
    others: Callable[[pd.DataFrame], pd.DataFrame],
    *on: str,
) -> pd.DataFrame:
    key, rows = ["task", "state", "seed", *on], named(table, column)
    found = minus(_mean(ours(rows), key), _mean(others(rows), key), key)
    return found.assign(on=found["task"])


def middle_over_lower(layer_probes: pd.DataFrame) -> pd.DataFrame:
    """Accuracy in the middle third of the layers, minus that in the lower third.

    Args:
        layer_probes: The table of that name.

    Returns:
        Columns ``task``, ``state``, ``seed``, ``property``; ``value``, with ``low`` and ``high``;
        and ``on``, the task again.
    """
    return _difference(
        layer_probes,
        "accuracy",
        lambda rows: _third(rows, 1),
        lambda rows: _third(rows, 0),
        "property",
    )


def middle_over_upper(layer_probes: pd.DataFrame) -> pd.DataFrame:
    """Accuracy in the middle third of the layers, minus that in the upper; see the former."""
    return _difference(
        layer_probes,
        "accuracy",
        lambda rows: _third(rows, 1),
        lambda rows: _third(rows, 2),
        "property",
    )


def upper_over_lower(layer_probes: pd.DataFrame) -> pd.DataFrame:
    """Accuracy in the upper third of the layers, minus that in the lower; see the former."""
    return _difference(
        layer_probes,
        "accuracy",
        lambda rows: _third(rows, 2),
        lambda rows: _third(rows, 0),
        "property",
    )


def relation_over_tag(layer_order: pd.DataFrame) -> pd.DataFrame:
    """The expected layer of dependency relations, minus that of parts of speech."""
    rows, key = named(layer_order, "expected_layer"), ["task", "state", "seed"]
    rows = rows[rows["value"].notna()]
    relation, tag = (
        rows[rows["property"] == name][[*key, *ESTIMATE]]
        for name in (declared.RELATION, declared.TAG)
    )
    return minus(relation, tag, key)


def trees_over_chain(structural_probes: pd.DataFrame) -> pd.DataFrame:
    """Gold arcs in the trees of the middle third of the layers, minus those of a chain."""
    rows = _third(named(structural_probes, "over_chain"), 1)
    return _mean(rows, ["task", "state", "seed"])


def trees_over_embeddings(structural_probes: pd.DataFrame) -> pd.DataFrame:
    """The same of the middle third of the layers, minus those in the embeddings."""
    return _difference(
        structural_probes,
        "uuas",
        lambda rows: _third(rows, 1),
        lambda rows: rows[rows["layer"] == 0],
    )


def trees_over_random(structural_probes: pd.DataFrame) -> pd.DataFrame:
    """The same, minus those of the encoder with random weights, which is not fine-tuned."""
    rows = _mean(_third(named(structural_probes, "uuas"), 1), ["task", "state", "seed"])
    random = rows[rows["state"] == RANDOM].assign(all="")
    return minus(rows.assign(all=""), random[["all", *ESTIMATE]], ["all"])


def anisotropy_above(layer_geometry: pd.DataFrame) -> pd.DataFrame:
    """Anisotropy of the upper third of the layers, minus that of the lower third."""
    return _difference(
        layer_geometry, "anisotropy", lambda rows: _third(rows, 2), lambda rows: _third(rows, 0)
    )


def cost_over_random(removed_properties: pd.DataFrame) -> pd.DataFrame:
    """What taking parts of speech out costs beyond random dimensions, mean over layers from 1.

    Args:
        removed_properties: The table of that name.
    """
    rows = named(removed_properties, "over_random").assign(state=FINETUNED)
    means = _mean(rows[rows["layer"] > 0], ["task", "state", "seed"])
    return means.assign(on=means["task"])
