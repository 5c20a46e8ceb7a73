"""The size of an encoder, read from its configuration alone."""

import json

import pytest
from transformers import AutoModel, BartConfig, BertConfig, DistilBertConfig, GPT2Config, T5Config

from darksecrets.core.models.size import BERT_BASE, read_size
from darksecrets.core.run.errors import InputError

NAMES = ("bert", "distil", "gpt2")


@pytest.fixture(scope="module")
def bert_base():
    model = AutoModel.from_config(BertConfig())
    return {name: value.numel() for name, value in model.named_parameters()}


def test_weights_of_bert_base_are_those_of_transformers(bert_base):
    """Biases, norms, positions and the pooler are left out: less than 2 % of all."""
    assert BERT_BASE.weights == pytest.approx(sum(bert_base.values()), rel=0.02)
    matrices = sum(
        size for name, size in bert_base.items() if name.startswith("encoder") and "weight" in name
    )
    assert BERT_BASE.encoder == pytest.approx(matrices, rel=0.001)


@pytest.mark.parametrize("config", [BertConfig, DistilBertConfig, GPT2Config, T5Config, BartConfig])
def test_sizes_are_those_that_transformers_tells(config, tmp_path):
    """Saved by transformers itself, and compared with its own attributes."""
    made = config()
    made.save_pretrained(tmp_path)
    size = read_size(tmp_path / "config.json")
    assert (size.layers, size.heads) == (made.num_hidden_layers, made.num_attention_heads)
    assert (size.hidden, size.vocabulary) == (made.hidden_size, made.vocab_size)


def test_what_is_missing_is_named_and_not_assumed(tmp_path):
    file = tmp_path / "config.json"
    file.write_text(json.dumps({"num_hidden_layers": 6, "num_attention_heads": 12}))
    with pytest.raises(InputError, match=r"config\.json has none of the keys hidden_size, dim"):
        read_size(file)
