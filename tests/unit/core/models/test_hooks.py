"""Observing and intervening, against transformers' own eager attention and a loop in float64."""

import copy

import numpy as np
import pytest
import torch
from transformers import AutoConfig, AutoModel, AutoModelForSequenceClassification

from darksecrets.core.models.hooks import (
    Call,
    Intervention,
    collect_maps,
    intervene,
    observe,
    require_projections,
    require_reachable,
)
from darksecrets.core.models.session import Session
from darksecrets.core.run.errors import InputError

LAYERS, HEADS = 3, 4
SIZES = {
    "hidden_size": 32,
    "num_attention_heads": HEADS,
    "num_hidden_layers": LAYERS,
    "intermediate_size": 64,
    "vocab_size": 50,
    "pad_token_id": 0,
    "initializer_range": 0.5,
}
#: Encoders, one whose layers share their weights, one with local attention, and decoders.
FAMILIES = {
    "bert": SIZES,
    "roberta": SIZES,
    "electra": SIZES,
    "albert": {**SIZES, "embedding_size": 32},
    "distilbert": {"dim": 32, "n_heads": HEADS, "n_layers": LAYERS, "hidden_dim": 64},
    "modernbert": {**SIZES, "global_attn_every_n_layers": 2, "local_attention": 4},
    "gpt2": {"n_embd": 32, "n_layer": LAYERS, "n_head": HEADS, "initializer_range": 0.5},
    "llama": {**SIZES, "num_key_value_heads": 2},
}
SPECIAL = {"vocab_size": 50, "cls_token_id": 1, "sep_token_id": 2}
SPECIAL |= {"bos_token_id": 1, "eos_token_id": 2, "pad_token_id": 0}
LENGTHS = (7, 4)


@pytest.fixture(scope="module", params=FAMILIES)
def model(request):
    torch.manual_seed(0)
    config = AutoConfig.for_model(request.param, **{**FAMILIES[request.param], **SPECIAL})
    return AutoModel.from_config(config).eval()


@pytest.fixture(scope="module")
def bert():
    torch.manual_seed(0)
    config = AutoConfig.for_model("bert", **SIZES)
    return AutoModelForSequenceClassification.from_config(config).eval()


def inputs():
    ids = torch.randint(3, 50, (2, 7), generator=torch.Generator().manual_seed(0))
    mask = torch.arange(7) < torch.tensor(LENGTHS)[:, None]
    return {"input_ids": ids.masked_fill(~mask, 0), "attention_mask": mask.long()}


def eager(model):
    """The same weights under transformers' own eager attention."""
    copy = AutoModel.from_config(model.config, attn_implementation="eager").eval()
    copy.load_state_dict(model.state_dict())
    return copy


def test_observations_are_what_transformers_reports(model):
    with torch.inference_mode(), observe(model, maps=True, hidden=True) as seen:
        model(**inputs())
    with torch.inference_mode():
        reported = eager(model)(**inputs(), output_attentions=True, output_hidden_states=True)
    assert list(seen.maps) == [1, 2, 3]
    assert list(seen.hidden) == [0, 1, 2, 3]
    for layer in seen.maps:
        torch.testing.assert_close(seen.maps[layer], reported.attentions[layer - 1])
        assert seen.maps[layer].std() > 0.01, "the heads are far from uniform"
    for layer in seen.hidden:
        torch.testing.assert_close(seen.hidden[layer], reported.hidden_states[layer])


def test_collected_maps_are_those_of_a_whole_pass(model):
    with torch.inference_mode():
        collected = collect_maps(model, inputs())
        whole = model(**inputs())
        reported = eager(model)(**inputs(), output_attentions=True)
    assert list(collected) == [1, 2, 3]
    for layer in collected:
        torch.testing.assert_close(collected[layer], reported.attentions[layer - 1])
    torch.testing.assert_close(whole[0], reported[0])


