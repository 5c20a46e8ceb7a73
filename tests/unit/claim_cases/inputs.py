"""Made-up tables for the claims that `darksecrets.beyond.inputs` decides."""

import pandas as pd
from claim_tables import NO, OPEN, SEEDS, YES, Frames, whole

from darksecrets.beyond.inputs.declared import HALVED, NO_SUBJECT, OTHER_NAMES, SHUFFLED
from darksecrets.pages.claims.answers import Answer


def unchanged(change: str, rte: float, mrpc: float, half: float, chance: float = 0.6) -> Frames:
    """The share of decisions of two tasks that a change leaves as they are."""
    rows = [
        {"task": task, "seed": seed, "change": change, "by_chance": chance, "unchanged": share}
        | {"unchanged_low": share - half, "unchanged_high": share + half}
        for task, share in (("RTE", rte), ("MRPC", mrpc))
        for seed in SEEDS
    ]
    return whole({"changed_inputs": pd.DataFrame(rows)})


def kept(change: str) -> dict[Answer, Frames]:
    return {
        YES: unchanged(change, 0.9, 0.95, 0.03),
        NO: unchanged(change, 0.9, 0.65, 0.03),
        OPEN: unchanged(change, 0.9, 0.81, 0.03),
    }


def heuristics(lexical: float, constituent: float, half: float = 0.03) -> Frames:
    """The share of right answers by heuristic; where the heuristics are right, all of them."""
    rows = [
        {"task": task, "seed": seed, "heuristic": name, "label": label, "accuracy": share}
        | {"accuracy_low": share - half, "accuracy_high": share + half}
        for task in ("RTE", "MNLI")
        for seed in SEEDS
        for name, wrong in (("lexical_overlap", lexical), ("constituent", constituent))
        for label, share in (("entailment", 0.95), ("non-entailment", wrong))
    ]
    return whole({"hans": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "I1": kept(SHUFFLED),
    "I2": kept(HALVED),
    "I3": kept(NO_SUBJECT),
    "I5": {YES: heuristics(0.1, 0.2), NO: heuristics(0.1, 0.7), OPEN: heuristics(0.1, 0.49)},
    "I4": {
        YES: unchanged(OTHER_NAMES, 0.8, 0.85, 0.03),
        NO: unchanged(OTHER_NAMES, 0.8, 0.99, 0.005),
        OPEN: unchanged(OTHER_NAMES, 0.8, 0.96, 0.03),
    },
}

ALSO = [
    ("I1", NO, unchanged(SHUFFLED, 0.95, 0.95, 0.01, chance=0.95)),  # as many by chance
]
