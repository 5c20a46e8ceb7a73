"""Smaller models against plain counts, NumPy, and models that `transformers` builds itself."""

from pathlib import Path

import numpy as np
import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier
from transformers import AutoConfig, AutoModelForSequenceClassification

from darksecrets.core.models import precision, shrinking
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.run.errors import InputError

FAMILIES = ["bert", "roberta", "electra", "distilbert"]


def classifier(family: str, folder: Path):
    """A random classifier with two layers and four heads."""
    saved = save_classifier(folder / family, family, TASKS["RTE"])
    model, _ = load_classifier(saved, TASKS["RTE"], 1)
    return model.eval()


def batch_for(length: int = 9) -> dict[str, torch.Tensor]:
    ids = torch.randint(4, 7, (3, length), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[-1, length // 2 :] = 0
    return {"input_ids": ids, "attention_mask": mask}


def logits(model, batch) -> torch.Tensor:
    with torch.no_grad():
        return model(**batch).logits


def total(model) -> int:
    return sum(tensor.numel() for tensor in model.state_dict().values())


def test_a_copy_shares_tensors_and_changes_nothing(tmp_path):
    model = classifier("bert", tmp_path)
    before = {name: tensor.clone() for name, tensor in model.state_dict().items()}
    expected, layers = logits(model, batch_for()), model.config.num_hidden_layers
    for change in (
        shrinking.quantize,
        lambda each: shrinking.zero_smallest(shrinking.matrices(each), 0.5),
        lambda each: shrinking.factorise_embeddings(each, 2),
        lambda each: shrinking.drop_layers(each, 1),
    ):
        copy = shrinking.copy(model)
        shared = {id(tensor) for tensor in model.parameters()}
        assert {id(tensor) for tensor in copy.parameters()} == shared
        change(copy)
        assert not torch.allclose(logits(copy, batch_for()), expected, atol=1e-4)
    assert torch.equal(logits(model, batch_for()), expected)
    assert model.config.num_hidden_layers == layers
    for name, tensor in model.state_dict().items():
        assert torch.equal(tensor, before[name]), name


@pytest.mark.parametrize("family", ["bert", "roberta", "electra"])
def test_dropped_layers_are_those_of_a_model_with_fewer_layers(family, tmp_path):
    """`transformers` builds the smaller model, and loads the one that was saved."""
    model = classifier(family, tmp_path)
    config = AutoConfig.from_pretrained(tmp_path / family, num_hidden_layers=1)
    expected = AutoModelForSequenceClassification.from_config(config).eval()
    kept = {name: t for name, t in model.state_dict().items() if ".layer.1." not in name}
    assert set(kept) == set(expected.state_dict())
    expected.load_state_dict(kept)
    shrinking.drop_layers(model, 1)
    assert total(model) == total(expected)
    assert torch.allclose(logits(model, batch_for()), logits(expected, batch_for()), atol=1e-6)
    model.save_pretrained(tmp_path / "saved")
    again = AutoModelForSequenceClassification.from_pretrained(tmp_path / "saved").eval()
    assert torch.equal(logits(again, batch_for()), logits(model, batch_for()))


@pytest.mark.parametrize("count", [-1, 2, 3])
def test_a_layer_is_left(count, tmp_path):
    with pytest.raises(InputError, match=f"{count} layers cannot be dropped: .* Drop 0 to 1"):
        shrinking.drop_layers(classifier("bert", tmp_path), count)


def test_what_cannot_be_changed_is_named(tmp_path):
    for family in ("albert", "distilbert"):
        model = classifier(family, tmp_path)
        message = rf"(?i){family}.* layers of this model cannot be dropped"
        with pytest.raises(InputError, match=message):
            shrinking.drop_layers(model, 1)
    model.distilbert.set_input_embeddings(torch.nn.Linear(2, 2))
    with pytest.raises(InputError, match=r"DistilBert.* no matrix of word embeddings"):
        shrinking.factorise_embeddings(model, 2)


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("share", [0.0, 0.4, 0.9])
def test_the_smallest_weights_of_all_layers_are_0(family, share, tmp_path):
    """Against a plain sort of all weights of linear maps, of embeddings and classifier none."""
    model = classifier(family, tmp_path)
    own = {name: t.double().numpy() for name, t in model.state_dict().items()}
    prefix = model.base_model_prefix
    maps = [
        name
        for name, t in own.items()
        if name.startswith(prefix) and t.ndim == 2 and "embeddings." not in name
    ]
    every = np.sort(np.concatenate([np.abs(own[name]).ravel() for name in maps]))
    count = round(share * len(every))
    assert shrinking.zero_smallest(shrinking.matrices(model), share) == count
    for name, found in model.state_dict().items():
        expected = own[name]
        if name in maps and count:
            expected = np.where(np.abs(expected) <= every[count - 1], 0, expected)
        assert np.array_equal(found.double().numpy(), expected), name


@pytest.mark.parametrize("family", FAMILIES)
@pytest.mark.parametrize("rank", [1, 5])
def test_factorised_embeddings_have_the_error_of_the_singular_values(family, rank, tmp_path):
    model = classifier(family, tmp_path)
    matrix = model.get_input_embeddings().weight.detach().double().numpy()
    before = total(model)
    shrinking.factorise_embeddings(model, rank)
    found = model.get_input_embeddings()(torch.arange(len(matrix))).detach().double().numpy()
    values = np.linalg.svd(matrix, compute_uv=False)
    assert np.linalg.matrix_rank(found, tol=1e-3) == rank
    error = np.linalg.norm(found - matrix)
    assert error == pytest.approx(np.sqrt((values[rank:] ** 2).sum()), rel=1e-4)
    rows, columns = matrix.shape
    assert before - total(model) == rows * columns - rank * (rows + columns)
    assert logits(model, batch_for()).isfinite().all()


@pytest.mark.parametrize("inputs", [2, 70, 1040, 1041, 3000])
@pytest.mark.parametrize("exact", ["here", "nowhere"])
def test_products_of_whole_numbers_do_not_overflow(inputs, exact, monkeypatch):
    """Against float64, also on CPUs whose products of 8 bits overflow."""
    if exact == "nowhere":
        monkeypatch.setattr(precision, "int8_is_exact", lambda: False)
        monkeypatch.setattr(torch, "_int_mm", None)
    generator = torch.Generator().manual_seed(2)
    one = torch.randint(-127, 128, (9, inputs), generator=generator, dtype=torch.int8)
    other = torch.randint(-127, 128, (7, inputs), generator=generator, dtype=torch.int8)
    one[0], one[1], other[0], other[1] = 127, -127, 127, -127
    found = shrinking.product_of_whole_numbers(one, other)
    assert found.dtype == torch.int32
    assert torch.equal(found.double(), one.double() @ other.double().T)


def test_a_product_in_8_bits_is_that_of_the_rounded_numbers():
    """Against whole numbers multiplied in float64; each is off by at most half a unit."""
    torch.manual_seed(1)
    linear, inputs = torch.nn.Linear(70, 30), torch.randn(2, 5, 70)
    inputs[0, 0] = 0
    found = shrinking.Linear8(linear)(inputs).detach().double().numpy()

    def rounded(rows: torch.Tensor) -> np.ndarray:
        numbers = rows.detach().double().numpy()
        units = np.abs(numbers).max(axis=-1, keepdims=True) / 127
        return np.round(numbers / np.where(units > 0, units, 1)) * units

    weight = rounded(linear.weight)
    expected = rounded(inputs) @ weight.T + linear.bias.detach().double().numpy()
    assert found == pytest.approx(expected, abs=2e-5)
    largest = np.abs(linear.weight.detach().double().numpy()).max(axis=1, keepdims=True)
    assert (np.abs(weight - linear.weight.detach().double().numpy()) <= largest / 254 + 1e-7).all()


def test_rows_of_embeddings_have_a_unit_each():
    torch.manual_seed(1)
    table = torch.nn.Embedding(9, 6)
    with torch.no_grad():
        table.weight[3] *= 1000
        table.weight[4] = 0
    found = shrinking.Embedding8(table)(torch.arange(9))
    largest = table.weight.abs().amax(dim=1, keepdim=True)
    assert ((found - table.weight).abs() <= largest / 254 * 1.001).all()
    assert torch.equal(found[4], torch.zeros(6))


@pytest.mark.parametrize("family", FAMILIES)
def test_logits_of_8_bits_are_near_those_of_the_whole_model(family, tmp_path):
    """Within 10 % of the largest logit, of random models."""
    model = classifier(family, tmp_path)
    with torch.no_grad():
        for matrix in model.parameters():
            matrix *= 0.2 if matrix.ndim == 2 else 1
    matrices = [t for t in model.state_dict().values() if t.ndim == 2]
    expected, before = logits(model, batch_for()), total(model)
    shrinking.quantize(model)
    found = logits(model, batch_for())
    error = (found - expected).abs().max() / expected.abs().max()
    assert 1e-4 < error < 0.1, error
    state = model.state_dict()
    eight = [tensor for tensor in state.values() if tensor.dtype == torch.int8]
    assert sum(t.numel() for t in eight) == sum(t.numel() for t in matrices)
    assert total(model) == before + sum(len(t) for t in matrices), "a unit for every row"
