"""Figures of heads beside trees and antecedents, and numbers that claims need."""

from __future__ import annotations

from typing import Any

import numpy as np
import pandas as pd
import seaborn as sns

from darksecrets.beyond.syntax import declared
from darksecrets.beyond.syntax.declared import (
    ALL,
    ANY,
    ATTENTION_TREES,
    DEPENDENT_TO_HEAD,
    DISTRACTORS,
    HEAD_TO_DEPENDENT,
    MANY,
    OPEN,
)
from darksecrets.core.plotting import kit
from darksecrets.core.run.states import RANDOM
from darksecrets.core.stats import LEVEL
from darksecrets.core.stats.independent import ESTIMATE, named

# Which heads follow which syntactic relations, after Table 1 of Clark et al. (2019).

_MOST = 20
"""Labels that are drawn, the most frequent ones."""
_ARROWS = {declared.DEPENDENT_TO_HEAD: "→", declared.HEAD_TO_DEPENDENT: "←"}
_HEAD_DOT = kit.dot(kit.MARK, markeredgecolor=kit.MARK, markeredgewidth=0.8)
_HEAD_LOOKS = {
    declared.YES: _HEAD_DOT,
    declared.OPEN: {**_HEAD_DOT, "color": "white"},
    declared.NO: {**_HEAD_DOT, "color": kit.INK, "markeredgecolor": kit.INK},
}
_HEAD_NAMES = {
    declared.YES: "best head, beyond all controls",
    declared.OPEN: "the same, without one for parts of speech",
    declared.NO: "best head, not beyond all",
}
_OFFSET = kit.dot(kit.BASELINE, "|", 8.0, markeredgewidth=1.6)
_HEAD_CHANCE = kit.dot(kit.GREY, "x", 3.5, markeredgewidth=0.8)


def draw_syntactic_heads(sources: kit.Sources) -> kit.Figure:
    """Draw the best head of every label beside the best offset, and where syntactic heads are."""
    table = sources.table(declared.SYNTACTIC_HEADS)
    trained, random = (table[table["state"] == state] for state in ("pretrained", RANDOM))
    best = kit.pick(trained, selected=True).drop_duplicates("label").head(_MOST)
    by_chance = random[random["selected"]].drop_duplicates("label")
    places = {
        row["label"]: f"{row['label']} {row['layer']}–{row['head']} {_ARROWS[row['direction']]}"
        for row in best.to_dict("records")
    }

    def labels(axes: kit.Axes, _: str) -> None:
        ends = ("accuracy_low", "accuracy_high")
        where: dict[str, Any] = {"at": "label", "places": places}
        kit.intervals(axes, best, "accuracy", _HEAD_LOOKS, by="syntactic", ends=ends, **where)
        kit.intervals(axes, best, "at_offset", {"": _OFFSET}, **where)
        kit.intervals(axes, by_chance, "accuracy", {"": _HEAD_CHANCE}, **where)
        axes.set_xlim(-0.02, 1.02)
        if best["label"].iloc[0] == declared.ALL and len(best) > 1:
            axes.axhline(0.5, color=kit.GREY, linewidth=0.5)

    def heads(axes: kit.Axes, _: str) -> kit.QuadMesh:
        most = trained.groupby(["layer", "head"])[["over_offset"]].max().reset_index()
        values = kit.grid(most, "over_offset").clip(lower=0)
        mesh = kit.matrix(axes, values, kit.WEIGHT, max(kit.largest(values), 0.01), 0)
        found = {
            verdict: kit.grid(trained.assign(own=trained["syntactic"] == verdict), "own") > 0
            for verdict in (declared.OPEN, declared.YES)
        }
        kit.mark(axes, found[declared.OPEN] & ~found[declared.YES], **_HEAD_LOOKS[declared.OPEN])
        kit.mark(axes, found[declared.YES], **_HEAD_LOOKS[declared.YES])
        return mesh

    shown = [verdict for verdict in _HEAD_NAMES if verdict in set(best["syntactic"])]
    legend = {_HEAD_NAMES[verdict]: _HEAD_LOOKS[verdict] for verdict in shown}
    legend |= {"best offset": _OFFSET, "best head, untrained": _HEAD_CHANCE}
    above = kit.Panel(
        labels, x="Share of the word pairs found", height=0.16 * len(best) + 0.3, fixed=True
    )
    bar = kit.Bar("over the best offset")
    below = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.35, bar=bar)
    under = kit.Grid(["Heads: most over the best offset, any relation"], below)
    relations = best[best["label"] != declared.ALL]
    found = int((relations["syntactic"] == declared.YES).sum())
    verb = "has" if found == 1 else "have"
    headline = (
        f"{found or 'None'} of {len(relations)} relations {verb} a head that exceeds all controls"
    )
    grids = (kit.Grid([""], above), under)
    return kit.page(sources, headline, *grids, legend=legend, width=kit.COLUMN)


