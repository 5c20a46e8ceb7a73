"""Made-up tables for the claims that `darksecrets.beyond.importance` decides."""

import pandas as pd
from claim_tables import NO, ON, OPEN, SEEDS, YES, Frames, whole

from darksecrets.pages.claims.answers import Answer


def pruned(
    rte: int, mrpc: int, delta: float = 0.2, half: float = 0.5, chosen_on: int = 100
) -> Frames:
    """Of 36 heads, those chosen in one order and in another; the validation score changes alike.

    What the validation set itself tolerates is the opposite, and decides nothing.
    """
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "order": order}
        | {"tolerance": 1.0, "chosen_on": chosen_on, "removed": removed, "share": removed / 36}
        | {"delta": change, "ci_low": change - half, "ci_high": change + half}
        for task, number in (("RTE", rte), ("MRPC", mrpc))
        for metric in ON[task]
        for seed in SEEDS
        for order, less, change in (("absolute gradient", 0, delta), ("greedy", 9, -8.0))
        for removed in (max(0, number - less - (30 if metric == "f1" else 0)),)
    ]
    smaller = pd.DataFrame(rows)
    tolerated = 36 - smaller["removed"]
    ends = {"ci_low": tolerated - 2, "ci_high": tolerated + 2}
    by_validation = smaller.assign(heads=36, largest=tolerated, **ends)
    return whole({"smaller_models": smaller, "pruned_heads": by_validation})


def needs(fine: int, sure: int, bad: int) -> Frames:
    """Of ten layers, how many may keep one head, for how many this is sure, or refuted."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "layer": layer}
        | {"kept": kept, "tolerance": 1.0, "tolerated": layer <= fine, "noninferior": layer <= sure}
        | {"ci_low": -0.5 if layer <= sure else -2.0, "ci_high": -1.5 if layer > 10 - bad else 0.5}
        for task in ON
        for metric in ON[task]
        for seed in SEEDS
        for layer in range(1, 11)
        for kept in (1, 2)
    ]
    return whole({"layer_needs": pd.DataFrame(rows)})


def structure(rte: float, mrpc: float, half: float) -> Frames:
    """Correlations of importance with the share of heterogeneous maps, and with others."""
    rows = [
        {"task": task, "definition": definition, "measured": "finetuned", "spearman": value}
        | {
            "measure": f"pattern_heads.share.{kind}",
            "ci_low": value - half,
            "ci_high": value + half,
        }
        for task, value in (("RTE", rte), ("MRPC", mrpc))
        for definition in ("absolute gradient", "leave-one-out loss")
        for kind in ("heterogeneous", "block")
    ]
    return whole({"important_heads": pd.DataFrame(rows)})


def gates(rte: float, mrpc: float, half: float = 0.5, baseline: float = 80) -> Frames:
    """Differences at a penalty that leaves a quarter of the heads; others are far off.

    The most frequent label has a score of 60.
    """
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "penalty": penalty}
        | {"chosen_by": chosen_by, "weights": weights, "share": share, "delta": delta + more}
        | {"ci_low": delta + more - half, "ci_high": delta + more + half}
        | {"baseline": baseline, "chance": 60}
        for task, delta in (("RTE", rte), ("MRPC", mrpc))
        for metric in ON[task]
        for seed in SEEDS
        for penalty, share, over in ((0.01, 0.5, 3), (0.03, 0.25, 0), (0.1, 0.1, -20))
        for chosen_by, worse in (("learned", 0), ("random", -30))
        for weights, last in (("trained on", 0), ("fine-tuned", -40))
        for more in (over + worse + last - 9 * (metric == "f1"),)
    ]
    return whole({"learned_gates": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "P1": {YES: pruned(20, 24), NO: pruned(20, 8), OPEN: pruned(20, 24, -0.8)},
    "L1": {
        YES: structure(0.05, -0.05, 0.1),
        NO: structure(0.05, -0.7, 0.2),
        OPEN: structure(0.05, -0.2, 0.2),
    },
    "V2": {YES: gates(-0.2, 0.5), NO: gates(-0.2, -4), OPEN: gates(-0.2, -0.8)},
    "P2": {YES: needs(8, 7, 1), NO: needs(2, 1, 7), OPEN: needs(7, 2, 1)},
}

ALSO = [
    ("V2", OPEN, gates(-0.2, 0.5, baseline=60)),  # training on has failed
    ("P1", NO, pruned(30, 30, -6.0)),  # only the training examples tolerate them
    ("P1", OPEN, pruned(0, 0, chosen_on=0)),  # all of them made the orders
]
