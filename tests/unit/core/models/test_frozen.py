"""Classifiers on frozen encoders of every family, against the models themselves."""

from pathlib import Path

import numpy as np
import pytest
import torch
from datasets import Dataset, DatasetDict
from encoders import FAMILIES, PAIRS
from glue import TASKS

from darksecrets.core.data.batches import EncodedSplit, load_split
from darksecrets.core.models import loading, tokenizing
from darksecrets.core.models.frozen import FrozenEncoder

RTE = TASKS["RTE"]


@pytest.fixture(scope="module", params=FAMILIES)
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return FAMILIES[request.param].save(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def split(folder: Path, tmp_path_factory: pytest.TempPathFactory) -> EncodedSplit:
    data = tmp_path_factory.mktemp("data") / "RTE"
    rows = Dataset.from_dict({"idx": [3, 1, 0, 2], **PAIRS, "label": [0, 1, 1, 0]})
    DatasetDict(train=rows, validation=rows).save_to_disk(data)
    return load_split(data, "train", tokenizing.load_tokenizer(folder), RTE, 128)


def logits_of(model: torch.nn.Module, split: EncodedSplit) -> torch.Tensor:
    """One example at a time, with nothing stored."""
    rows = []
    for row in range(len(split)):
        batch = split.batch([row])
        del batch["labels"]
        rows.append(model(**batch).logits)
    return torch.cat(rows)


def test_logits_and_gradients_are_those_of_the_whole_model(folder, split):
    model, new = loading.load_classifier(folder, RTE, seed=1)
    expected = logits_of(model, split)
    gradients = torch.autograd.grad(
        expected.square().sum(), [p for n, p in model.named_parameters() if n in new]
    )

    frozen = FrozenEncoder(model, new)
    assert sorted(frozen.trained) == new
    features = frozen.features(split, 3, "Reading")
    assert features.shape == (len(split), 64)
    assert not features.requires_grad
    found = frozen.logits(features)
    np.testing.assert_allclose(found.detach(), expected.detach(), atol=1e-5)
    found.square().sum().backward()
    for parameter, gradient in zip(frozen.trained.values(), gradients, strict=True):
        np.testing.assert_allclose(parameter.grad, gradient, rtol=1e-3, atol=1e-4)
    assert all(p.grad is None for n, p in model.named_parameters() if n not in new)


def test_only_what_was_drawn_changes_and_no_hook_stays(folder, split):
    model, new = loading.load_classifier(folder, RTE, seed=1)
    before = {name: p.clone() for name, p in model.named_parameters()}
    frozen = FrozenEncoder(model, new)
    features = frozen.features(split, 2, "Reading")
    optimizer = torch.optim.SGD(frozen.trained.values(), lr=1.0)
    frozen.logits(features).square().sum().backward()
    optimizer.step()
    for name, parameter in model.named_parameters():
        changed = not torch.equal(parameter, before[name])
        assert changed <= (name in new)
        assert changed or name not in new or not parameter.grad.any()
    after = frozen.logits(features).detach()
    np.testing.assert_allclose(logits_of(model, split).detach(), after, atol=1e-4, rtol=1e-4)
    assert not any(module._forward_pre_hooks for module in model.modules())
