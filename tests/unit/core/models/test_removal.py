"""Heads removed for good, against the model in which they are disabled."""

from pathlib import Path

import pytest
import torch
from glue import TASKS
from tiny_models import save_classifier

from darksecrets.core.interventions.disable import disable
from darksecrets.core.models.loading import load_classifier
from darksecrets.core.models.removal import remove_heads, remove_mlps
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError

SETS = [
    {1: frozenset({2, 4})},
    {1: frozenset({1}), 2: frozenset({1, 2, 3})},
    {2: frozenset({1, 2, 3, 4})},
]


def classifier(family: str, folder: Path):
    saved = save_classifier(folder / family, family, TASKS["RTE"])
    model, _ = load_classifier(saved, TASKS["RTE"], 1)
    return model.eval(), load_tokenizer(saved)


def batch_for(tokenizer, examples: int = 3, length: int = 9) -> dict[str, torch.Tensor]:
    ids = torch.randint(4, 7, (examples, length), generator=torch.Generator().manual_seed(1))
    mask = torch.ones_like(ids)
    mask[-1, length // 2 :] = 0
    batch = {"input_ids": ids.masked_fill(mask == 0, tokenizer.pad_token_id)}
    batch["attention_mask"] = mask
    if "token_type_ids" in tokenizer.model_input_names:
        batch["token_type_ids"] = torch.zeros_like(ids)
    return batch


@pytest.mark.parametrize("heads", SETS)
@pytest.mark.parametrize("family", ["bert", "roberta", "electra"])
def test_logits_are_those_with_the_heads_disabled(family, heads, tmp_path):
    model, tokenizer = classifier(family, tmp_path)
    batch, before = batch_for(tokenizer), sum(p.numel() for p in model.parameters())
    with torch.no_grad(), disable(model, heads, "zero"):
        expected = model(**batch).logits
    with torch.no_grad():
        assert not torch.allclose(model(**batch).logits, expected, atol=1e-4)
    remove_heads(model, heads)
    with torch.no_grad():
        assert torch.allclose(model(**batch).logits, expected, rtol=0, atol=1e-5)
    hidden, size = model.config.hidden_size, model.config.hidden_size // 4
    of_a_head = 4 * hidden * size + 3 * size  # the projection's bias is of the layer
    removed = sum(map(len, heads.values()))
    assert before - sum(p.numel() for p in model.parameters()) == removed * of_a_head


def test_what_cannot_be_removed_is_named(tmp_path):
    model, _ = classifier("bert", tmp_path)
    for heads, found in (({3: frozenset({1})}, "layer 3"), ({1: frozenset({5})}, "heads 5")):
        with pytest.raises(InputError, match=rf"{found}.* 2 layers of 4 heads"):
            remove_heads(model, heads)
    with pytest.raises(InputError, match=r"MLPs of layers 0, 3 to remove: the .* 2 layers"):
        remove_mlps(model, [0, 1, 3])
    for family in ("albert", "distilbert"):
        other, _ = classifier(family, tmp_path)
        message = rf"(?i){family}.* cannot be removed, only disabled"
        with pytest.raises(InputError, match=message):
            remove_heads(other, SETS[0])
        with pytest.raises(InputError, match=message):
            remove_mlps(other, [1])


def test_a_model_without_any_head_or_mlp_still_runs(tmp_path):
    """What is left of a layer is its biases and norms."""
    model, tokenizer = classifier("bert", tmp_path)
    remove_heads(model, dict.fromkeys((1, 2), frozenset({1, 2, 3, 4})))
    remove_mlps(model, [1, 2])
    batch = batch_for(tokenizer)
    with torch.no_grad():
        hidden = model.base_model.embeddings(batch["input_ids"])
        for layer in model.base_model.encoder.layer:
            attention = layer.attention.output
            hidden = attention.LayerNorm(hidden + attention.dense.bias)
            hidden = layer.output.LayerNorm(hidden)
        expected = model.classifier(model.base_model.pooler(hidden))
        assert torch.allclose(model(**batch).logits, expected, rtol=0, atol=1e-6)
