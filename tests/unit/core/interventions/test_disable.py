"""Disabling heads, against outputs computed by hand from the model's own weights."""

import copy

import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier
from transformers import AutoConfig, AutoModelForSequenceClassification

from darksecrets.core.interventions.disable import disable
from darksecrets.core.run.errors import InputError
from darksecrets.paper.ablation.preflight import unreachable

FAMILIES = ("bert", "roberta", "electra", "distilbert")
HEADS, SIZE = 4, 8  # of save_classifier's models: two layers of four heads
CLOSE = {"rtol": 1e-5, "atol": 1e-5}


@pytest.fixture(scope="module", params=FAMILIES)
def model(request, tmp_path_factory):
    folder = save_classifier(tmp_path_factory.mktemp(request.param), request.param, TASKS["RTE"])
    return AutoModelForSequenceClassification.from_pretrained(folder).eval()


@pytest.fixture(scope="module")
def bert(tmp_path_factory):
    folder = save_classifier(tmp_path_factory.mktemp("one"), "bert", TASKS["RTE"])
    return AutoModelForSequenceClassification.from_pretrained(folder).eval()


def inputs(lengths=(7, 4), seed=0):
    """Ids 4 to 6 are words in every tokenizer of tiny_models; 1 and 0 pad."""
    ids = torch.randint(4, 7, (len(lengths), max(lengths)), generator=_generator(seed))
    mask = torch.arange(max(lengths)) < torch.tensor(lengths)[:, None]
    return {"input_ids": ids, "attention_mask": mask.long()}


def _generator(seed):
    return torch.Generator().manual_seed(seed)


def pad(batch, model):
    ids = batch["input_ids"].masked_fill(batch["attention_mask"] == 0, model.config.pad_token_id)
    return {**batch, "input_ids": ids}


def parts(model, layer):
    """The value projection and the module that takes the heads' outputs, of any family."""
    base = getattr(model, model.base_model_prefix)
    if hasattr(base, "transformer"):
        attention = base.transformer.layer[layer].attention
        return attention.v_lin, attention.out_lin
    attention = base.encoder.layer[layer].attention
    return attention.self.value, attention.output.dense


def observe(model, layer, batch):
    """Run the model; return the outputs of a layer's heads, and the values, [n, L, head, size]."""
    seen = {}
    value, output = parts(model, layer)
    handles = [
        value.register_forward_hook(lambda _, __, found: seen.update(values=found)),
        output.register_forward_pre_hook(lambda _, given: seen.update(context=given[0])),
    ]
    with torch.no_grad():
        logits = model(**batch).logits
    for handle in handles:
        handle.remove()
    split = {name: found.unflatten(-1, (HEADS, SIZE)) for name, found in seen.items()}
    return logits, split["context"], split["values"]


@pytest.mark.parametrize("mode", ["uniform", "zero"])
@pytest.mark.parametrize("layer", [1, 2])
def test_a_disabled_head_gives_the_mean_of_the_values_or_nothing(model, layer, mode):
    batch = pad(inputs(), model)
    _, before, _ = observe(model, layer - 1, batch)
    with disable(model, {layer: [2, 4]}, mode):
        _, after, values = observe(model, layer - 1, batch)
    for example, length in enumerate(batch["attention_mask"].sum(1).tolist()):
        mean = values[example, :length].mean(dim=0)
        for head in range(HEADS):
            expected = before[example, :length, head]
            if head in (1, 3):
                expected = mean[head].expand(length, -1) * (mode == "uniform")
            torch.testing.assert_close(after[example, :length, head], expected, **CLOSE)
    assert (before[0, :, 1] - values[0].mean(0)[1]).abs().max() > 0.1, "the test would see it"


def test_maps_are_constant_over_real_tokens(model):
    batch = pad(inputs(), model)
    with torch.no_grad(), disable(model, "layer 2 head 3"):
        maps = model(**batch, output_attentions=True).attentions
    assert len(maps) == 2
    for example, length in enumerate((7, 4)):
        expected = torch.zeros(7)
        expected[:length] = 1 / length
        torch.testing.assert_close(maps[1][example, 2, :length], expected.expand(length, -1))
        assert not maps[0][example, :, :length, length:].any()
        assert maps[1][example, 0, :length, :length].std() > 1e-3


