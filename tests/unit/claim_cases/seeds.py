"""Made-up tables for the claims that `darksecrets.seeds` decides."""

from collections.abc import Sequence

import pandas as pd
from claim_tables import NO, OPEN, YES, Frames, whole

from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Run

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


def cells(*of_tasks: Sequence[float]) -> Frames:
    """Final scores by start, of both orders; after the first epoch, the reverse."""
    return rows(
        "seed_grid",
        *(
            {"task": task, "metric": "accuracy", "init_seed": start, "order_seed": order}
            | {"epoch": epoch, "score": score + order if epoch == 2 else -score}
            for task, scores in zip(ON, of_tasks, strict=False)
            for start, score in enumerate(scores)
            for order in (1, 2)
            for epoch in (1, 2)
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


GOOD = [1.0, 2.0, 4.0, 3.0]


CASES: dict[str, dict[Answer, Frames]] = {
    "G1": {YES: gains(4, 3), NO: gains(4, 0), OPEN: gains(4, 1.5)},
    "G2": {YES: variances(4, 4, 0.01), OPEN: variances(4, 4, 0.06)},
    "G3": {YES: variances(4, 4), NO: variances(40, 0.1), OPEN: variances(4, 4, levels=3)},
    "G4": {YES: cells(GOOD, GOOD, GOOD), OPEN: cells(GOOD, [2, 1, 3, 4], [4, 3, 2, 1])},
    "G5": {YES: stopping(0.01, 0.04), OPEN: stopping(0.01, 0.06)},
}
