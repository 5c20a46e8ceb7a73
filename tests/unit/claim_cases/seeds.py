"""Made-up tables for the claims that `darksecrets.beyond.seeds` decides."""

import pandas as pd
from claim_tables import NO, OPEN, YES, Frames, whole

from darksecrets.pages.claims.answers import Answer
from darksecrets.pages.claims.sources import Run

ON = ("RTE", "QNLI", "SST-2")
ONE_SEED = Run(dict.fromkeys(ON, ("accuracy",)), dict.fromkeys(ON, (1,)))


def rows(table: str, *made: dict[str, object]) -> Frames:
    return whole({table: pd.DataFrame(made)})


def gains(*values: float, half: float = 1.0) -> Frames:
    """Of three draws, of which only four runs are asked for; a second metric says the opposite."""
    return rows(
        "expected_maximum",
        *(
            {"task": task, "metric": metric, "drawn": drawn, "gain": gain}
            | {"gain_low": gain - half, "gain_high": 100 - 70.0 if value else 0.5}
            for task, value in zip(ON, values, strict=False)
            for metric, sign in (("accuracy", 1), ("f1", -1))
            for drawn in (3, 4, 9)
            for gain in (value * sign if drawn == 4 else -value * sign,)
        ),
    )


def variances(start: float, order: float, p: float = 0.5, levels: int = 25) -> Frames:
    free = levels - 1
    parts = (("init", start, free), ("order", order, free), ("residual", 0.5, free**2))
    return rows(
        "seed_variance",
        *(
            {"task": task, "metric": "accuracy", "component": name, "degrees": degrees}
            | {"variance": value, "p_value": None if name == "residual" else p}
            for task in ON
            for name, value, degrees in parts
        ),
    )


def stopping(*p_values: float, epochs: int = 3) -> Frames:
    """p-values of the last epoch in the first third; those of others are 0."""
    return rows(
        "early_stopping",
        *(
            {"task": task, "metric": "accuracy", "epoch": epoch}
            | {"p_value": p if epoch == epochs // 3 else 0.0}
            for task, p in zip(ON, p_values, strict=False)
            for epoch in range(1, epochs)
        ),
    )


CASES: dict[str, dict[Answer, Frames]] = {
    "G1": {YES: gains(4, 3), NO: gains(4, 0), OPEN: gains(4, 1.5)},
    "G2": {YES: variances(4, 4, 0.01), OPEN: variances(4, 4, 0.06)},
    "G5": {YES: stopping(0.01, 0.04), OPEN: stopping(0.01, 0.06)},
}
