"""Made-up tables for the claims that `darksecrets.beyond.redundancy` decides."""

import itertools

from claim_tables import NO, OPEN, TASKS, YES, Frames, among, together

from darksecrets.pages.claims.answers import Answer


def near(value: float, random: float = 0.0, p: float = 0.001, last: float | None = None) -> Frames:
    """Differences of the pre-trained and the random encoder, ± 0.01, and p-values."""
    states = (("pretrained", value, p), ("random", random, 1.0), ("finetuned", 9.0, 1.0))
    parts = [(found, {"state": state, "p_value": p_value}) for state, found, p_value in states]
    more = {"each": ("task",), "things": TASKS, "pairs": "same layer", "half": 0.01}
    found = among("redundancy", "difference", *parts, **more)
    table = found["redundancy"]
    if last is not None:
        is_last = (table["task"] == TASKS[-1]) & (table["state"] == "pretrained")
        table.loc[is_last, "p_value"] = last
    return found


def counted(
    kinds: tuple[str, ...], value: float, random: float = 0, layers: tuple[float, ...] = ()
) -> Frames:
    """Numbers of heads of the whole encoder, or of its layers, ± 1, of every task."""
    parts = [
        (heads, {"state": state, "layer": layer})
        for state, number in (("pretrained", value), ("random", random), ("finetuned", 99))
        for layer, heads in ((None, number), *enumerate(layers, start=1))
    ]
    every = list(itertools.product(TASKS, kinds))
    more = {"each": ("task", "type"), "things": every, "half": 1}
    return among("head_type_counts", "heads", *parts, **more)


BESIDE, BROAD = ("next", "previous"), ("broad for its length",)


CASES: dict[str, dict[Answer, Frames]] = {
    "B1": {YES: near(-0.1), NO: near(0.1), OPEN: near(-0.1, p=0.2)},
    "B2": {
        YES: counted(BESIDE, 6, 1),
        NO: together(counted(("next",), 6, 1), counted(("previous",), 1, 6)),
        OPEN: counted(BESIDE, 6, 6),
    },
    "B3": {
        YES: counted(("[SEP]",), 9, 0),
        NO: counted(("[SEP]",), 0, 9),
        OPEN: counted(("[SEP]",), 1, 1),
    },
    "B4": {
        YES: counted(BROAD, 9, 0, (9, 8, 1, 1)),
        NO: counted(BROAD, 9, 0, (1, 1, 8, 9)),
        OPEN: counted(BROAD, 9, 0, (4, 4, 4, 4)),
    },
}

ALSO = [
    ("B1", OPEN, near(-0.1, random=-0.1)),  # random weights do the same
    ("B1", OPEN, near(-0.1, last=0.2)),  # not in every task
]