# How much trees from attention are like gold trees, beside chains (after Htut et al. 2019).

_TREE_DOT = kit.dot(kit.MARK, size=2.0, markeredgecolor=kit.MARK, markeredgewidth=0.5, zorder=3)
_TREE_LOOKS = {DEPENDENT_TO_HEAD: _TREE_DOT, HEAD_TO_DEPENDENT: {**_TREE_DOT, "color": "white"}}
_TREE_NAMES = {"dependents → heads": DEPENDENT_TO_HEAD, "heads → dependents": HEAD_TO_DEPENDENT}
"""What attends to what, in the legend and above the heatmaps."""
_SCORES = {"Without direction (UUAS)": "uuas", "With direction (UAS)": "uas"}
_CHAINS = {
    "uuas": {"chain": kit.line(kit.BASELINE, width=1.2, zorder=2)},
    "uas": {
        "right_chain": kit.line(kit.BASELINE, dash="--", width=1.2, zorder=2),
        "left_chain": kit.line(kit.BASELINE, dash=":", width=1.2, zorder=2),
    },
}
"""Chains beside each score, and their lines."""
_BEST_TREE = kit.dot("none", size=6.0, markeredgecolor=kit.INK, zorder=4)
_SPREAD = 0.7
"""Width of the dots of a layer."""


def draw_attention_trees(sources: kit.Sources) -> kit.Figure:
    """Draw the scores of all heads by layer, beside chains and random weights; and heatmaps.

    Each head has a dot for every direction; those of random weights are a range for each layer.
    Dots on heatmaps are on heads that exceed the chain.
    """
    table = sources.table(ATTENTION_TREES)
    trained, random = kit.pick(table, state="pretrained"), table[table["state"] == RANDOM]
    layers, chains = int(trained["layer"].max()), [n for each in _CHAINS.values() for n in each]
    highest = float(table[[*_SCORES.values(), *chains]].max().max())
    spread = _SPREAD * ((trained["head"] - 0.5) / int(trained["head"].max()) - 0.5)
    trained = trained.assign(place=trained["layer"] + spread)

    def draw_layers(axes: kit.Axes, name: str) -> None:
        score = _SCORES[name]
        ranges = random.groupby("layer")[score].agg(["min", "max"])
        height = ranges["max"] - ranges["min"]
        axes.bar(ranges.index, height, 0.8, ranges["min"], color=kit.BAND, zorder=1)
        for direction, look in _TREE_LOOKS.items():
            own = trained[trained["direction"] == direction]
            axes.plot(own["place"], own[score], **look)
        for chain, look in _CHAINS[score].items():
            axes.axhline(float(trained[chain].iloc[0]), **look)
        best = trained[trained["selected"]]
        axes.plot(best["place"], best[score], **_BEST_TREE)
        ends = best[f"{score}_low"], best[f"{score}_high"]
        axes.vlines(best["place"], *ends, color=kit.INK, linewidth=0.8)
        axes.set(xlim=(0.4, layers + 0.6), ylim=(0, min(1.0, 1.1 * highest)))
        axes.set_xticks(kit.ticks(layers, 6))

    def heads(axes: kit.Axes, name: str) -> kit.QuadMesh:
        rows = kit.pick(trained, direction=_TREE_NAMES[name])
        top = max(float(trained[["uuas", "chain"]].max().max()), 0.01)
        mesh = kit.matrix(axes, kit.grid(rows, "uuas"), kit.WEIGHT, top, 0)
        exceeds = (rows["q_value"] < LEVEL) & (rows["over_chain"] > 0)
        kit.mark(axes, kit.grid(rows.assign(exceeds=exceeds), "exceeds") > 0, markersize=3)
        return mesh

    chain = float(trained["chain"].iloc[0])
    bar = kit.Bar("UUAS", {chain: kit.line(kit.BASELINE, width=2)})
    above = kit.Panel(draw_layers, x="Layer", y="Share of gold arcs", height=1.3, share="columns")
    below = kit.Panel(heads, "heads", x="Head", y="Layer", height=1.2, share="columns", bar=bar)
    legend: dict[str, Any] = {
        name: _TREE_LOOKS[direction] for name, direction in _TREE_NAMES.items()
    }
    legend |= {"best head": _BEST_TREE, "heads, untrained": kit.BAND}
    names = "chain of neighbours", "right chain", "left chain"
    looks = (look for each in _CHAINS.values() for look in each.values())
    legend |= dict(zip(names, looks, strict=True))
    best = float(kit.pick(trained, selected=True)["uuas"].max())
    headline = (
        f"The best head's trees have {100 * best:.0f}% of the gold arcs, a chain {100 * chain:.0f}%"
    )
    grids = kit.Grid(list(_SCORES), above), kit.Grid(list(_TREE_NAMES), below)
    return kit.page(sources, headline, *grids, legend=legend, width=kit.COLUMN)


