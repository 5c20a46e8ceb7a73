"""Figures of minimal pairs and trees, and numbers that claims need."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pandas as pd

from darksecrets.beyond.predictions.declared import (
    AGREEMENT_GROUPS,
    AGREEMENT_HEADS,
    ANY,
    ATTENTION,
    CLOZE,
    EMBEDDINGS,
    MINIMAL_PAIRS,
    PROBE,
    PROJECTIVE,
    TREES,
)
from darksecrets.core.plotting import kit
from darksecrets.core.run.states import FINETUNED, PRETRAINED, RANDOM, STATE_NAMES
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.independent import ESTIMATE, blanked, minus, named
from darksecrets.core.words import listed
from darksecrets.paper.ablation.panels import (
    HOLLOW,
    MARK_LEGEND,
    mark_significant,
    note_on_marks,
    reach_of,
)

_CHANCE = 0.5
"""Share of pairs that are right by chance."""

# How often the right one of two sentences is more probable.

_MODEL = kit.dot(kit.MARK, markeredgecolor=kit.MARK)
_RANDOM = kit.dot(kit.GREY, "x", 4.0, markeredgewidth=0.8)
_WHOLE = kit.dot("none", size=6.0, markeredgecolor=kit.MARK)
_COUNTS = {
    "unigrams": kit.dot(kit.BASELINE, "|", 8.0, markeredgewidth=1.6),
    "bigrams": kit.dot(kit.BASELINE, "D", 4.0),
}


def _named_pairs(table: pd.DataFrame) -> pd.DataFrame:
    """Rows with a name for the phenomenon and the number of attractors."""

    def name(row: Any) -> str:  # noqa: ANN401 - a row
        if pd.isna(row["attractors"]):
            return str(row["phenomenon"])
        return f"{row['phenomenon']}, {row['attractors']} between"

    return table.assign(name=table.apply(name, axis=1))


def draw_minimal_pairs(sources: kit.Sources) -> kit.Figure:
    """Draw the accuracy of every phenomenon beside counts and random weights."""
    table = _named_pairs(sources.table(MINIMAL_PAIRS))
    trained, random = (table[table["state"] == state] for state in (PRETRAINED, RANDOM))
    places = {name: name for name in trained["name"]}

    def draw(axes: kit.Axes, _: str) -> None:
        where: dict[str, Any] = {"at": "name", "places": places}
        axes.axvline(_CHANCE, color=kit.GREY, linewidth=0.5)
        for counts, look in _COUNTS.items():
            kit.intervals(axes, trained, counts, {"": look}, **where)
        kit.intervals(axes, random, "accuracy", {"": _RANDOM}, **where)
        ends = ("accuracy_low", "accuracy_high")
        kit.intervals(axes, trained, "whole_words", {"": _WHOLE}, **where)
        kit.intervals(axes, trained, "accuracy", {"": _MODEL}, ends=ends, **where)
        axes.set_xlim(-0.03, 1.05)

    above = int(((trained["over_bigrams_low"] > 0) & (trained["accuracy_low"] > _CHANCE)).sum())
    panel = kit.Panel(
        draw, x="Share of pairs that are right", height=0.18 * len(places) + 0.3, fixed=True
    )
    return kit.page(
        sources,
        f"Masked words tell right sentences more often than bigrams in {above or 'none'} of "
        f"{len(trained)} kinds of pairs",
        kit.Grid([""], panel),
        legend={
            "masked pieces": _MODEL,
            "masked words": _WHOLE,
            STATE_NAMES[RANDOM]: _RANDOM,
            **_COUNTS,
        },
        what="Lines: 95% intervals over pairs.",
        width=kit.COLUMN,
    )


# What stands in the place of a masked word, after Table 2 of Petroni et al. (2019).


_RANK = kit.dot(kit.MARK, "+", 5.0, markeredgewidth=0.8)


def draw_cloze(sources: kit.Sources) -> kit.Figure:
    """Draw the rank of the right word, and what a condition changes of the first word and of it."""
    table = sources.table(CLOZE)
    named_rows = table.assign(
        name=[
            f"{name}, {condition}" if isinstance(condition, str) and condition else str(name)
            for name, condition in zip(table["set"], table["condition"], strict=True)
        ]
    )
    trained, random = (named_rows[named_rows["state"] == each] for each in (PRETRAINED, RANDOM))
    changed = trained[trained["same"].notna()]

    def draw(axes: kit.Axes, value: str) -> None:
        rows = trained if value == "first" else changed
        where: dict[str, Any] = {"at": "name", "places": {name: name for name in rows["name"]}}
        if value == "first":
            kit.intervals(axes, rows, "majority", {"": _COUNTS["unigrams"]}, **where)
            kit.intervals(axes, rows, "first_ten", {"": _WHOLE}, **where)
            kit.intervals(axes, rows, "reciprocal_rank", {"": _RANK}, **where)
        others = random[random["name"].isin(rows["name"])]
        kit.intervals(axes, others, value, {"": _RANDOM}, **where)
        ends = (f"{value}_low", f"{value}_high")
        kit.intervals(axes, rows, value, {"": _MODEL}, ends=ends, **where)
        if value == "change":
            axes.axvline(0, color=kit.GREY, linewidth=0.5)
        else:
            axes.set_xlim(-0.03, 1.05)

    def grid(value: str, title: str, x: str, rows: pd.DataFrame) -> kit.Grid:
        panel = kit.Panel(draw, x=x, height=0.18 * len(rows) + 0.35, fixed=True)
        return kit.Grid([value], panel, title=lambda _: title)

    grids = [grid("first", "", "Right word first", trained)]
    if len(changed):
        grids.append(grid("same", "The first word stays the same", "Share of items", changed))
        title = "The right word's log-probability changes"
        grids.append(grid("change", title, "Nats", changed))
    # Under another condition, such as a negation, the word need not be right.
    sets = trained[trained["same"].isna()]
    above = int((sets["first_low"] > sets["majority"]).sum())
    return kit.page(
        sources,
        f"The right word is first more often than the most frequent one in {above or 'none'} of "
        f"{len(sets)} sets",
        *grids,
        legend={
            "masked words": _MODEL,
            "among the first ten": _WHOLE,
            "mean of 1 / rank": _RANK,
            STATE_NAMES[RANDOM]: _RANDOM,
            "most frequent right word": _COUNTS["unigrams"],
        },
        what="Lines: 95% intervals over items.",
        width=kit.COLUMN,
    )


# Which heads the agreement of verbs needs, after Figure 8 of Kovaleva et al. (2019).

_SUBJECT_HEAD: Mapping[str, Any] = {**HOLLOW, "marker": "o", "markersize": 6.5}


def draw_agreement_heads(sources: kit.Sources) -> kit.Figure:
    """Draw what each head adds to the choice of the right verb, beside what it attends to."""
    heads, groups = sources.table(AGREEMENT_HEADS), sources.table(AGREEMENT_GROUPS)

    def grid(axes: kit.Axes, _: str) -> None:
        if heads.empty:
            kit.say(axes, "too few pairs")
            return
        values = kit.grid(heads, "delta")
        reach = reach_of(values + heads["baseline"].iloc[0], heads)
        mesh = kit.matrix(axes, values, kit.CHANGE, reach, -reach)
        kit.mark(axes, kit.grid(heads, "subject").astype(bool), **_SUBJECT_HEAD)
        mark_significant(axes, heads)
        kit.scale(axes.figure, mesh, ax=axes).ax.locator_params(nbins=5)

    panel = kit.Panel(grid, "heads", x="Head", y="Layer", height=1.5)
    legend = dict(MARK_LEGEND) if (heads["q_value"] < LEVEL).any() else {}
    if heads["subject"].any():
        legend["attends between verbs and subjects"] = _SUBJECT_HEAD
    return kit.page(
        sources,
        _headline_of_agreement(groups),
        kit.Grid([""], panel),
        legend=legend,
        what="Right verbs without the head, minus those with all heads, in points. Purple is more.",
        width=kit.COLUMN,
        note=note_on_marks(heads),
    )


def _headline_of_agreement(groups: pd.DataFrame) -> str:
    """Whether heads between verbs and subjects are those that the right verb needs."""
    if groups.empty:
        return "Too few pairs differ in one known verb to disable heads"
    row = groups.iloc[0]
    intact = f"{row['accuracy']:.0%} of the verbs are right"
    if row["accuracy_low"] <= _CHANCE:
        return f"{intact}, not more than by chance: their heads say nothing of agreement"
    if not row["heads"]:
        return f"{intact}; no head attends between verbs and subjects beyond controls"
    what = "the head" if row["heads"] == 1 else f"the {row['heads']} heads"
    what += " between verbs and subjects"
    differs = row["p_value"] < LEVEL  # of heads that are exchanged; the interval is over pairs
    if differs and row["over_control_high"] < 0:
        return f"{intact}; without {what}, fewer than without others of their layers"
    if differs and row["over_control_low"] > 0:
        return f"{intact}; without {what}, more than without others of their layers"
    return f"{intact}; {what} and others of their layers: no significant difference"


# Trees beside chains, after Table 2 of Wu et al. (2020).

_LOOKS = {
    RANDOM: _RANDOM,
    PRETRAINED: kit.dot(kit.STATES[PRETRAINED]),
    FINETUNED: kit.dot(kit.STATES[FINETUNED], "^"),
}
_CHAIN = kit.dot(kit.BASELINE, "|", 9.0, markeredgewidth=1.6)
_TREES = {
    PROJECTIVE: "masked words, no crossing arcs",
    ANY: "masked words, any tree",
    ATTENTION: "attention of the best head",
    PROBE: "states of the best layer, probed",
    EMBEDDINGS: "embeddings of words, probed",
}


def draw_trees(sources: kit.Sources) -> kit.Figure:
    """Draw the share of gold arcs in every kind of tree."""
    table = sources.keep_learned(sources.table(TREES))
    places = {tree: name for tree, name in _TREES.items() if (table["tree"] == tree).any()}

    def draw(axes: kit.Axes, _: str) -> None:
        columns = ["uuas", "uuas_low", "uuas_high", "chain"]
        rows = table.groupby(["state", "tree"], as_index=False)[columns].mean()
        where: dict[str, Any] = {"at": "tree", "places": places}
        kit.intervals(axes, kit.pick(rows, state=PRETRAINED), "chain", {"": _CHAIN}, **where)
        ends = ("uuas_low", "uuas_high")
        kit.intervals(axes, rows, "uuas", _LOOKS, by="state", ends=ends, **where)

    shown = [state for state in _LOOKS if (table["state"] == state).any()]
    height = 0.25 * len(places) + 0.3
    return kit.page(
        sources,
        _headline_of_trees(table, places),
        kit.Grid([""], kit.Panel(draw, x="Share of gold arcs (UUAS)", height=height, fixed=True)),
        legend={STATE_NAMES[state]: _LOOKS[state] for state in shown}
        | {"chain of neighbours": _CHAIN},
        what="Lines: 95% intervals over sentences; of fine-tuned models, mean over seeds and "
        "learned tasks. Kinds of trees are scored on different sentences, beside chains of the "
        "same.",
        averaged=True,
        width=kit.COLUMN,
    )


def _headline_of_trees(table: pd.DataFrame, places: Mapping[str, str]) -> str:
    """Which trees of the pre-trained encoder have more gold arcs than chains and random weights."""
    gains = kit.pick(trees_over_random(table), state=PRETRAINED)
    over = gains.groupby("tree")["low"].min() > 0
    chains = kit.pick(table, state=PRETRAINED).groupby("tree")["over_chain_low"].min() > 0
    named_trees = {tree: name.partition(",")[0] for tree, name in places.items() if tree != ANY}
    above = [name for tree, name in named_trees.items() if over[tree] and chains[tree]]
    if not above:
        return "No trees have significantly more gold arcs than chains and random weights"
    return f"Trees from {listed(above)} have more gold arcs than chains and random weights"


# Numbers for claims.


def agreement_over_bigrams(minimal_pairs: pd.DataFrame) -> pd.DataFrame:
    """How much more often the right verb is found than by bigrams, by number of attractors.

    Args:
        minimal_pairs: The table of that name.

    Returns:
        Columns ``state``, ``seed``, ``attractors``; ``value``, with ``low`` and ``high``.
    """
    rows = named(minimal_pairs, "over_bigrams")
    counted = rows[(rows["phenomenon"] == "agreement") & rows["attractors"].notna()]
    return counted[["state", "seed", "attractors", *ESTIMATE]]


def agreement_over_chance(minimal_pairs: pd.DataFrame) -> pd.DataFrame:
    """How much more often the right verb is found than in half of the pairs; see the former."""
    rows = named(minimal_pairs, "accuracy")
    counted = rows[(rows["phenomenon"] == "agreement") & rows["attractors"].notna()]
    over = {name: counted[name] - _CHANCE for name in ESTIMATE}
    return counted.assign(**over)[["state", "seed", "attractors", *ESTIMATE]]


def right_over_majority(cloze: pd.DataFrame) -> pd.DataFrame:
    """How much more often the right word is first than the most frequent one, by set.

    Args:
        cloze: The table of that name.

    Returns:
        Columns ``state``, ``seed``, ``set``; ``value``, with ``low`` and ``high``; of the first
        condition of every set.
    """
    rows = named(cloze[cloze["same"].isna()], "first")
    over = {name: rows[name] - rows["majority"] for name in ESTIMATE}
    return rows.assign(**over)[["state", "seed", "set", *ESTIMATE]]


def same_under_conditions(cloze: pd.DataFrame) -> pd.DataFrame:
    """The share of items with the same first word under another condition, by set and condition.

    An encoder that says one word whatever the sentence changes nothing under any condition. So
    there is no value of a set without its condition, whose right words it does not find more often
    than their most frequent one would be right.

    Args:
        cloze: The table of that name.

    Returns:
        Columns ``state``, ``seed``, ``set``, ``condition``; ``value``, with ``low`` and ``high``.
    """
    of_set = ["state", "seed", "set"]
    plain = right_over_majority(cloze).drop_duplicates(of_set)
    known = plain.assign(known=plain["low"] > 0)[[*of_set, "known"]]
    rows = named(cloze[cloze["same"].notna()], "same").merge(known, on=of_set)
    return blanked(rows, ~rows["known"])[[*of_set, "condition", *ESTIMATE]]


def trees_over_random(trees: pd.DataFrame) -> pd.DataFrame:
    """Gold arcs in trees, minus those of the encoder with random weights, by kind of tree.

    Args:
        trees: The table of that name.

    Returns:
        Columns ``state``, ``seed``, ``tree``; ``value``, with ``low`` and ``high``; of encoders
        that were not fine-tuned.
    """
    rows = named(trees, "uuas")
    rows = rows[rows["state"] != FINETUNED]
    random = rows[rows["state"] == RANDOM][["tree", *ESTIMATE]]
    return minus(rows[["state", "seed", "tree", *ESTIMATE]], random, ["tree"])
