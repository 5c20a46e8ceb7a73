"""Made-up tables for the claims that `darksecrets.beyond.subnetworks` decides."""

import pandas as pd
from claim_tables import NO, ON, OPEN, SEEDS, YES, Frames, whole

from darksecrets.pages.claims.answers import Answer


def scores(
    good: float,
    bad: float,
    half: float,
    *,
    again: float = -10,
    same: bool = True,
    chance: float = 50,
) -> Frames:
    """Differences to random subnetworks in points; and of bad ones that are trained again.

    Good ones that are trained again score 82, three points below the whole model.
    """
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "subnetwork": kind}
        | {"trained": trained, "same_size": same or kind != "bad", "over_random": over}
        | {"over_random_low": over - half, "over_random_high": over + half}
        | {"delta": delta, "ci_low": delta - 2, "ci_high": delta + 2}
        | {"baseline": 85, "chance": chance}
        for task in ON
        for metric in ON[task]
        for seed in SEEDS
        for kind, value, later in (("good", good, -3), ("bad", bad, again), ("random", 99, -5))
        for over in (99 if metric == "f1" else value,)
        for trained, delta in (("as it is", -20), ("re-trained", later))
    ]
    return whole({"subnetwork_scores": pd.DataFrame(rows)})


def kappa(rte: float, mrpc: float, half: float) -> Frames:
    """Of two tasks, whose MLPs agree perfectly."""
    rows = [
        {"task": task, "part": part, "seeds": 3, "kappa": value}
        | {"ci_low": value - half, "ci_high": value + half}
        for task, of_heads in (("RTE", rte), ("MRPC", mrpc))
        for part, value in (("head", of_heads), ("MLP", 1.0))
    ]
    return whole({"subnetwork_agreement": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "L2": {YES: scores(20, -10, 5), NO: scores(-20, -10, 5), OPEN: scores(20, -3, 9)},
    "L3": {
        YES: scores(20, -10, 5, again=-7),
        NO: scores(20, -10, 5, again=-40),
        OPEN: scores(20, -10, 5, again=-17),
    },
    "L4": {YES: kappa(0.2, 0.1, 0.1), NO: kappa(0.2, 0.8, 0.1), OPEN: kappa(0.2, 0.35, 0.1)},
}

ALSO = [
    ("L2", OPEN, scores(20, -10, 5, same=False)),  # a rest that is too small
    ("L3", OPEN, scores(20, -10, 5, same=False)),
    ("L3", OPEN, scores(20, -10, 5, again=-3, chance=82)),  # neither has learned the task again
    ("L4", OPEN, kappa(float("nan"), float("nan"), 0.1)),  # one seed
]