def test_nothing_is_computed_once_the_last_map_is_there(bert):
    """Also beside an observer, which goes on seeing whole passes."""
    require_reachable(bert)
    called = []
    parts = [("classifier", bert.classifier)]
    parts += [(number, layer.output) for number, layer in enumerate(bert.bert.encoder.layer, 1)]
    handles = [
        part.register_forward_hook(lambda *_, name=name: called.append(name))
        for name, part in parts
    ]
    with torch.inference_mode(), observe(bert, maps=True, hidden=True) as seen:
        collected = collect_maps(bert, inputs())
        assert called == [1, 2]
        bert(**inputs())
        assert called == [1, 2, 1, 2, 3, "classifier"]
    for handle in handles:
        handle.remove()
    assert torch.equal(seen.maps.stack(), collected.stack())
    assert len(seen.hidden) == 4


def test_outputs_are_the_maps_times_the_values(model):
    with torch.inference_mode(), observe(model, maps=True, values=True, outputs=True) as seen:
        model(**inputs())
    for layer in (1, 2, 3):
        maps, values = seen.maps[layer].double(), seen.values[layer].double()
        for example, length in enumerate(LENGTHS):
            for head in range(HEADS):
                for query in range(length):
                    expected = sum(
                        maps[example, head, query, key] * values[example, head, key]
                        for key in range(7)
                    )
                    found = seen.outputs[layer][example, head, query].double()
                    torch.testing.assert_close(found, expected, rtol=0, atol=1e-5)


def test_weighted_values_add_up_to_what_the_layer_computes(model):
    """Σ α (x W_V + b_V) W_O + b_O, over heads and tokens, pair by pair; relative to its size."""
    if model.config.model_type == "gpt2":
        with pytest.raises(InputError, match=r"such a module in 0 of 3 layers\. It needs every"):
            require_projections(model)
        return
    require_projections(model)
    wanted = {"maps": True, "values": True, "projections": True}
    with torch.inference_mode(), observe(model, **wanted) as seen:
        model(**inputs())
    assert list(seen.projections) == [1, 2, 3]
    for layer, projection in seen.projections.items():
        maps, values = seen.maps[layer].double(), seen.values[layer].double()
        weight, size = projection.weight.double(), projection.output.abs().max()
        for example, length in enumerate(LENGTHS):
            for query in range(length):
                added = [
                    maps[example, head, query, key] * (values[example, head, key] @ weight[head])
                    for head in range(HEADS)
                    for key in range(7)
                ]
                made = torch.stack(added).sum(dim=0) + projection.bias
                expected = projection.output[example, query].double()
                torch.testing.assert_close(made, expected, rtol=0, atol=1e-5 * size.item())


def test_projections_are_seen_beside_interventions(bert):
    gates = torch.ones(LAYERS, HEADS)
    gates[1, 2] = 0
    wanted = {"outputs": True, "projections": True}
    with intervene(bert, Gate(gates)), torch.inference_mode(), observe(bert, **wanted) as seen:
        bert(**inputs())
    made = torch.einsum("bhqd,hdo->bqo", seen.outputs[2], seen.projections[2].weight)
    made = made + seen.projections[2].bias
    torch.testing.assert_close(made, seen.projections[2].output)
    assert not seen.outputs[2][:, 2].any()


class Rescaled(torch.nn.Linear):
    """An output projection that is not linear in what it is given."""

    def forward(self, given):
        return super().forward(given) * given.norm(dim=-1, keepdim=True)


def test_layers_that_do_more_than_project_are_refused():
    torch.manual_seed(0)
    model = AutoModel.from_config(AutoConfig.for_model("bert", **SIZES)).eval()
    model.encoder.layer[1].attention.output.dense = Rescaled(32, 32)
    with pytest.raises(InputError, match=r"a difference of .* in layer 2"):
        require_projections(model)
    require_reachable(model)


class ToItself(Intervention):
    """In one head, every token attends only to itself."""

    def __init__(self, layer, head):
        self.layer, self.head = layer, head

    def weights(self, weights, call):
        if call.layer != self.layer:
            return weights
        weights = weights.clone()
        weights[:, self.head - 1] = torch.eye(weights.shape[-1])
        return weights


