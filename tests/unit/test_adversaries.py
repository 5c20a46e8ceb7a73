"""No inference passes on what knows nothing more often than stated; true effects are found.

`benchmarks/adversaries.py` makes the same trials with more draws.
"""

import numpy as np
import pytest
from adversarial.inferences import NULL, POWER, SMALL, Trial
from adversarial.models import ALL


@pytest.fixture(scope="module")
def trials(tmp_path_factory) -> list[Trial]:
    folder = tmp_path_factory.mktemp("adversaries")
    return [trial for inference in ALL for trial in inference(SMALL, folder)]


def test_nothing_that_knows_nothing_passes_more_often_than_stated(trials):
    nulls = [trial for trial in trials if trial.truth == NULL]
    assert len(nulls) > 100
    broken = [(trial, trial.share) for trial in nulls if not trial.keeps_its_rate()]
    assert not broken


def test_heads_of_places_classes_and_distances_never_pass(trials):
    """Sums or products of these have exactly nothing left in one of the controls."""
    names = ("framenet_heads", "token_pairs:", "equal_words:")
    found = [trial for trial in trials if trial.inference.startswith(names)]
    simple = [t for t in found if t.truth == NULL and not t.kind.startswith(("random", "all"))]
    assert len(simple) > 60
    assert {sum(trial.draws) for trial in simple} == {0}


def test_strong_effects_are_found_by_every_inference_that_looks_for_them(trials):
    shares: dict[str, list[float]] = {}
    for trial in trials:
        if trial.truth == POWER:
            shares.setdefault(trial.inference, []).append(trial.share)
    assert len(shares) >= 10
    for inference, found in shares.items():
        assert max(found) > 0.25, inference
        assert found[-1] == max(found), f"{inference}: the stronger, the more often"


def test_a_rate_is_exceeded_only_beyond_the_error_of_dependent_draws():
    def trial(*draws: int) -> Trial:
        return Trial("q", "null", NULL, 0.05, draws, 20)

    assert trial(*[1] * 50).keeps_its_rate()
    assert not trial(*[3] * 50).keeps_its_rate()
    together = np.zeros(50, dtype=int)
    together[:6] = 20  # in 6 draws of 50, all; as likely as not at a rate of 5 %, if all depend
    assert trial(*together.tolist()).keeps_its_rate()
    assert trial(*together.tolist()).share == pytest.approx(0.12)
