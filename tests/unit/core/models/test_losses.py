"""The loss of fine-tuning, against `transformers` and plain loops."""

import math

import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.losses import loss


@pytest.mark.parametrize("name", ["MRPC", "MNLI", "STS-B"])
def test_it_is_that_of_the_model_itself(name, tmp_path):
    task = TASKS[name]
    model, _ = load_classifier(save_classifier(tmp_path / "bert", "bert", task), task, 1)
    labels = torch.tensor([0.5, 3.25]) if task.is_regression else torch.tensor([1, 0])
    with torch.no_grad():
        found = model(input_ids=torch.tensor([[4, 5, 6], [5, 5, 4]]), labels=labels)
    assert torch.equal(loss(task, found.logits, labels), found.loss)


@pytest.mark.parametrize("name", ["MNLI", "STS-B"])
def test_every_reduction_is_that_of_a_loop(name):
    task = TASKS[name]
    logits = torch.randn((5, task.num_labels), generator=torch.Generator().manual_seed(1)).double()
    labels = (
        torch.tensor([0.5, 1, 2, 3, 0]) if task.is_regression else torch.tensor([0, 1, 2, 1, 0])
    )
    each = [
        _alone(task.is_regression, *pair)
        for pair in zip(logits.tolist(), labels.tolist(), strict=True)
    ]
    assert loss(task, logits, labels, "none").tolist() == pytest.approx(each, rel=1e-12)
    assert loss(task, logits, labels, "sum").item() == pytest.approx(sum(each), rel=1e-12)
    assert loss(task, logits, labels).item() == pytest.approx(sum(each) / 5, rel=1e-12)


def _alone(regression: bool, logits: list[float], label: float) -> float:
    """Loss of one example."""
    if regression:
        return (logits[0] - label) ** 2
    return -math.log(math.exp(logits[int(label)]) / sum(map(math.exp, logits)))