@pytest.mark.parametrize("mode", ["uniform", "zero"])
def test_padding_changes_nothing(model, mode):
    together = pad(inputs((7, 4, 2)), model)
    with torch.no_grad(), disable(model, "all of layer 1 + layer 2 head 1", mode):
        found = model(**together).logits
        for example, length in enumerate((7, 4, 2)):
            alone = {name: t[example : example + 1, :length] for name, t in together.items()}
            torch.testing.assert_close(model(**alone).logits[0], found[example], **CLOSE)


@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
@pytest.mark.parametrize("mode", ["uniform", "zero"])
def test_a_model_in_half_precision_gives_the_same_within_its_precision(model, dtype, mode):
    """Within 16 steps of its precision at the greatest output, after two layers."""
    batch = pad(inputs((7, 4, 2)), model)
    with torch.no_grad(), disable(model, {1: 1, 2: [1, 2]}, mode):
        expected = model(**batch).logits
    half = copy.deepcopy(model).to(dtype)
    with torch.no_grad(), disable(half, {1: 1, 2: [1, 2]}, mode):
        found = half(**batch).logits
    assert found.dtype == dtype
    reach = 16 * torch.finfo(dtype).eps * expected.abs().max().item()
    torch.testing.assert_close(found.float(), expected, rtol=0, atol=reach)


def test_the_model_is_whole_again_afterwards(model):
    batch = pad(inputs(), model)
    kernel = model.config._attn_implementation
    with torch.no_grad():
        before = model(**batch).logits
        with disable(model, 3):
            assert not torch.equal(model(**batch).logits, before)
        with pytest.raises(RuntimeError, match="stop"):
            _fail_inside(model)
        assert torch.equal(model(**batch).logits, before)
    assert model.config._attn_implementation == kernel


def _fail_inside(model):
    with disable(model, 3):
        raise RuntimeError("stop")


def test_contexts_add_up_and_the_inner_one_wins(bert):
    batch = inputs()
    with torch.no_grad():
        with disable(bert, {1: [1, 2], 2: 3}):
            expected = bert(**batch).logits
        with disable(bert, {1: 1}):
            one = bert(**batch).logits
            with disable(bert, {1: 2, 2: 3}):
                torch.testing.assert_close(bert(**batch).logits, expected)
            assert torch.equal(bert(**batch).logits, one), (
                "leaving the inner context undoes it alone"
            )
        with disable(bert, {1: [1, 2]}, "zero"), disable(bert, {1: 1}):
            mixed = bert(**batch).logits
        with disable(bert, {1: 2}, "zero"), disable(bert, {1: 1}):
            torch.testing.assert_close(bert(**batch).logits, mixed)


def test_an_encoder_without_classifier_and_other_models_beside_it(bert, model):
    other = pad(inputs(), model)
    with torch.no_grad():
        untouched = model(**other).logits
        with disable(bert.bert, "all of layer 1"):
            changed = bert(**inputs()).logits
            assert torch.equal(model(**other).logits, untouched)
        with disable(bert, "all of layer 1"):
            torch.testing.assert_close(bert(**inputs()).logits, changed)


SMALL = {
    "hidden_size": 32,
    "num_attention_heads": 4,
    "num_hidden_layers": 2,
    "intermediate_size": 64,
    "vocab_size": 50,
    "pad_token_id": 0,
}


@pytest.mark.parametrize(
    ("family", "words"),
    [
        ("deberta-v2", "0 calls of the attention interface for 2 layers, but every"),
        ("fnet", "0 calls"),
    ],
)
def test_attention_that_cannot_be_reached_is_refused(family, words, tmp_path):
    config = AutoConfig.for_model(family, **SMALL)
    config.save_pretrained(tmp_path)
    model = AutoModelForSequenceClassification.from_config(config).eval()
    with pytest.raises(InputError, match=words), disable(model, 1):
        pass
    reason = unreachable(tmp_path)
    assert reason.startswith(str(tmp_path))
    assert ": the heads of this model cannot be disabled" in reason, "what a user wants to know"
    assert "cannot be reached" in reason