class Gate(Intervention):
    """Outputs of all heads times [layer, head] numbers."""

    def __init__(self, gates):
        self.gates = gates

    def outputs(self, outputs, call):
        return outputs * self.gates[call.layer - 1, :, None, None]


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_an_intervention_changes_its_layer_and_what_follows(model, layer):
    with torch.inference_mode(), observe(model, maps=True, values=True, outputs=True) as before:
        model(**inputs())
    with (
        torch.inference_mode(),
        observe(model, maps=True, values=True, outputs=True) as after,
        intervene(model, ToItself(layer, 2)),
    ):
        model(**inputs())
    changed = after.outputs.head(layer, 2)
    torch.testing.assert_close(changed, before.values.head(layer, 2))
    torch.testing.assert_close(after.maps.head(layer, 2)[0], torch.eye(7))
    for head in (1, 3, 4):
        torch.testing.assert_close(
            after.outputs.head(layer, head), before.outputs.head(layer, head)
        )
    for other in (1, 2, 3):
        same = torch.allclose(before.values[other], after.values[other], atol=1e-6)
        assert same == (other <= layer), other


def test_interventions_come_in_their_order_whatever_observes(bert):
    double, half = Gate(torch.full((LAYERS, HEADS), 2.0)), Gate(torch.full((LAYERS, HEADS), 0.5))
    with torch.inference_mode(), observe(bert, outputs=True) as seen:
        bert(**inputs())
        plain = seen.outputs[1]
        with intervene(bert, double):
            bert(**inputs())
            assert torch.equal(seen.outputs[1], 2 * plain)
            with intervene(bert, half):
                bert(**inputs())
                assert torch.equal(seen.outputs[1], plain)
        bert(**inputs())
        assert torch.equal(seen.outputs[1], plain)


def test_only_the_last_forward_pass_is_kept(bert):
    with torch.inference_mode(), observe(bert, maps=True) as seen:
        bert(**inputs())
        first = seen.maps[1]
        bert(input_ids=torch.full((1, 3), 5))
    assert first.shape[0] == 2
    assert seen.maps.stack().shape == (1, LAYERS, HEADS, 3, 3)
    with torch.inference_mode():
        bert(**inputs())
    assert seen.maps[1].shape[0] == 1, "the context is closed"


def test_layers_and_heads_count_from_1(bert):
    with torch.inference_mode(), observe(bert, maps=True, hidden=True) as seen:
        bert(**inputs())
    every = seen.maps.stack()
    for layer, head in np.ndindex(LAYERS, HEADS):
        assert torch.equal(seen.maps.head(layer + 1, head + 1), every[:, layer, head])
    assert torch.equal(seen.hidden[0], seen.hidden.stack()[:, 0])
    for layer, head, message in (
        (0, 1, f"no layer 0: they count from 1 to {LAYERS}"),
        (LAYERS + 1, 1, f"no layer {LAYERS + 1}"),
        (1, 0, f"no head 0: they count from 1 to {HEADS}"),
        (1, HEADS + 1, f"no head {HEADS + 1}"),
    ):
        with pytest.raises(InputError, match=message):
            seen.maps.head(layer, head)


def hooks_of(model):
    return [(len(each._forward_hooks), len(each._forward_pre_hooks)) for each in model.modules()]


def test_nothing_stays_behind(bert):
    hooks = hooks_of(bert)
    before = {name: set(vars(module)) for name, module in bert.named_modules()}
    wanted = {"maps": True, "hidden": True, "projections": True}
    with pytest.raises(RuntimeError, match="stop"), observe(bert, **wanted):
        raise RuntimeError("stop")
    after = {name: set(vars(module)) for name, module in bert.named_modules()}
    before["bert"] = before["bert"] | {"_darksecrets_problem"}  # the cached check, not a hook
    assert after == before
    assert hooks_of(bert) == hooks


def test_an_encoder_without_the_interface_shows_its_maps_only():
    torch.manual_seed(0)
    model = AutoModel.from_config(AutoConfig.for_model("deberta-v2", **SIZES)).eval()
    with torch.inference_mode(), observe(model, maps=True) as seen:
        model(**inputs())
    with torch.inference_mode():
        reported = model(**inputs(), output_attentions=True).attentions
    for layer in (1, 2, 3):
        assert torch.equal(seen.maps[layer], reported[layer - 1])
    with torch.inference_mode():
        collected = collect_maps(model, inputs())
    assert torch.equal(collected.stack(), torch.stack(reported, dim=1))
    with pytest.raises(InputError, match="cannot be reached"), observe(model, values=True):
        pass