# How much verbs attend to their subjects, beside other nouns, by layer (Lin et al. 2019).

_TITLES = {ANY: "any others", "1": "1 other", "2": "2 others", MANY: f"{MANY} others"}
"""Titles of the panels, by the number of other nouns before the verb."""
_SUBJECT = kit.line(kit.MARK, "o")
_HOLLOW = {"markerfacecolor": "none", "markersize": 5.5, "markeredgewidth": 0.7}
_OTHER_NOUNS = {
    "nearest": kit.line(kit.INK, "<", "--", width=0.7, **_HOLLOW),
    "random": kit.line(kit.GREY, "x", ":", width=0.8),
}
"""Lines of the controls that differ between layers. The nearest noun is often the subject: hollow
markers show both."""
_EQUAL = kit.line(kit.BASELINE, width=1.2)


def draw_attention_to_subjects(sources: kit.Sources) -> kit.Figure:
    """Draw the share of a verb's weight that its subject gets, a panel per number of other nouns.

    If no verb follows its subject and another noun, the figure says so.
    """
    table = sources.table(DISTRACTORS)
    rows = table[(table["state"] == "pretrained") & table["layer"].notna()]
    shown = [count for count in _TITLES if (rows["distractors"] == count).any()]
    highest = float(rows[["share_high", "share", *_OTHER_NOUNS]].max().max())

    def shares(axes: kit.Axes, count: str) -> None:
        if not shown:
            kit.say(axes, "No verb follows its subject and another noun.")
            return
        own = kit.pick(rows, distractors=count)
        ends = ("share_low", "share_high")
        kit.lines(axes, own, "layer", "share", {"subject": _SUBJECT}, ends=ends)
        for name, look in _OTHER_NOUNS.items():
            kit.lines(axes, own, "layer", name, {name: look})
        axes.axhline(float(own["uniform"].iloc[0]), zorder=1, **_EQUAL)
        axes.set_ylim(0, min(1.0, 1.1 * highest))

    def title(count: str) -> str:
        number = int(kit.pick(rows, distractors=count)["verbs"].iloc[0]) if shown else 0
        return f"{_TITLES[count]} (n\N{NO-BREAK SPACE}=\N{NO-BREAK SPACE}{number})"

    names = "subject", "nearest noun", "subject, untrained", "equal parts"
    legend = dict(zip(names, (_SUBJECT, *_OTHER_NOUNS.values(), _EQUAL), strict=True))
    panel = kit.Panel(shares, x="Layer", y="Share of weight", share="columns")
    grids = kit.Grid(shown or [ANY], panel, most=2, title=title)
    headline = "No verb follows its subject and another noun"
    if shown:
        means = kit.pick(rows, distractors=shown[0])[["share", "nearest"]].mean()
        subject, nearest = (f"{100 * means[name]:.0f}%" for name in ("share", "nearest"))
        headline = f"Of a verb's attention to nouns, subjects get {subject}, the nearest {nearest}"
    return kit.page(sources, headline, grids, legend=legend, width=kit.COLUMN)


# How well probes parse by attention, after Table 3 of Clark et al. (2019).

