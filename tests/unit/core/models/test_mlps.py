"""MLPs of encoders of all families, against the modules of `transformers` by their names."""

import copy

import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from darksecrets.core.models.hooks import Intervention, intervene
from darksecrets.core.models.mlps import linear_maps_of, mlps_of
from darksecrets.core.run.errors import InputError

LAYERS, SIZE = 3, 32
SIZES = {
    "hidden_size": SIZE,
    "num_attention_heads": 4,
    "num_hidden_layers": LAYERS,
    "vocab_size": 50,
    "pad_token_id": 0,
    "initializer_range": 0.5,
}
#: Names of the last module of every layer's MLP. In one case, it is as wide as the hidden states.
CASES = {
    "bert": (SIZES | {"intermediate_size": SIZE}, "encoder.layer.{}.output.dense"),
    "roberta": (SIZES | {"intermediate_size": 64}, "encoder.layer.{}.output.dense"),
    "electra": (SIZES | {"intermediate_size": 64}, "encoder.layer.{}.output.dense"),
    "distilbert": (
        {"dim": SIZE, "n_heads": 4, "n_layers": LAYERS, "hidden_dim": 64, "vocab_size": 50}
        | {"initializer_range": 0.5},
        "transformer.layer.{}.ffn.lin2",
    ),
    "albert": (
        SIZES | {"intermediate_size": 64, "embedding_size": 16},
        "encoder.albert_layer_groups.0.albert_layers.0.ffn_output",
    ),
    "modernbert": (
        SIZES
        | {"intermediate_size": 64, "global_attn_every_n_layers": 2, "local_attention": 4}
        | dict.fromkeys(("cls_token_id", "bos_token_id"), 1)
        | dict.fromkeys(("sep_token_id", "eos_token_id"), 2),
        "layers.{}.mlp.Wo",
    ),
}


def made(family: str, **changes: int):
    torch.manual_seed(0)
    return AutoModel.from_config(
        AutoConfig.for_model(family, **{**CASES[family][0], **changes})
    ).eval()


def named(model, family: str, layer: int) -> torch.nn.Module:
    return model.get_submodule(CASES[family][1].format(layer))


def inputs() -> dict[str, torch.Tensor]:
    ids = torch.randint(3, 50, (2, 7), generator=torch.Generator().manual_seed(0))
    mask = torch.arange(7) < torch.tensor([7, 4])[:, None]
    return {"input_ids": ids.masked_fill(~mask, 0), "attention_mask": mask.long()}


def hidden(model) -> torch.Tensor:
    """Hidden states of the real tokens; those at padding depend on how attention is computed."""
    given = inputs()
    return model(**given)[0][given["attention_mask"].bool()]


class Gate(Intervention):
    """A factor for the output of every layer's MLP."""

    def __init__(self, factors: list[float]) -> None:
        self.factors = factors

    def mlp(self, output: torch.Tensor, layer: int) -> torch.Tensor:
        return output * self.factors[layer - 1]


@pytest.mark.parametrize("family", CASES)
@pytest.mark.parametrize("layers", [1, LAYERS])
def test_the_last_linear_map_of_every_mlp_is_found(family, layers):
    name = "n_layers" if family == "distilbert" else "num_hidden_layers"
    model = made(family, **{name: layers})
    assert mlps_of(model) == [named(model, family, layer) for layer in range(layers)]
    assert linear_maps_of(model) is linear_maps_of(model)


#: Linear maps of a layer that are not its MLP's, and weights of the layer: those of all matrices.
ATTENTION = {"modernbert": ["layers.{}.attn.Wqkv", "layers.{}.attn.Wo"]}
ATTENTION["distilbert"] = [
    f"transformer.layer.{{}}.attention.{name}_lin" for name in ("q", "k", "v", "out")
]
ATTENTION["bert"] = [
    f"encoder.layer.{{}}.attention.{name}"
    for name in ("self.query", "self.key", "self.value", "output.dense")
]


@pytest.mark.parametrize("family", ATTENTION)
@pytest.mark.parametrize("layers", [1, LAYERS])
def test_all_other_linear_maps_of_a_layer_are_its_attention(family, layers):
    name = "n_layers" if family == "distilbert" else "num_hidden_layers"
    model = made(family, **{name: layers})
    for layer, maps in enumerate(linear_maps_of(model)):
        expected = [model.get_submodule(each.format(layer)) for each in ATTENTION[family]]
        assert maps.attention == expected
        assert maps.mlp[-1] is named(model, family, layer)
        assert len(maps.mlp) == 2


@pytest.mark.parametrize("family", [family for family in CASES if family != "albert"])
def test_gates_do_what_smaller_weights_do(family):
    """Independently: an MLP is disabled by the weights of its last linear map."""
    model, factors = made(family), [1.0, 0.0, 0.5]
    by_weights = copy.deepcopy(model)
    with torch.inference_mode():
        for layer, factor in enumerate(factors):
            for weight in named(by_weights, family, layer).parameters():
                weight.mul_(factor)
        expected = hidden(by_weights)
        with intervene(model, Gate(factors)):
            found = hidden(model)
        torch.testing.assert_close(found, expected, rtol=1e-5, atol=1e-5)
        intact = hidden(model)
    assert not torch.allclose(intact, expected, rtol=0, atol=1e-2)


def test_layers_that_share_their_weights_have_gates_of_their_own():
    """Independently: ALBERT with three copies of its layer."""
    model, factors = made("albert"), [1.0, 0.0, 0.5]
    layers = made("albert", num_hidden_groups=LAYERS)
    shared = model.encoder.albert_layer_groups[0].state_dict()
    for group in layers.encoder.albert_layer_groups:
        group.load_state_dict(shared)
    others = {
        name: weight for name, weight in model.state_dict().items() if "layer_groups" not in name
    }
    layers.load_state_dict(others, strict=False)
    with torch.inference_mode():
        torch.testing.assert_close(hidden(layers), hidden(model))
        for group, factor in zip(layers.encoder.albert_layer_groups, factors, strict=True):
            for weight in group.albert_layers[0].ffn_output.parameters():
                weight.mul_(factor)
        with intervene(model, Gate(factors)):
            found = hidden(model)
        torch.testing.assert_close(found, hidden(layers), rtol=1e-5, atol=1e-5)


def test_nested_gates_multiply_and_leave_nothing_behind():
    model = made("bert")
    with torch.inference_mode():
        before = hidden(model)
        with intervene(model, Gate([0.5] * LAYERS)):
            with intervene(model, Gate([0.5, 1, 0])):
                nested = hidden(model)
            single = hidden(model)
        with intervene(model, Gate([0.25, 0.5, 0])):
            expected = hidden(model)
        assert torch.equal(nested, expected)
        assert not torch.allclose(single, expected)
        assert torch.equal(hidden(model), before)
    assert not any(module._forward_hooks for module in model.modules())


def test_a_model_whose_mlps_are_not_found_is_refused_with_one_message():
    torch.manual_seed(0)
    config = AutoConfig.for_model("bert", **SIZES, intermediate_size=64)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    layer = model.bert.encoder.layer[1]
    layer.intermediate.dense = torch.nn.Sequential(
        layer.intermediate.dense, *(torch.nn.Linear(64, 64) for _ in range(2))
    )
    message = "MLPs of this model cannot be disabled: 2 were found in 3 layers, and every"
    with pytest.raises(InputError, match=message):
        mlps_of(model)
    with pytest.raises(InputError, match=message), intervene(model, Gate([1] * 3)):
        pass
