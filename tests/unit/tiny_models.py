"""Tokenizers and random models small enough for unit tests."""

from pathlib import Path
from types import SimpleNamespace

import torch
from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import (
    AutoConfig,
    AutoModelForSequenceClassification,
    BertTokenizer,
    PreTrainedTokenizerFast,
)

import darksecrets
from darksecrets.core.data.tasks import Task

WORDS = ["the", "naive", "un", "##believ", "##able", "dog", "##s", "bark", ".", "don", "'", "t"]
SPECIAL = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]"]


def bert_tokenizer(max_length: int = 64) -> BertTokenizer:
    vocabulary = {word: i for i, word in enumerate(SPECIAL + WORDS)}
    return BertTokenizer(vocab=vocabulary, do_lower_case=True, model_max_length=max_length)


def roberta_tokenizer() -> PreTrainedTokenizerFast:
    """Build a tokenizer with two separators between the sentences and no segment ids."""
    vocabulary = {"<s>": 0, "<pad>": 1, "</s>": 2, "<unk>": 3, "the": 4, "dogs": 5, "bark": 6}
    backend = Tokenizer(models.WordLevel(vocabulary, "<unk>"))
    backend.pre_tokenizer = pre_tokenizers.Whitespace()
    backend.post_processor = processors.RobertaProcessing(("</s>", 2), ("<s>", 0))
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        cls_token="<s>",
        sep_token="</s>",
        pad_token="<pad>",
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=64,
    )


def inspected(folder: Path, text: object):
    """What the random encoder of two layers and four heads does on text."""
    task = SimpleNamespace(labels=("no", "yes"))
    return darksecrets.inspect(text, save_classifier(folder, "bert", task), max_length=64)


def save_classifier(folder: Path, family: str, task: Task) -> Path:
    """Save a random classifier of two layers and four heads with its tokenizer.

    Its weights are large, so that heads have distinct patterns.
    """
    torch.manual_seed(0)
    tokenizer = roberta_tokenizer() if family == "roberta" else bert_tokenizer()
    sizes = {
        "vocab_size": len(tokenizer),
        "max_position_embeddings": 80,
        "num_hidden_layers": 2,
        "num_attention_heads": 4,
        "hidden_size": 32,
        "intermediate_size": 64,
        "initializer_range": 0.5,
        "pad_token_id": tokenizer.pad_token_id,
        "id2label": dict(enumerate(task.labels or ("score",))),
    }
    if family == "distilbert":
        tokenizer.model_input_names = ["input_ids", "attention_mask"]
        sizes["hidden_dim"] = sizes.pop("intermediate_size")
    if family == "albert":
        sizes["embedding_size"] = 16
    model = AutoModelForSequenceClassification.from_config(AutoConfig.for_model(family, **sizes))
    model.save_pretrained(folder)
    tokenizer.save_pretrained(folder)
    return folder
