"""Hidden states changed on their way, in every family of encoders."""

import pytest
import torch
from encoders import FAMILIES

from darksecrets.core.models.hooks import observe
from darksecrets.core.models.loading import load_encoder
from darksecrets.core.models.session import trial_inputs
from darksecrets.core.models.states import change_states, find_sites

CHANGED = sorted(FAMILIES)


@pytest.fixture(scope="module", params=CHANGED)
def model(request, tmp_path_factory):
    folder = FAMILIES[request.param].save(tmp_path_factory.mktemp("states") / "model")
    return load_encoder(folder)


def hidden(model):
    with torch.inference_mode(), observe(model, hidden=True) as seen:
        model(**trial_inputs(model, 6))
    return {layer: states.clone() for layer, states in seen.hidden.items()}


def test_states_are_changed_after_their_layer_and_not_before(model):
    plain = hidden(model)
    assert len(find_sites(model)) == len(plain)
    for layer in plain:
        with change_states(model, layer, lambda states: states * 0.5 + 1):
            changed = hidden(model)
        for below in range(layer):
            torch.testing.assert_close(changed[below], plain[below], rtol=0, atol=0)
        for above in range(layer + 1, len(plain)):
            assert (changed[above] - plain[above]).abs().max() > 1e-3
    for layer, states in hidden(model).items():
        torch.testing.assert_close(states, plain[layer], rtol=0, atol=0)


def test_states_that_are_put_in_are_what_the_next_layer_reads(model):
    plain = hidden(model)
    for layer in plain:
        other = plain[layer].flip(1)
        with change_states(model, layer, lambda _, other=other: other):
            forwards = hidden(model)
        with change_states(model, layer, lambda states: states.flip(1)):
            again = hidden(model)
        for above in range(layer + 1, len(plain)):
            torch.testing.assert_close(forwards[above], again[above], rtol=0, atol=1e-5)
