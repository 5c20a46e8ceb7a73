"""Made-up tables for the claims that `darksecrets.beyond.compression` decides."""

import pandas as pd
from claim_tables import NO, ON, OPEN, SEEDS, YES, Frames, whole

from darksecrets.pages.claims.answers import Answer


def compressed(
    method: str, rte: float, mrpc: float, half: float, value: str, smaller: float = 3.9
) -> Frames:
    """What models of two tasks retain, ± half, and how much smaller they are."""
    ends = {"delta": ("ci_low", "ci_high")}.get(value, (f"{value}_low", f"{value}_high"))
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "method": method}
        | {"amount": amount if method != "8 bits" else 0, "smaller": smaller, value: number - far}
        | {ends[0]: number - far - half, ends[1]: number - far + half}
        for task, number in (("RTE", rte), ("MRPC", mrpc))
        for metric in ON[task]
        for seed in SEEDS
        for amount, far in ((0.4, 30 if metric == "accuracy" and task == "MRPC" else 0), (0.7, 50))
        if method != "8 bits" or amount == 0.4
    ]
    return whole({"compression": pd.DataFrame(rows)})


def eight(rte: float, mrpc: float, half: float, smaller: float = 3.9) -> Frames:
    return compressed("8 bits", rte, mrpc, half, "retention", smaller)


def zeros(rte: float, mrpc: float, half: float) -> Frames:
    return compressed("weights set to 0", rte, mrpc, half, "delta")


CASES: dict[str, dict[Answer, Frames]] = {
    "X1": {YES: eight(99.8, 100, 0.3), NO: eight(99.8, 97, 0.3), OPEN: eight(99.8, 99.1, 0.3)},
    "X2": {YES: zeros(0, -0.2, 0.4), NO: zeros(0, -4, 0.4), OPEN: zeros(0, -1.1, 0.4)},
}

ALSO = [
    ("X1", NO, eight(99.8, 100, 0.3, smaller=2.0))  # not smaller
]
