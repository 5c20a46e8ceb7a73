"""Made-up tables for the claims that `darksecrets.beyond.faithfulness` decides."""

import numpy as np
from claim_tables import NO, OPEN, TASKS, YES, Frames, among

from darksecrets.pages.claims.answers import Answer


def gradients(lower: float, upper: float, random: float = 1.0) -> Frames:
    """Relative gradients by attention to [SEP] of four layers, ± 0.05."""
    separator = [
        (value, {"state": state, "layer": layer, "kind": "separator"})
        for state, values in (("finetuned", (lower, upper)), ("random", (random, random)))
        for layer in range(1, 5)
        for value in (values[layer > 2],)
    ]
    word = 9.0, {"state": "finetuned", "layer": 4, "kind": "word"}
    more = {"each": ("task",), "things": TASKS, "head": None, "half": 0.05}
    return among("attention_gradients", "relative", *separator, word, **more)


def tau(value: float) -> Frames:
    """Rank correlations of the whole encoder, ± 0.05, beside other rows."""
    parts = (
        (value, {"layer": None, "compared": "weights and gradient"}),
        (0.9, {"layer": None, "compared": "weights and norms"}),
        (-0.9, {"layer": 1, "compared": "weights and gradient"}),
    )
    more = {"each": ("task",), "things": TASKS, "state": "finetuned", "head": None, "half": 0.05}
    return among("faithfulness", "tau", *parts, **more)


def erased(column: str, importance: str, value: float) -> Frames:
    """Differences of erased tokens, ± 0.05, of one importance beside the others."""
    parts = [
        (value if name == importance else 0.9 * -np.sign(value), {"importance": name})
        for name in ("weights", "norms", "gradient", "attention gradient")
    ]
    more = {"each": ("task",), "things": TASKS, "state": "finetuned", "half": 0.05}
    return among("erasure", column, *parts, **more)


CASES: dict[str, dict[Answer, Frames]] = {
    "B5": {YES: gradients(0.9, 0.4), NO: gradients(0.4, 0.9), OPEN: gradients(0.9, 0.4, 0.4)},
    "J1": {YES: tau(0.1), NO: tau(0.7), OPEN: tau(0.5)},
    "E1": {
        YES: erased("over_random", "weights", -0.2),
        NO: erased("over_random", "weights", 0.2),
        OPEN: erased("over_random", "weights", 0.001),
    },
}
