"""Seeds of initialisation and order, top layers reinitialized, and warm-up in updates."""

import hashlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import torch
from glue import TASKS
from small_training import finetune, weights
from tiny_models import save_classifier
from toy_data import save_bert

from darksecrets.core.models import loading
from darksecrets.core.models.starting import Start, load_start, redraw_top
from darksecrets.core.run.errors import InputError
from darksecrets.paper.finetuning import preflight, training

UNMOVED = {"learning_rate": 1e-12, "epochs": 1}  # the weights stay those that training began with


def digest(folder: Path) -> str:
    found = hashlib.sha256()
    for name, tensor in sorted(weights(folder).items()):
        found.update(name.encode())
        found.update(tensor.numpy().tobytes())
    return found.hexdigest()


def start_of(inputs: Path, seed: int, layers: int = 0) -> dict[str, torch.Tensor]:
    model, _ = load_start(inputs / "model", TASKS["MRPC"], Start(seed, layers=layers))
    return model.state_dict()


def same(one: dict[str, torch.Tensor], other: dict[str, torch.Tensor]) -> bool:
    return one.keys() == other.keys() and all(torch.equal(one[name], other[name]) for name in one)


# --- Seeds ------------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_seeds_of_their_own_take_the_place_of_the_seed(inputs, tmp_path):
    """Both together are the seed, bit for bit, dropout included."""
    finetune(inputs, tmp_path / "seed")
    details = finetune(inputs, tmp_path / "both", seed=8, init_seed=3, order_seed=3)
    assert digest(tmp_path / "both") == digest(tmp_path / "seed")
    assert (details["seed"], details["init_seed"], details["order_seed"]) == (8, 3, 3)
    for key in ("init_seed", "order_seed"):
        finetune(inputs, tmp_path / key, **{key: 8})
        assert digest(tmp_path / key) != digest(tmp_path / "seed")


@pytest.mark.slow
def test_the_seed_of_the_order_leaves_the_start_alone(inputs, tmp_path):
    for number, settings in enumerate(({"order_seed": 9}, {"init_seed": 9})):
        finetune(inputs, tmp_path / str(number), **UNMOVED, **settings)
    for name, tensor in weights(tmp_path / "0").items():
        torch.testing.assert_close(tensor, start_of(inputs, 3)[name], atol=1e-8, rtol=0)
    moved = weights(tmp_path / "1")["classifier.weight"]
    torch.testing.assert_close(moved, start_of(inputs, 9)["classifier.weight"], atol=1e-8, rtol=0)
    assert (moved - start_of(inputs, 3)["classifier.weight"]).abs().max() > 1e-3


@pytest.mark.slow
def test_the_seed_of_the_start_leaves_order_and_dropout_alone(inputs, monkeypatch, tmp_path):
    """Batches, and the random numbers that dropout takes, are those of the order's seed."""
    seen: list[Any] = []
    step = training.FineTuner.training_step

    def recorded(self: Any, model: Any, batch: Any, *others: Any) -> Any:
        drawn = torch.random.get_rng_state().sum().item()
        seen.append((batch["input_ids"].sum().item(), drawn))
        return step(self, model, batch, *others)

    monkeypatch.setattr(training.FineTuner, "training_step", recorded)
    parts = []
    for number, settings in enumerate(({}, {"init_seed": 9}, {"order_seed": 9})):
        finetune(inputs, tmp_path / str(number), epochs=1, **settings)
        parts.append(list(seen))
        seen.clear()
    assert parts[0] == parts[1]
    assert [batch for batch, _ in parts[0]] != [batch for batch, _ in parts[2]]
    assert all(one[1] != other[1] for one, other in zip(parts[0], parts[2], strict=True))


# --- Reinitialized layers ---------------------------------------------------------------------


def test_top_layers_and_the_pooler_are_drawn_as_pretraining_does(tmp_path):
    """The lower layer, the embeddings and the classifier stay as they are, bit for bit."""
    save_bert(tmp_path / "model")
    before, after = start_of(tmp_path, 3), start_of(tmp_path, 3, layers=1)
    drawn = {name for name in before if not torch.equal(before[name], after[name])}
    top, pooler = "bert.encoder.layer.1.", "bert.pooler."
    assert drawn
    assert all(name.startswith((top, pooler)) for name in drawn)
    matrices = [n for n in after if n.startswith((top, pooler)) and after[n].dim() == 2]
    assert set(matrices) <= drawn
    values = np.concatenate([after[name].numpy().ravel() for name in matrices])
    assert values.std() == pytest.approx(0.02, rel=0.05)  # of 2,304 numbers
    assert abs(values.mean()) < 0.002
    for name in after:
        if name.startswith((top, pooler)) and after[name].dim() == 1:
            expected = 1.0 if name.endswith("LayerNorm.weight") else 0.0
            assert torch.equal(after[name], torch.full_like(after[name], expected)), name
    assert same(after, start_of(tmp_path, 3, layers=1))
    assert not torch.equal(after[matrices[0]], start_of(tmp_path, 4, layers=1)[matrices[0]])
    of_both = start_of(tmp_path, 3, layers=2)
    changed = {name for name in before if not torch.equal(before[name], of_both[name])}
    assert {name.replace("layer.1.", "layer.0.") for name in drawn} <= changed


