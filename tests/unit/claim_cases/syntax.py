"""Made-up tables for the claims that `darksecrets.beyond.syntax` decides."""

from functools import reduce

import pandas as pd
from claim_tables import NO, OPEN, YES, Frames, among

from darksecrets.pages.claims.answers import Answer

HEADS = "syntactic_heads"


def best(label: str, value: float) -> Frames:
    """The best head of a label, ± 0.05; beside others that do not count."""
    parts = (
        (value, {"state": "pretrained", "selected": True}),
        (-0.9, {"state": "pretrained", "selected": False}),
        (-0.9, {"state": "random", "selected": True}),
    )
    return among(HEADS, "over_offset", *parts, half=0.05, seed=None, label=label)


def verdicts(*found: tuple[str, float, str]) -> Frames:
    """Best heads of labels: q-values and verdicts."""
    parts = [(q, {"label": label, "syntactic": verdict}) for label, q, verdict in found]
    return among(HEADS, "q_value", *parts, state="pretrained", seed=None, selected=True)


def tree(value: float) -> Frames:
    """The best head's tree, ± 0.05; beside other heads and random weights."""
    parts = (
        (value, {"state": "pretrained", "selected": True}),
        (0.9, {"state": "pretrained", "selected": False}),
        (0.9, {"state": "random", "selected": True}),
    )
    return among("attention_trees", "over_chain", *parts, half=0.05, seed=None)


def nouns(**by_number: float) -> Frames:
    """What verbs give to their subjects over every control, ± 0.02; beside single layers."""
    counts = {"any": ("any", 0.4), "one": ("1", 0.5), "two": ("2", 0.25)}
    parts = [
        (found, {"state": state, "layer": layer, "distractors": count, "uniform": uniform})
        for name, value in by_number.items()
        for count, uniform in (counts[name],)
        for state, layer, found in (
            ("pretrained", None, value),
            ("pretrained", 1, -0.5),
            ("random", None, -0.5),
        )
    ]
    every = [
        among("distractors", f"over_{control}", *parts, half=0.02, seed=None)["distractors"]
        for control in ("uniform", "places", "rank")
    ]
    return {"distractors": reduce(pd.merge, every)}


CASES: dict[str, dict[Answer, Frames]] = {
    "S1": {YES: best("all", 0.02), NO: best("all", 0.2), OPEN: best("all", 0.12)},
    "S2": {YES: best("det", 0.4), NO: best("det", -0.1), OPEN: best("det", 0.02)},
    "S3": {YES: best("obj", 0.4), NO: best("dobj", -0.1), OPEN: best("dobj", 0.02)},
    "S4": {
        YES: verdicts(
            ("all", 0.9, "no"), ("det", 0.9, "open"), ("dobj", 0.01, "yes"), ("nsubj", 0.9, "no")
        ),
        OPEN: verdicts(("all", 0.001, "yes"), ("det", 0.001, "open"), ("dobj", 0.2, "no")),
    },
    "T1": {YES: tree(0.02), NO: tree(0.2), OPEN: tree(0.12)},
    "D1": {YES: nouns(any=0.1), NO: nouns(any=-0.1), OPEN: nouns(any=0.01)},
}


METHODS, PROBES = "coreference_methods", "attention_probes"


def of_table(table: str, column: str, value: float, **where: object) -> Frames:
    """A row of the pre-trained model, ± 0.05; and one of random weights, which does not count."""
    parts = ((value, {"state": "pretrained", "seed": None}), (-0.9, {"state": "random", "seed": 1}))
    return among(table, column, *parts, half=0.05, **where)


def around(border: float, table: str, column: str, **where: object) -> dict[Answer, Frames]:
    """Tables that decide a number to be above a border, below it, and neither."""
    values = {YES: border + 0.1, NO: border - 0.1, OPEN: border + 0.02}
    return {answer: of_table(table, column, value, **where) for answer, value in values.items()}


CASES |= {
    "S5": around(0.1, METHODS, "gain", kind="all", method="head match"),
    "S6": around(-0.1, METHODS, "gain", kind="all", method="rules"),
    "S8": around(0, PROBES, "over_offset", probe="attention"),
    "S9": around(0, PROBES, "over_words", probe="attention and words"),
}
