"""Tokenizers and random models small enough for unit tests."""

from __future__ import annotations

from tokenizers import Tokenizer, models, pre_tokenizers, processors
from transformers import BertTokenizer, PreTrainedTokenizerFast

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
        pad_token="<pad>",
        model_input_names=["input_ids", "attention_mask"],
        model_max_length=64,
    )