def test_the_numbers_drawn_are_not_those_of_the_classifier(tmp_path):
    """One generator with one seed would give both the same numbers."""
    save_bert(tmp_path / "model")
    start = start_of(tmp_path, 3, layers=2)
    classifier = start["classifier.weight"].ravel()
    query = start["bert.encoder.layer.0.attention.self.query.weight"].ravel()[: len(classifier)]
    assert abs(np.corrcoef(classifier.numpy(), query.numpy())[0, 1]) < 0.6
    assert not torch.allclose(classifier, query)


def test_training_begins_with_the_layers_drawn(inputs, tmp_path):
    details = finetune(inputs, tmp_path, **UNMOVED, reinitialized_layers=1, init_seed=5)
    expected = start_of(inputs, 5, layers=1)
    for name, tensor in weights(tmp_path).items():
        torch.testing.assert_close(tensor, expected[name], atol=1e-8, rtol=0)
    assert "bert.encoder.layer.1.output.dense.weight" in details["new_parameters"]
    assert "bert.encoder.layer.0.output.dense.weight" not in details["new_parameters"]
    assert details["reinitialized_layers"] == 1


@pytest.mark.parametrize("family", ["roberta", "distilbert", "electra", "modernbert"])
def test_other_families_have_their_top_layer_drawn(family, tmp_path):
    folder = save_classifier(tmp_path / family, family, TASKS["MRPC"])
    model, _ = loading.load_classifier(folder, TASKS["MRPC"], seed=1)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    drawn = redraw_top(model, 1, seed=1)
    changed = {n for n, tensor in model.state_dict().items() if not torch.equal(tensor, before[n])}
    assert changed
    assert changed <= set(drawn)
    numbers = {part for name in drawn for part in name.split(".") if part.isdigit()}
    assert len(numbers & {"0", "1", "2", "3"}) == 1  # of one layer


def test_layers_that_cannot_be_drawn_are_refused(tmp_path):
    save_bert(tmp_path / "model")
    with pytest.raises(InputError, match=r"reinitialized_layers is 3, but .* has 2 layers"):
        start_of(tmp_path, 3, layers=3)
    shared = save_classifier(tmp_path / "albert", "albert", TASKS["MRPC"])
    model, _ = loading.load_classifier(shared, TASKS["MRPC"], seed=1)
    assert redraw_top(model, 0, seed=1) == []
    with pytest.raises(InputError, match="share their weights"):
        redraw_top(model, 1, seed=1)
    config = {
        "fine_tuning": {"reinitialized_layers": 1, "init_seed": None, "order_seed": None},
        "model": {"source": "folder", "folder": str(shared)},
        "tasks": {"RTE": {"seeds": [1]}},
    }
    with pytest.raises(InputError, match="share their weights"):
        preflight.check(config)


# --- Warm-up ----------------------------------------------------------------------------------


@pytest.mark.slow
def test_the_rate_rises_in_as_many_updates_as_configured(inputs, monkeypatch, tmp_path):
    """Linear to the peak, then linear to 0; by default in a share of the updates, rounded up."""
    rates: list[float] = []
    step = training.FineTuner.training_step

    def recorded(self: Any, *arguments: Any) -> Any:
        rates.append(self.optimizer.param_groups[0]["lr"])
        return step(self, *arguments)

    monkeypatch.setattr(training.FineTuner, "training_step", recorded)
    for settings, warmup in (({"warmup_steps": 4}, 4), ({"warmup_steps": 0}, 0), ({}, 1)):
        rates.clear()
        finetune(inputs, tmp_path / str(warmup), epochs=1, **settings)
        total = len(rates)
        rising = [3e-3 * n / warmup for n in range(warmup)]
        falling = [3e-3 * (total - n) / (total - warmup) for n in range(warmup, total)]
        assert rates == pytest.approx([*rising, *falling])