def test_capped_scores_are_refused():
    """Gemma 2 caps its scores: with small random weights its outputs would look the same."""
    config = AutoConfig.for_model("gemma2", **SIZES, num_key_value_heads=2, head_dim=8)
    with pytest.raises(InputError, match="attention with softcap"):
        require_reachable(AutoModel.from_config(config).eval())


def test_maps_are_seen_also_where_a_fused_kernel_reports_none():
    """An encoder that uses the interface in a way of its own, loaded with a fused kernel."""
    torch.manual_seed(0)
    config = AutoConfig.for_model("bert", **SIZES)
    model = AutoModel.from_config(config, attn_implementation="sdpa").eval()
    vars(model)["_darksecrets_problem"] = "made up"
    with torch.inference_mode(), observe(model, maps=True) as seen:
        model(**inputs())
    assert model.config._attn_implementation == "sdpa"
    with torch.inference_mode():
        reported = eager(model)(**inputs(), output_attentions=True).attentions
    assert list(seen.maps) == [1, 2, 3]
    for layer in (1, 2, 3):
        torch.testing.assert_close(seen.maps[layer], reported[layer - 1])


def test_a_call_says_what_is_real(bert):
    calls = []

    class Look(Intervention):
        def weights(self, weights: torch.Tensor, call: Call) -> torch.Tensor:
            calls.append(call)
            return weights

    with torch.inference_mode(), intervene(bert, Look()):
        bert(**inputs())
        bert(input_ids=torch.full((1, 3), 5), attention_mask=torch.ones(1, 3))
    assert [call.layer for call in calls] == [1, 2, 3, 1, 2, 3]
    assert calls[0].real.expand(2, 1, 7, 7)[1, 0, 0].tolist() == [True] * 4 + [False] * 3
    assert calls[3].real is None or calls[3].real.all()


def test_reach_is_what_a_query_may_attend_to(bert):
    with torch.inference_mode(), observe(bert, maps=True, reach=True) as seen:
        bert(**inputs())
    assert list(seen.reach) == [1, 2, 3]
    for layer in seen.reach:
        reach = seen.reach[layer].expand_as(seen.maps[layer])
        assert torch.equal(reach, seen.maps[layer] > 0)
    with torch.inference_mode(), observe(bert, reach=True) as seen:
        bert(input_ids=torch.full((1, 3), 5))
    assert seen.reach[1].expand(1, 1, 3, 3).all()
    assert not len(seen.maps)


DROPPING = {"attention_probs_dropout_prob": 0.4, "hidden_dropout_prob": 0.0}


class EvenHead(Intervention):
    """Makes the second layer's first head uniform."""

    def weights(self, weights: torch.Tensor, call: Call) -> torch.Tensor:
        if call.layer != 2:
            return weights
        even = torch.full_like(weights[:, :1], 1 / weights.shape[-1])
        return torch.cat([even, weights[:, 1:]], dim=1)


def trained(family="bert", **keys):
    """A model in training mode, whose hidden states know no dropout."""
    torch.manual_seed(0)
    config = AutoConfig.for_model(family, **{**FAMILIES.get(family, SIZES), **SPECIAL, **keys})
    return AutoModel.from_config(config).train()


def test_maps_of_a_model_in_training_are_those_before_dropout():
    model = trained(**DROPPING)
    with observe(model, maps=True, outputs=True, values=True) as seen:
        model(**inputs())
    for layer in seen.maps:
        sums = seen.maps[layer].sum(-1)
        torch.testing.assert_close(sums, torch.ones_like(sums))
        dropped = seen.outputs[layer] - seen.maps[layer] @ seen.values[layer]
        assert dropped.abs().max() > 1e-3, "what the layer goes on with has dropout"
    first = seen.maps[1]
    with torch.inference_mode(), observe(model.eval(), maps=True) as seen:
        model(**inputs())
    torch.testing.assert_close(first, seen.maps[1])  # nothing before it has dropout


def test_maps_in_training_are_those_after_interventions():
    model = trained(**DROPPING)
    with observe(model, maps=True) as seen, intervene(model, EvenHead()):
        model(**inputs())
    even = seen.maps.head(2, 1)
    assert torch.equal(even, torch.full_like(even, 1 / 7))


def test_observing_changes_nothing_of_a_training():
    model = trained(**DROPPING)
    found = []
    for wanted in ({"values": True}, {"maps": True, "values": True}):
        torch.manual_seed(1)
        with observe(model, **wanted):
            found.append(model(**inputs())[0])
    assert torch.equal(*found)


