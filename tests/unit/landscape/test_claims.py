"""Claims about restored layers: their numbers, and tables that decide them each way."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from claim_tables import NO, OPEN, RUN, SEEDS, YES, Frames, whole

from darksecrets.claims import deciding, registry
from darksecrets.claims.answers import Answer
from darksecrets.claims.sources import Tables
from darksecrets.contracts import TABLES
from darksecrets.landscape.claims import flatness_gained, thirds, upper_over_lower
from darksecrets.landscape.tables import FILTER, MEASURES, PLAIN, STATES

(PAPER,) = (paper for paper in registry.read(registry.files()) if paper.name == "hao2019")
CLAIMS = {claim.id: claim for claim in PAPER.claims if claim.questions}
ON = {"RTE": ("accuracy",), "MRPC": ("f1", "accuracy")}


def restored(lower: float, upper: float, mrpc: float | None = None, half: float = 0.5) -> Frames:
    """Effects of thirds of six layers; of MRPC's accuracy, another one of the claimed third."""
    rows = [
        {"task": task, "state": "finetuned", "seed": seed, "metric": metric, "kind": kind}
        | {"direction": direction, "first_layer": first, "last_layer": first + 1, "delta": value}
        | {"ci_low": value - half, "ci_high": value + half}
        for task in ON
        for metric in ON[task]
        for seed in SEEDS
        for direction, kind, more in (
            ("restored", "third", 0),
            ("transferred", "third", 50),
            ("restored", "layer", -50),
        )
        for first, effect in ((5, upper), (1, lower), (3, -3.0))
        for value in (
            (-99.0 if metric == "f1" else mrpc if mrpc is not None and task == "MRPC" else effect)
            + more,
        )
    ]
    return whole({"restored_layers": pd.DataFrame(rows)})


def flat(
    *ratios: float, loss: float = 0.2, half: float = 0.02, tasks: tuple[str, ...] = tuple(ON)
) -> Frames:
    """Numbers around models from random weights, as multiples of those from pre-trained ones.

    Plain numbers, of another scale, say the opposite.

    Args:
        ratios: By seed.
        loss: Of all models; that of constant output is 0.69.
        half: Half the widths of intervals, as a share; a sharpness has none.
        tasks: The tasks.
    """
    rows = [
        {"task": task, "state": state, "seed": seed, "split": "train", "scale": scale}
        | {"measure": measure, "value": value, "loss": loss, "constant_loss": 0.69}
        | ({} if measure == "sharpness" else {"ci_low": ends[0], "ci_high": ends[1]})
        for task in tasks
        for seed, ratio in zip(SEEDS, ratios, strict=False)
        for state, times in zip(STATES, (1, ratio), strict=True)
        for measure, unit in zip(MEASURES, (3.0, 0.01, 200.0, 40.0), strict=True)
        for scale, value in ((FILTER, unit * times), (PLAIN, 9 * unit / times))
        for ends in ((value * (1 - half), value * (1 + half)),)
    ]
    return whole({"flatness": pd.DataFrame(rows)})


CASES: dict[str, dict[Answer, Frames]] = {
    "R1": {YES: restored(-0.2, -9), NO: restored(-0.2, -9, -8), OPEN: restored(-0.2, -9, -1.2)},
    "R2": {YES: restored(0, -9), NO: restored(0, -9, 3), OPEN: restored(0, -9, -1.2)},
    "R3": {YES: restored(0, -9), NO: restored(-9, 0), OPEN: restored(-4, -4.4)},
    "R4": {YES: flat(4, 5, 4.5), NO: flat(0.2, 0.3, 0.25), OPEN: flat(4, 0.3, 2)},
}


def test_every_claim_has_its_cases() -> None:
    assert set(CASES) == set(CLAIMS)
    assert all(set(cases) == {YES, NO, OPEN} for cases in CASES.values())


@pytest.mark.parametrize("answer", list(Answer))
@pytest.mark.parametrize("name", CASES)
def test_a_claim_is_decided(name: str, answer: Answer) -> None:
    found = deciding.decide(CLAIMS[name], [], Tables(CASES[name][answer], TABLES), RUN)
    assert found.answer == answer, found
    assert found.reason