NAMES = {
    declared.ATTENTION_AND_WORDS: "Attention and words",
    declared.ATTENTION: "Attention",
    declared.DISTANCES_AND_WORDS: "Distances and words",
    declared.DISTANCES: "Distances",
    declared.OFFSET: "Best fixed offset",
    declared.NEXT: "Next word",
}
"""Probes from the top, and what the figure calls them."""
_COLOURS = {name: kit.MARK if "Attention" in name else kit.BAND for name in NAMES.values()}
_PROBE_LOOKS = {
    "random": kit.dot(kit.INK, "x", markeredgewidth=0.9),
    "shuffled": kit.dot(kit.INK, "|", 8.0, markeredgewidth=1.2),
}


def draw_attention_probes(sources: kit.Sources) -> kit.Figure:
    """Draw the attachment scores of all probes, and of the controls of those of attention."""
    table = kit.pick(sources.table(declared.ATTENTION_PROBES), state="pretrained")
    table = table.assign(name=table["probe"].map(NAMES))
    for name in NAMES:
        kit.pick(table, probe=name)

    def scores(axes: kit.Axes, _: str) -> None:
        bars = {"x": "uas", "y": "name", "hue": "name", "palette": _COLOURS, "saturation": 1}
        order = list(NAMES.values())
        sns.barplot(table, order=order, errorbar=None, width=0.7, legend=False, ax=axes, **bars)
        look = kit.dot(kit.INK, size=2.5)
        places: dict[str, Any] = {"at": "probe", "places": NAMES}
        kit.intervals(axes, table, "uas", {"": look}, ends=("uas_low", "uas_high"), **places)
        for name, mark in _PROBE_LOOKS.items():
            kit.intervals(axes, table, name, {"": mark}, **places)
        for row in table.to_dict("records"):
            end = row["uas"] if np.isnan(row["uas_high"]) else row["uas_high"]
            place = list(NAMES).index(row["probe"])
            axes.text(end + 0.015, place, f"{row['uas']:.2f}", va="center")
        axes.set_xlim(0, 1.12)
        axes.set_xticks([0, 0.2, 0.4, 0.6, 0.8, 1])

    names = "untrained", "words of the trees exchanged"
    legend = dict(zip(names, _PROBE_LOOKS.values(), strict=True))
    panels = [[kit.Panel(scores, x="Share of heads of words found (UAS)", height=1.2, fixed=True)]]
    found = table.set_index("probe")["uas"]
    probes = (declared.ATTENTION, declared.DISTANCES_AND_WORDS, declared.ATTENTION_AND_WORDS)
    alone, words, both = (f"{100 * found[name]:.0f}%" for name in probes)
    headline = f"Attention finds {alone} of words' heads, words and distances {words}, all {both}"
    return kit.page(sources, headline, kit.Grid([""], panels), legend=legend)


# How well heads find antecedents, after Table 2 of Clark et al. (2019).

_BEST_METHOD = {declared.BEST_HEAD: kit.dot(kit.MARK, zorder=4)}
_METHOD_CHANCE = {declared.BEST_HEAD: kit.dot(kit.GREY, "x", 3.5, markeredgewidth=0.8)}
_OTHER_METHODS = {
    declared.NEAREST: kit.dot("white", "<", 3.5, markeredgecolor=kit.BASELINE, markeredgewidth=0.8),
    declared.DISTANCE: kit.dot(kit.BASELINE, "|", 9.0, markeredgewidth=1.6),
    declared.HEAD_MATCH: kit.dot("white", "D", 3.5, markeredgecolor=kit.INK, markeredgewidth=0.8),
    declared.RULES: kit.dot("white", "s", 3.5, markeredgecolor=kit.INK, markeredgewidth=0.8),
}
"""Methods without a model, and their marks."""
_METHOD_NAMES = {
    declared.NEAREST: "last expression",
    declared.DISTANCE: "best fixed distance",
    declared.HEAD_MATCH: "same head word",
    declared.RULES: "rules",
}
_HEADS = {"All expressions": ALL, "Pronouns": declared.PRONOUN}
"""Kinds whose heads are drawn."""


