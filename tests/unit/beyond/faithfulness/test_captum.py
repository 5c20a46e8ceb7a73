"""Gradient × input against Captum's."""

import pytest
import torch
from captum.attr import LayerGradientXActivation
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.beyond.faithfulness.measure.explanations import run
from darksecrets.core.models.loading import load_classifier


@pytest.mark.parametrize("family", ["bert", "roberta", "distilbert"])
def test_gradient_times_input_is_captums(family, tmp_path):
    task = TASKS["MRPC"]
    model, _ = load_classifier(save_classifier(tmp_path / family, family, task), task, 0)
    model = model.double()
    generator = torch.Generator().manual_seed(3)
    ids = torch.randint(4, model.config.vocab_size, (3, 7), generator=generator)
    passed = run(model, task, {"input_ids": ids}, torch.tensor([0, 1, 0]))
    layer = LayerGradientXActivation(
        lambda given: model(input_ids=given).logits, model.base_model.embeddings
    )
    expected = layer.attribute(ids, target=passed.decisions).sum(dim=-1).abs()
    torch.testing.assert_close(passed.tokens, expected.detach(), rtol=1e-9, atol=1e-12)
