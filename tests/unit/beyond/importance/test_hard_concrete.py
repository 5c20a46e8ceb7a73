"""The hard concrete distribution, against sampling, its closed form, and differences."""

import math

import numpy as np
import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.beyond.importance.measure import learning
from darksecrets.core.interventions.disable import disable
from darksecrets.core.models.hooks import Intervention, intervene, shape_of
from darksecrets.core.models.loading import load_classifier

DRAWS = 200_000
LOGS = [-4.0, -1.0, 0.0, 0.7, 2.5]


def sigmoid(x: float) -> float:
    return 1 / (1 + math.exp(-x))


def below(z: float, log_a: float) -> float:
    """Probability that a gate is at most z < 1: its closed form."""
    share = (z + 0.1) / 1.2
    return sigmoid(0.33 * math.log(share / (1 - share)) - log_a)


@pytest.fixture(scope="module")
def draws() -> dict[float, np.ndarray]:
    noise = torch.rand(DRAWS, generator=torch.Generator().manual_seed(1), dtype=torch.float64)
    return {
        log_a: learning.sampled(torch.tensor(log_a, dtype=torch.float64), noise).numpy()
        for log_a in LOGS
    }


@pytest.mark.parametrize("log_a", LOGS)
def test_draws_have_the_distribution_of_the_closed_form(draws, log_a):
    """The greatest difference of two distribution functions is below 2 / √draws in 99.9 %."""
    found = draws[log_a]
    assert found.min() >= 0
    assert found.max() <= 1
    for z in [0.0, 0.001, 0.1, 0.5, 0.9, 0.999]:
        assert (found <= z).mean() == pytest.approx(below(z, log_a), abs=2 / math.sqrt(DRAWS))


@pytest.mark.parametrize("log_a", LOGS)
def test_the_probability_to_be_open_is_that_of_draws(draws, log_a):
    found = float(learning.open_probability(torch.tensor(log_a, dtype=torch.float64)))
    assert found == pytest.approx((draws[log_a] > 0).mean(), abs=2 / math.sqrt(DRAWS))
    assert found == pytest.approx(sigmoid(log_a - 0.33 * math.log(0.1 / 1.1)), rel=1e-12)


def test_the_ends_of_the_noise_give_gates_that_are_numbers():
    found = learning.sampled(torch.tensor([0.0, 0.0]), torch.tensor([0.0, 1.0]))
    assert found.tolist() == [0, 1]


def test_settled_gates_are_exactly_0_and_1_beyond_the_ends():
    log_a = torch.tensor(
        [
            -9,
            -learning.FULLY - 1e-4,
            -learning.FULLY + 1e-3,
            0,
            learning.FULLY - 1e-3,
            learning.FULLY + 1e-4,
            learning.START,
        ]
    )
    first, closed, *between, opened, start = learning.settled(log_a).tolist()
    assert (first, closed, opened, start) == (0, 0, 1, 1)
    assert between == pytest.approx([0, 0.5, 1], abs=1e-3)
    assert all(0 < gate < 1 for gate in between)


@pytest.fixture
def model(tmp_path):
    torch.manual_seed(0)
    folder = save_classifier(tmp_path / "bert", "bert", TASKS["RTE"])
    loaded, _ = load_classifier(folder, TASKS["RTE"], 1)
    return loaded.double().requires_grad_(False)


def inputs() -> dict[str, torch.Tensor]:
    return {"input_ids": torch.tensor([[2, 5, 6, 7, 3], [2, 9, 8, 10, 3]])}


def test_new_gates_leave_logits_as_they_are(model):
    """Bit for bit: those of an intervention that does nothing."""
    gates = learning.HardConcrete(shape_of(model)).double().eval()
    with torch.no_grad():
        with intervene(model, Intervention()):
            expected = model(**inputs()).logits
        with intervene(model, learning.LearnedGates(gates)):
            assert torch.equal(model(**inputs()).logits, expected)


def test_a_closed_gate_disables_its_head(model):
    gates = learning.HardConcrete(shape_of(model)).double().eval()
    with torch.no_grad():
        gates.log_a[1, 2] = gates.log_a[0, 0] = -9.0
        with disable(model, {1: 1, 2: 3}, "zero"):
            expected = model(**inputs()).logits
        with intervene(model, learning.LearnedGates(gates)):
            found = model(**inputs()).logits
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_noise_is_drawn_in_training_and_only_then(model):
    gates = learning.HardConcrete(shape_of(model)).train()
    assert not torch.equal(gates(1), gates(1))
    gates.eval()
    assert torch.equal(gates(1), gates(1))
