"""Made-up tables for the claims that `darksecrets.beyond.predictions` decides."""

import pandas as pd
from claim_tables import NO, OPEN, YES, Frames, whole

from darksecrets.beyond.predictions.declared import ANY, PROJECTIVE
from darksecrets.pages.claims.answers import Answer


def agreement(accuracy: list[float], over: list[float], half: float = 0.05) -> Frames:
    """Accuracy, and that over bigrams, by number of attractors; another phenomenon is lower."""
    rows = [
        {"state": "pretrained", "seed": pd.NA, "phenomenon": phenomenon, "attractors": number}
        | {"accuracy": share - less, "accuracy_low": share - less - half}
        | {"accuracy_high": share - less + half, "over_bigrams": more - less}
        | {"over_bigrams_low": more - less - half, "over_bigrams_high": more - less + half}
        for phenomenon, less in (("agreement", 0), ("other", 0.9))
        for number, (share, more) in enumerate(zip(accuracy, over, strict=True))
    ]
    return whole({"minimal_pairs": pd.DataFrame(rows)})


def impact(over_chain: float, half: float = 0.03, random: float = 0.3) -> Frames:
    """Trees of both kinds, of the encoder and of one with random weights; chains have .5."""
    rows = [
        {"task": "", "state": state, "seed": seed, "tree": tree}
        | {"uuas": uuas - less, "uuas_low": uuas - less - half, "uuas_high": uuas - less + half}
        | {"over_chain": uuas - less - 0.5, "over_chain_low": uuas - less - 0.5 - half}
        | {"over_chain_high": uuas - less - 0.5 + half}
        for state, seed, uuas in (("pretrained", pd.NA, 0.5 + over_chain), ("random", 1, random))
        for tree, less in ((PROJECTIVE, 0), (ANY, 0.3))
    ]
    return whole({"trees": pd.DataFrame(rows)})


def answered(first: float, half: float = 0.05) -> Frames:
    """How often the right word is first in facts, whose most frequent answer has .25."""
    rows = [
        {"state": "pretrained", "seed": pd.NA, "set": group, "condition": None, "majority": 0.25}
        | {"first": share, "first_low": share - half, "first_high": share + half, "same": None}
        for group, share in (("facts", first), ("other", 0.0))
    ]
    return whole({"cloze": pd.DataFrame(rows)})


def conditions(condition: str, same: float, half: float = 0.05, first: float = 0.5) -> Frames:
    """How often the first word stays the same under a condition; never under another.

    Without a condition, it is right in a share of sentences, of which a quarter have one word.
    """
    fixed = {"state": "pretrained", "seed": pd.NA, "set": "facts", "majority": 0.25}
    right = {"first": first, "first_low": first - half, "first_high": first + half}
    rows = [fixed | right | {"condition": "plain"}] + [
        fixed
        | {"condition": name, "same": share, "same_low": share - half, "same_high": share + half}
        for name, share in ((condition, same), ("other", 1 - same))
    ]
    return whole({"cloze": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "M1": {
        YES: agreement([0.9, 0.8, 0.7], [0.1, 0.3, 0.3]),
        NO: agreement([0.9, 0.8, 0.3], [0.1, 0.3, 0.3]),
        OPEN: agreement([0.9, 0.8, 0.52], [0.1, 0.3, 0.3]),
    },
    "M3": {YES: answered(0.4), NO: answered(0.1), OPEN: answered(0.27)},
    "M4": {
        YES: conditions("negated", 0.8),
        NO: conditions("negated", 0.2),
        OPEN: conditions("negated", 0.52),
    },
    "M5": {
        YES: conditions("reversed", 0.2),
        NO: conditions("reversed", 0.8),
        OPEN: conditions("reversed", 0.48),
    },
    "M2": {YES: impact(0.1), NO: impact(-0.1), OPEN: impact(0.01)},
}

ALSO = [
    ("M1", NO, agreement([0.9, 0.8, 0.7], [-0.2, 0.3, 0.3])),  # bigrams know more
    ("M2", NO, impact(0.1, random=0.8)),  # random weights know more
    # An encoder that says one word whatever the sentence.
    ("M4", OPEN, conditions("negated", 1.0, first=0.25)),
    ("M5", OPEN, conditions("reversed", 1.0, first=0.25)),
]