@pytest.mark.parametrize("name", CASES)
def test_without_its_tables_a_claim_stays_open(name: str) -> None:
    assert deciding.decide(CLAIMS[name], [], Tables({}, TABLES), RUN).answer == OPEN


def test_thirds_are_named_by_their_place_and_scored_by_accuracy() -> None:
    found = thirds(restored(-0.5, -7)["restored_layers"])
    assert len(found) == 2 * len(SEEDS) * 3
    mine = found[(found["on"] == "MRPC") & (found["seed"] == 1)].set_index("third")["value"]
    assert mine.to_dict() == {"lower": -0.5, "middle": -3.0, "upper": -7.0}


def test_differences_of_thirds_add_half_widths() -> None:
    found = upper_over_lower(restored(-1, -7, half=0.5)["restored_layers"])
    assert len(found) == 2 * len(SEEDS)
    assert found[["value", "low", "high"]].to_numpy().tolist() == [[-6, -7, -5]] * len(found)


@pytest.mark.parametrize(
    "frames",
    [flat(4), flat(4, 5, 4.5, loss=0.66), flat(1.1, 0.9, 1.02), flat(4, 5, 4.5, half=0.9)],
    ids=["one seed", "nothing learned", "no difference", "no precision"],
)
def test_flatness_stays_open(frames: Frames) -> None:
    run = replace(RUN, tasks={task: RUN.tasks[task] for task in ON})
    assert deciding.decide(CLAIMS["R4"], [], Tables(frames, TABLES), run).answer == OPEN


def test_flatness_is_compared_by_seed_without_the_scale_of_weights() -> None:
    found = flatness_gained(flat(4, 5, 4.5, half=0.1)["flatness"])
    assert len(found) == len(ON) * len(SEEDS) * len(MEASURES)
    trace = found.query("on == 'RTE' and measure == 'trace' and seed == 2").iloc[0]
    assert trace["value"] == pytest.approx((5 - 1) / (5 + 1))
    assert trace["low"] == pytest.approx((4.5 - 1.1) / (4.5 + 1.1))
    assert trace["high"] == pytest.approx((5.5 - 0.9) / (5.5 + 0.9))
    sharpness = found.query("on == 'RTE' and measure == 'sharpness' and seed == 2").iloc[0]
    assert sharpness["low"] == sharpness["value"] == sharpness["high"]
    swapped = flat(1 / 5)["flatness"]
    assert flatness_gained(swapped)["value"].iloc[0] == pytest.approx(-4 / 6)


def test_one_task_that_was_not_learned_is_left_out() -> None:
    learned, other = flat(4, 5, 4.5, tasks=("RTE",)), flat(4, 5, 4.5, loss=0.65, tasks=("MRPC",))
    both = pd.concat([learned["flatness"], other["flatness"]], ignore_index=True)
    assert set(flatness_gained(both)["on"]) == {"RTE"}


def test_two_sets_of_seeds_of_one_kind_are_rarely_told_apart() -> None:
    """Numbers of both states from one heavy-tailed law: decided in at most 5 % of the trials.

    The measures of a model go up and down together, as they do around real ones.
    """
    rng, trials, decided = np.random.default_rng(3), 60, 0
    run = replace(RUN, tasks={task: RUN.tasks[task] for task in ON})
    for _ in range(trials):
        table = flat(1, 1, 1)["flatness"]
        model = table.groupby(["task", "state", "seed"], sort=False).ngroup()
        factor = np.exp(rng.normal(size=model.max() + 1))[model]
        factor *= np.exp(0.3 * rng.normal(size=len(table)))
        table[["value", "ci_low", "ci_high"]] *= factor[:, None]
        answer = deciding.decide(CLAIMS["R4"], [], Tables({"flatness": table}, TABLES), run).answer
        decided += answer != OPEN
    assert decided <= 6  # more has a probability below 5 % at a rate of 5 %