def draw_coreference_heads(sources: kit.Sources) -> kit.Figure:
    """Draw the best head beside other methods for each kind of expression, and all heads.

    Dots are on heads that exceed all controls.
    """
    methods = sources.table(declared.COREFERENCE_METHODS)
    heads = kit.pick(sources.table(declared.COREFERENCE_HEADS), state="pretrained")
    trained, random = kit.pick(methods, state="pretrained"), methods[methods["state"] == RANDOM]
    kinds = [kind for kind in (ALL, *declared.EXPRESSIONS) if kind in set(trained["kind"])]
    places = {kind: f"{kind.capitalize()}s" for kind in kinds} | {ALL: "All expressions"}

    def compared(axes: kit.Axes, _: str) -> None:
        where: dict[str, Any] = {"at": "kind", "places": places, "by": "method"}
        ends = ("accuracy_low", "accuracy_high")
        kit.intervals(axes, trained, "accuracy", _OTHER_METHODS, **where)
        kit.intervals(axes, random, "accuracy", _METHOD_CHANCE, **where)
        kit.intervals(axes, trained, "accuracy", _BEST_METHOD, ends=ends, **where)
        axes.set_xlim(-0.02, 1.02)

    def draw_kind(axes: kit.Axes, name: str) -> kit.QuadMesh:
        rows = kit.pick(heads, kind=_HEADS[name])
        mesh = kit.matrix(axes, kit.grid(rows, "accuracy"), kit.WEIGHT, 1, 0)
        kit.mark(axes, kit.grid(rows, "p_family") < LEVEL, markersize=3)
        return mesh

    height = 0.2 * len(kinds) + 0.35
    above = kit.Panel(compared, x="Share of right antecedents", height=height, fixed=True)
    bar = kit.Bar("right antecedents")
    below = kit.Panel(draw_kind, "heads", x="Head", y="Layer", height=1.3, share="columns", bar=bar)
    names = "best head", "best head, untrained"
    legend = dict(zip(names, (*_BEST_METHOD.values(), *_METHOD_CHANCE.values()), strict=True))
    legend |= {_METHOD_NAMES[method]: look for method, look in _OTHER_METHODS.items()}
    shown = [name for name, kind in _HEADS.items() if kind in kinds]
    every = kit.pick(trained, kind=ALL).set_index("method")["accuracy"]
    head, rules = (f"{100 * every[name]:.0f}%" for name in (declared.BEST_HEAD, declared.RULES))
    headline = f"The best head finds {head} of the antecedents, rules {rules}"
    grids = kit.Grid([""], above), kit.Grid(shown, below)
    return kit.page(sources, headline, *grids, legend=legend, width=kit.COLUMN)


_SAME = {"obj": "dobj"}
"""Labels of Universal Dependencies, and what Clark et al. call them."""


def gain_over_offset(syntactic_heads: pd.DataFrame) -> pd.DataFrame:
    """By how much the best head of every relation exceeds the best offset.

    Args:
        syntactic_heads: The table.

    Returns:
        Columns ``state``, ``seed``, ``label``; ``value``, with ``low`` and ``high``.
    """
    best = syntactic_heads[syntactic_heads["selected"]]
    found = named(best, "over_offset")[["state", "seed", "label", *ESTIMATE]]
    return found.assign(label=found["label"].replace(_SAME))


def tests_of_relations(syntactic_heads: pd.DataFrame) -> pd.DataFrame:
    """The q-value of the best head of every single relation, if all controls could be made.

    Args:
        syntactic_heads: The table.

    Returns:
        Columns ``state``, ``seed``, ``label``; ``value``, with ``low`` and ``high``: 0 and the
        value.
    """
    best = syntactic_heads[
        syntactic_heads["selected"]
        & (syntactic_heads["label"] != ALL)
        & (syntactic_heads["syntactic"] != OPEN)
    ]
    found = best.assign(value=best["q_value"], low=0.0, high=best["q_value"])
    return found[["state", "seed", "label", *ESTIMATE]]


def subjects(distractors: pd.DataFrame) -> pd.DataFrame:
    """By how much the subject's share of a verb's weight exceeds controls, over all layers.

    Args:
        distractors: The table.

    Returns:
        Columns ``state``, ``seed``, ``control``; ``value``, with ``low`` and ``high``.
    """
    controls = [
        _encoder_rows(distractors, ANY, f"over_{control}").assign(control=control)
        for control in ("uniform", "places", "rank")
    ]
    return pd.concat(controls, ignore_index=True)[["state", "seed", "control", *ESTIMATE]]


def _encoder_rows(distractors: pd.DataFrame, count: str, column: str) -> pd.DataFrame:
    """Rows of all layers together, with what exceeds a control and its interval."""
    rows = distractors[distractors["layer"].isna() & (distractors["distractors"] == count)]
    return named(rows, column)
