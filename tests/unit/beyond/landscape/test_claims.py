"""Claims about reset layers: their numbers, and tables that decide them each way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from claim_cases.landscape import ON, flat, reset
from claim_tables import OPEN, RUN, SEEDS, decide

from darksecrets.beyond.landscape.shown import flatness_gained, thirds


def test_thirds_are_named_by_their_place_and_scored_by_accuracy():
    found = thirds(reset(-0.5, -7)["reset_layers"])
    assert len(found) == 2 * len(SEEDS) * 3
    mine = found[(found["on"] == "MRPC") & (found["seed"] == 1)].set_index("third")["value"]
    assert mine.to_dict() == {"lower": -0.5, "middle": -3.0, "upper": -7.0}


@pytest.mark.parametrize(
    "frames",
    [flat(4), flat(4, 5, 4.5, loss=0.66), flat(1.1, 0.9, 1.02), flat(4, 5, 4.5, half=0.9)],
    ids=["one seed", "nothing learned", "no difference", "no precision"],
)
def test_flatness_stays_open(frames):
    run = replace(RUN, tasks={task: RUN.tasks[task] for task in ON})
    assert decide("R4", frames, run).answer == OPEN


def test_flatness_is_compared_by_seed():
    found = flatness_gained(flat(4, 5, 4.5, half=0.1)["flatness"])
    assert len(found) == len(ON) * len(SEEDS)
    row = found.query("on == 'RTE' and seed == 2").iloc[0]
    assert row["value"] == pytest.approx((5 - 1) / (5 + 1))
    assert row["low"] == pytest.approx((4.5 - 1.1) / (4.5 + 1.1))
    assert row["high"] == pytest.approx((5.5 - 0.9) / (5.5 + 0.9))
    swapped = flat(1 / 5)["flatness"]
    assert flatness_gained(swapped)["value"].iloc[0] == pytest.approx(-4 / 6)


def test_one_task_that_was_not_learned_is_left_out():
    learned, other = flat(4, 5, 4.5, tasks=("RTE",)), flat(4, 5, 4.5, loss=0.65, tasks=("MRPC",))
    both = pd.concat([learned["flatness"], other["flatness"]], ignore_index=True)
    assert set(flatness_gained(both)["on"]) == {"RTE"}


@pytest.mark.thorough
def test_two_sets_of_seeds_of_one_kind_are_rarely_told_apart():
    """Numbers of both states from one heavy-tailed law: decided in at most 5 % of the trials."""
    rng, trials, decided = np.random.default_rng(3), 60, 0
    run = replace(RUN, tasks={task: RUN.tasks[task] for task in ON})
    for _ in range(trials):
        table = flat(1, 1, 1)["flatness"]
        factor = np.exp(rng.normal(size=len(table)))
        table[["rise", "rise_low", "rise_high"]] *= factor[:, None]
        answer = decide("R4", {"flatness": table}, run).answer
        decided += answer != OPEN
    assert decided <= 6  # more has a probability below 5 % at a rate of 5 %