def test_reported_maps_of_a_model_in_training_are_refused():
    """DeBERTa's maps can only be reported, after its dropout."""
    model = trained("deberta-v2", attention_probs_dropout_prob=0.4)
    with observe(model, maps=True), pytest.raises(InputError, match=r"training mode.*model.eval"):
        model(**inputs())
    with observe(model.eval(), maps=True) as seen:
        model(**inputs())
    torch.testing.assert_close(seen.maps[1].sum(-1)[0], torch.ones(HEADS, 7))


def gradients(model, *, checkpointing, reentrant=False, removed=EvenHead, **observed):
    """Gradients of all parameters, with a changed head and with observers."""
    model.zero_grad()
    if checkpointing:
        model.gradient_checkpointing_enable({"use_reentrant": reentrant})
    else:
        model.gradient_checkpointing_disable()
    with intervene(model, removed()), observe(model, **observed):
        model(**inputs())[0].pow(2).sum().backward()
    return {name: p.grad.clone() for name, p in model.named_parameters() if p.grad is not None}


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")
@pytest.mark.parametrize("reentrant", [True, False])
@pytest.mark.parametrize("observed", [{}, {"maps": True, "reach": True, "hidden": True}])
@pytest.mark.parametrize("family", ["bert", "roberta", "modernbert"])
def test_gradient_checkpointing_changes_no_gradient(family, reentrant, observed):
    dropout = {} if family == "modernbert" else dict.fromkeys(DROPPING, 0.0)
    model = trained(family, **dropout)
    plain = gradients(model, checkpointing=False, **observed)
    again = gradients(model, checkpointing=True, reentrant=reentrant, **observed)
    assert plain.keys() == again.keys()
    for name, gradient in plain.items():
        torch.testing.assert_close(again[name], gradient, rtol=1e-4, atol=1e-4, msg=name)
    intact = gradients(model, checkpointing=False, removed=Intervention)
    assert any((intact[name] - plain[name]).abs().max() > 1e-2 for name in plain)


class SecondMlp(Intervention):
    def mlp(self, output: torch.Tensor, layer: int) -> torch.Tensor:
        return output * (layer != 2)


@pytest.mark.filterwarnings("ignore:.*gradient_checkpointing:FutureWarning")
def test_gradient_checkpointing_knows_the_layers_of_mlps():
    model = trained(**dict.fromkeys(DROPPING, 0.0))
    plain = gradients(model, checkpointing=False, removed=SecondMlp)
    again = gradients(model, checkpointing=True, removed=SecondMlp)
    for name, gradient in plain.items():
        torch.testing.assert_close(again[name], gradient, rtol=1e-4, atol=1e-4, msg=name)
    assert not plain["encoder.layer.1.output.dense.weight"].any()


def test_a_layer_that_is_computed_again_is_known_by_its_module():
    session = Session(2)
    one, other = torch.nn.Identity(), torch.nn.Identity()
    assert [session.enter(each) for each in (one, other, other, one)] == [True, True, False, False]
    assert session.layer == 1
    session.begin()
    assert session.enter(one)
    assert session.enter(one), "layers that share their module"
    with pytest.raises(InputError, match="gradient checkpointing, they cannot be told apart"):
        session.enter(one)


def test_a_copy_made_in_a_context_is_intact(bert):
    with torch.inference_mode():
        plain = bert(**inputs())[0]
        with intervene(bert, EvenHead(), SecondMlp()), observe(bert, maps=True) as seen:
            twin = copy.deepcopy(bert)
            changed = bert(**inputs())[0]
            maps = seen.maps[1].clone()
            torch.testing.assert_close(twin(**inputs())[0], plain)
            assert torch.equal(seen.maps[1], maps), "a run of the copy is not observed"
            assert torch.equal(bert(**inputs())[0], changed)
        torch.testing.assert_close(twin(**inputs())[0], plain)
        with intervene(twin, EvenHead(), SecondMlp()):
            torch.testing.assert_close(twin(**inputs())[0], changed)
        assert torch.equal(bert(**inputs())[0], plain)
    assert (changed - plain).abs().max() > 1e-3
