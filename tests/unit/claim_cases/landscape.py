"""Made-up tables for the claims that `darksecrets.beyond.landscape` decides."""

import pandas as pd
from claim_tables import NO, ON, OPEN, SEEDS, YES, Frames, whole

from darksecrets.beyond.landscape.declared import STATES
from darksecrets.pages.claims.answers import Answer


def reset(lower: float, upper: float, mrpc: float | None = None, half: float = 0.5) -> Frames:
    """Effects of thirds of six layers; of MRPC's accuracy, another one of the claimed third."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "kind": kind}
        | {"first_layer": first, "last_layer": first + 1, "delta": value}
        | {"ci_low": value - half, "ci_high": value + half}
        for task in ON
        for metric in ON[task]
        for seed in SEEDS
        for kind, more in (("third", 0), ("layer", -50))
        for first, effect in ((5, upper), (1, lower), (3, -3.0))
        for value in (
            (-99.0 if metric == "f1" else mrpc if mrpc is not None and task == "MRPC" else effect)
            + more,
        )
    ]
    return whole({"reset_layers": pd.DataFrame(rows)})


def flat(
    *ratios: float, loss: float = 0.2, half: float = 0.02, tasks: tuple[str, ...] = tuple(ON)
) -> Frames:
    """Numbers around models from random weights, as multiples of those from pre-trained ones.

    Args:
        ratios: By seed.
        loss: Of all models; that of constant output is 0.69.
        half: Half the widths of intervals, as a share.
        tasks: The tasks.
    """
    rows = [
        {"task": task, "state": state, "seed": seed, "rise": 3.0 * times}
        | {"rise_low": 3.0 * times * (1 - half), "rise_high": 3.0 * times * (1 + half)}
        | {"loss": loss, "constant_loss": 0.69}
        for task in tasks
        for seed, ratio in zip(SEEDS, ratios, strict=False)
        for state, times in zip(STATES, (1, ratio), strict=True)
    ]
    return whole({"flatness": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "R1": {YES: reset(-0.2, -9), NO: reset(-0.2, -9, -8), OPEN: reset(-0.2, -9, -1.2)},
    "R2": {YES: reset(0, -9), NO: reset(0, -9, 3), OPEN: reset(0, -9, -1.2)},
    "R4": {YES: flat(4, 5, 4.5), NO: flat(0.2, 0.3, 0.25), OPEN: flat(4, 0.3, 2)},
}
