"""What a few heads change in a layer, against the layer computed as it is."""

import pytest
import torch
from transformers import BertConfig, BertForSequenceClassification

from darksecrets.core.models.layers import Layer, Raised, layers_of

TOKENS, SIZE, HEADS = 7, 32, 8


@pytest.fixture(scope="module")
def layer() -> Layer:
    """A layer in float64 whose norm neither keeps lengths nor is centred."""
    torch.manual_seed(5)
    config = BertConfig(
        vocab_size=9,
        hidden_size=SIZE,
        num_hidden_layers=1,
        num_attention_heads=HEADS,
        intermediate_size=48,
        initializer_range=0.4,
    )
    model = BertForSequenceClassification(config).eval().double()
    norm = model.bert.encoder.layer[0].attention.output.LayerNorm
    with torch.no_grad():
        norm.weight.uniform_(0.2, 3)
        norm.bias.normal_()
    return layers_of(model, "uniform")[0]


@torch.inference_mode()
def raised(layer: Layer, heads: list[int], offset: float) -> tuple[torch.Tensor, torch.Tensor]:
    """Input of the activation from the intact one, and as the layer itself computes it."""
    hidden = offset + 3 * torch.randn(2, TOKENS, SIZE, dtype=torch.float64)
    context, change = layer.context_and_change(hidden)
    attended, chosen = layer.project(context, hidden), torch.tensor(heads)
    normalised, *numbers = layer.normalise(attended)
    intact = Raised(layer.up(normalised), *numbers)
    changed = attended + layer.project_heads(change, chosen)
    disabled = context.clone()
    disabled[:, :, heads] += change[:, :, heads]
    torch.testing.assert_close(changed, layer.project(disabled, hidden))
    normalised, *numbers = layer.normalise(changed)
    out = torch.full_like(intact.wide, torch.nan)
    layer.raised_with(intact, change, chosen, *numbers, out)
    assert (out - intact.wide).abs().max() > 0.05, "the heads do something"
    return out, layer.up(layer.first_norm(changed))


@pytest.mark.parametrize("heads", [[0], [7], [2, 5], [1, 3, 6], list(range(HEADS))])
def test_a_change_through_a_product_of_matrices_is_that_of_the_layer(layer, heads):
    found, expected = raised(layer, heads, 0.0)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-12)


def test_a_mean_far_from_0_costs_no_digits(layer):
    """The means are subtracted from each other before they are multiplied."""
    found, expected = raised(layer, [4], 20.0)
    torch.testing.assert_close(found, expected, rtol=0, atol=1e-10)
