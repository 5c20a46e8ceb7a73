"""Projections: idempotent, and rid of what they take out; what they cost, against loops."""

import numpy as np
import pytest
import torch
from made_up_layers import planted, training_of
from sklearn.metrics import accuracy_score

from darksecrets.beyond.layers.measure import removal
from darksecrets.core.data.batches import EncodedSplit
from darksecrets.core.data.tasks import Task


def test_a_property_is_at_chance_afterwards_and_projecting_twice_is_projecting_once():
    found = planted(3, 3000)
    gone = removal.remove(found, training_of(found), 2, 0)
    assert 2 <= gone.basis.shape[1] < 12
    np.testing.assert_allclose(gone.basis.T @ gone.basis, np.eye(gone.basis.shape[1]), atol=1e-5)
    assert gone.left < gone.majority + 0.08
    states = torch.from_numpy(found.features(2))
    once = gone.project(states)
    torch.testing.assert_close(gone.project(once), once, rtol=0, atol=1e-4)
    basis = torch.from_numpy(gone.basis)
    centred = once - torch.from_numpy(gone.mean)
    torch.testing.assert_close(
        centred @ basis, torch.zeros(len(once), basis.shape[1]), atol=1e-4, rtol=0
    )


def test_it_stops_at_the_first_probe_that_is_near_chance():
    """On the training sentences that train no probe: 0.1 above chance, then 0.005."""
    found = planted(3, 3000)
    training, features = training_of(found), found.features(2)
    chosen = np.random.default_rng(6).random(found.groups.max() + 1) < 3 / 4
    fitting, stopping = (training & (chosen[found.groups] == which) for which in (True, False))
    chance = max((found.labels[stopping] == one).mean() for one in range(3))
    mean, basis = features[training].mean(axis=0), np.zeros((24, 0), dtype=np.float32)
    above = []
    for _ in range(removal.ROUNDS):
        left = (features - (features - mean) @ basis @ basis.T).astype(np.float32)
        probe = removal.fit(left[fitting], found.labels[fitting], 3)
        above.append((probe.predict(left[stopping]) == found.labels[stopping]).mean() - chance)
        if above[-1] <= 0.01:
            break
        basis = removal.extended(basis, probe.directions())
    assert 0 < above[-1] <= 0.01 < min(above[:-1]), "beyond chance, but hardly"
    gone = removal.remove(found, training, 2, 6)
    np.testing.assert_allclose(gone.basis, basis, atol=1e-5)


def test_a_property_that_is_not_there_needs_no_projection():
    found = planted(3, 3000)
    gone = removal.remove(found, training_of(found), 0, 0)
    assert gone.basis.shape[1] <= 4
    states = torch.from_numpy(found.features(0))
    if not gone.basis.shape[1]:
        torch.testing.assert_close(gone.project(states), states)


def test_random_subspaces_are_orthonormal_and_leave_the_property():
    found, rng = planted(3, 3000), np.random.default_rng(0)
    basis = removal.random_basis(24, 2, rng)
    np.testing.assert_allclose(basis.T @ basis, np.eye(2), atol=1e-6)
    mean = found.features(2).mean(axis=0)
    left = removal.projected(
        torch.from_numpy(found.features(2)), torch.from_numpy(basis), torch.from_numpy(mean)
    )
    kept = found.__class__(**{**found.__dict__, "states": left.numpy()[None]})
    probe = removal.fit(kept.features(0), kept.labels, 3)
    assert (probe.predict(kept.features(0)) == kept.labels).mean() > 0.85


def test_directions_that_a_basis_has_are_not_added_again():
    rng = np.random.default_rng(0)
    basis = removal.random_basis(10, 3, rng)
    new = rng.standard_normal((10, 2)).astype(np.float32)
    both = removal.extended(basis, np.concatenate([basis @ np.ones((3, 1)), new, new], axis=1))
    np.testing.assert_allclose(both.T @ both, np.eye(both.shape[1]), atol=1e-5)
    assert both.shape[1] in (5, 6)
    inside = both @ (both.T @ basis)
    np.testing.assert_allclose(inside, basis, atol=1e-5)


def test_costs_are_those_of_scores():
    rng = np.random.default_rng(0)
    labels = rng.integers(2, size=80)
    task = Task.from_entry("T", {"text": ["a"], "labels": ["no", "yes"], "metrics": ["accuracy"]})
    ids = np.arange(80, dtype=np.int32)
    validation = EncodedSplit(ids, labels, np.arange(81), {"input_ids": ids}, {"input_ids": 0})
    predicted = [np.where(rng.random(80) < p, labels, 1 - labels) for p in (0.9, 0.6, 0.8, 0.85)]
    found = removal.costs(task, predicted[0], predicted[1:], validation, 1)
    scores = [100 * accuracy_score(labels, own) for own in predicted]
    assert found["intact"] == pytest.approx(scores[0])
    assert found["delta"] == pytest.approx(scores[1] - scores[0])
    assert found["random"] == pytest.approx(np.mean(scores[2:]) - scores[0])
    assert found["over_random"] == pytest.approx(scores[1] - np.mean(scores[2:]))
    assert found["over_random_low"] < found["over_random"] < found["over_random_high"]
