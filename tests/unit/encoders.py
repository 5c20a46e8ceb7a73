"""Small random encoders of ten families, each with a tokenizer of its family's kind.

The vocabularies are learned from a few sentences. Everything else is the family's: algorithm,
normalizer, pre-tokenizer, post-processor (`PUBLISHED`), special tokens, how sentences are joined,
segment ids, and its class in `transformers`.
"""

import functools
import io
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import sentencepiece
import torch
from tokenizers import (
    Tokenizer,
    decoders,
    models,
    normalizers,
    pre_tokenizers,
    processors,
    trainers,
)
from transformers import (
    AlbertTokenizer,
    AutoConfig,
    AutoModel,
    BertTokenizer,
    CamembertTokenizer,
    DebertaV2Tokenizer,
    DistilBertTokenizer,
    MPNetTokenizer,
    PreTrainedTokenizerBase,
    PreTrainedTokenizerFast,
    RobertaTokenizer,
    XLMRobertaTokenizer,
)

LAYERS, HEADS, SIZE = 3, 4, 64
#: Positions that the models with learned positions have.
POSITIONS = 160
#: Largest distance that a query of ModernBERT's local layers reaches.
WINDOW = 24

SENTENCES = (
    "The old cat sleeps on the wooden chair near the window, and she does not move.",
    "A young painter bought three unbelievable pictures of horses in the village.",
    "The horses run; nobody can't see them behind the unfinished walls.",
    "She doesn't believe that the painter sold his own house to a stranger.",
)
PAIRS = {
    "sentence1": [SENTENCES[0], SENTENCES[1], "She sleeps.", SENTENCES[3]],
    "sentence2": ["The cat moves.", SENTENCES[2], "The cat!", SENTENCES[1]],
}


def _fields(message: bytes) -> Iterator[tuple[int, bytes]]:
    """Number and content of the fields of a message of protocol buffers that have a length."""

    def number() -> int:
        value, shift = 0, 0
        while (byte := stream.read(1)) and byte[0] >= 128:
            value, shift = value | (byte[0] - 128) << shift, shift + 7
        return value | (byte[0] if byte else 0) << shift

    stream = io.BytesIO(message)
    while stream.tell() < len(message):
        key = number()
        if key % 8 == 2:
            yield key // 8, stream.read(number())
        elif key % 8 == 0:
            number()
        else:
            stream.read({1: 8, 5: 4}[key % 8])


@functools.cache
def charsmap() -> bytes:
    """SentencePiece's rules nmt_nfkc, with which XLM-R, CamemBERT and ALBERT were trained."""
    model = io.BytesIO()
    sentencepiece.SentencePieceTrainer.train(
        sentence_iterator=iter(SENTENCES),
        model_writer=model,
        vocab_size=60,
        hard_vocab_limit=False,
        normalization_rule_name="nmt_nfkc",
        minloglevel=2,
    )
    normalizer = dict(_fields(model.getvalue()))[3]  # normalizer_spec
    return dict(_fields(normalizer))[2]  # precompiled_charsmap


def _learned(trainer: Any, model: Any, before: Any, *, lower: bool = False) -> Tokenizer:
    tokenizer = Tokenizer(model)
    tokenizer.pre_tokenizer = before
    texts = [text.lower() if lower else text for text in SENTENCES * 3]
    tokenizer.train_from_iterator(texts, trainer)
    return tokenizer


def _word_pieces(*special: str) -> dict[str, int]:
    """A vocabulary of WordPiece: every letter, the commonest words, some parts of others.

    Written down because the trainer breaks ties between pieces by chance.
    """
    letters = sorted({letter for text in SENTENCES for letter in text.lower() if letter != " "})
    within = [f"##{letter}" for letter in letters if letter.isalpha()]
    words = ("the", "she", "old", "horses", "painter", "believ", "pict", "un")
    parts = ("##able", "##ures", "##in", "##er", "##nd", "##ow", "##ll")
    pieces = (*special, *letters, *within, *words, *parts)
    return {piece: number for number, piece in enumerate(pieces)}


def _byte_pairs(*special: str) -> tuple[dict[str, int], list[tuple[str, str]]]:
    """A vocabulary and the merges of byte-level BPE."""
    trainer = trainers.BpeTrainer(
        vocab_size=400,
        special_tokens=list(special),
        initial_alphabet=pre_tokenizers.ByteLevel.alphabet(),
        show_progress=False,
    )
    before = pre_tokenizers.ByteLevel(add_prefix_space=False)
    model = json.loads(_learned(trainer, models.BPE(), before).to_str())["model"]
    return model["vocab"], [tuple(merge) for merge in model["merges"]]


def _unigrams(*special: str, lower: bool = False) -> list[tuple[str, float]]:
    """A vocabulary of SentencePiece's unigram model, special tokens first."""
    trainer = trainers.UnigramTrainer(
        vocab_size=120, special_tokens=list(special), unk_token="<unk>", show_progress=False
    )
    tokenizer = _learned(trainer, models.Unigram(), pre_tokenizers.Metaspace(), lower=lower)
    pieces = json.loads(tokenizer.to_str())["model"]["vocab"]
    found = [(piece, round(score, 4)) for piece, score in pieces if piece not in special]
    found.sort(key=lambda entry: (-entry[1], entry[0]))  # the trainer breaks ties by chance
    return [*((name, 0.0) for name in special), *found]


BERTS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
ROBERTAS = ("<s>", "<pad>", "</s>", "<unk>", "<mask>")


def _bert() -> PreTrainedTokenizerBase:
    return BertTokenizer(vocab=_word_pieces(*BERTS))


def _distilbert() -> PreTrainedTokenizerBase:
    return DistilBertTokenizer(vocab=_word_pieces(*BERTS))


def _roberta() -> PreTrainedTokenizerBase:
    vocabulary, merges = _byte_pairs(*ROBERTAS)
    return RobertaTokenizer(vocab=vocabulary, merges=merges)


def _albert() -> PreTrainedTokenizerBase:
    vocabulary = _unigrams("<pad>", "<unk>", "[CLS]", "[SEP]", "[MASK]", lower=True)
    return AlbertTokenizer(vocab=vocabulary, _spm_precompiled_charsmap=charsmap())


def _xlm_roberta() -> PreTrainedTokenizerBase:
    return XLMRobertaTokenizer(vocab=_unigrams(*ROBERTAS), _spm_precompiled_charsmap=charsmap())


def _camembert() -> PreTrainedTokenizerBase:
    special = ("<s>NOTUSED", "<pad>", "</s>NOTUSED", "<unk>", "<unk>NOTUSED", "<s>", "</s>")
    vocabulary = [*_unigrams(*special), ("<mask>", 0.0)]
    return CamembertTokenizer(vocab=vocabulary, _spm_precompiled_charsmap=charsmap())


def _mpnet() -> PreTrainedTokenizerBase:
    return MPNetTokenizer(vocab=_word_pieces("<s>", "<pad>", "</s>", "[UNK]", "<mask>"))


def _deberta() -> PreTrainedTokenizerBase:
    return DebertaV2Tokenizer(vocab=_unigrams(*BERTS))


def _modernbert() -> PreTrainedTokenizerBase:
    vocabulary, merges = _byte_pairs(*BERTS)
    backend = Tokenizer(models.BPE(vocabulary, merges))
    backend.normalizer = normalizers.NFC()
    backend.pre_tokenizer = pre_tokenizers.ByteLevel(add_prefix_space=False)
    backend.decoder = decoders.ByteLevel()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(name, vocabulary[name]) for name in ("[CLS]", "[SEP]")],
    )
    names = ("pad", "unk", "cls", "sep", "mask")
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        model_input_names=["input_ids", "attention_mask"],
        **{f"{name}_token": token for name, token in zip(names, BERTS, strict=True)},
    )


@dataclass(frozen=True)
class Parts:
    """What a published tokenizer does besides looking pieces up, as types of `tokenizers`.

    Attributes:
        source: File that has them.
        normalizer: Of texts, in their order; empty if there is none.
        before: What cuts a text into words.
        after: What adds special tokens.
    """

    source: str
    normalizer: tuple[str, ...]
    before: tuple[str, ...]
    after: str = "TemplateProcessing"


_METASPACE = ("WhitespaceSplit", "Metaspace")
_ACCENTS = ("Replace", "Replace", "NFKD", "StripAccents", "Lowercase", "Precompiled")
_BERT = (("BertNormalizer",), ("BertPreTokenizer",))
PUBLISHED = {
    "BERT": Parts("google-bert/bert-base-uncased, tokenizer.json", *_BERT),
    "DistilBERT": Parts("distilbert/distilbert-base-uncased, tokenizer.json", *_BERT),
    "ELECTRA": Parts("google/electra-base-discriminator, tokenizer.json", *_BERT),
    "MPNet": Parts("microsoft/mpnet-base, tokenizer.json", *_BERT),
    "RoBERTa": Parts("FacebookAI/roberta-base, tokenizer.json", (), ("ByteLevel",)),
    "ModernBERT": Parts("answerdotai/ModernBERT-base, tokenizer.json", ("NFC",), ("ByteLevel",)),
    "ALBERT": Parts("albert/albert-base-v2, tokenizer.json", _ACCENTS, _METASPACE),
    "XLM-RoBERTa": Parts(
        "FacebookAI/xlm-roberta-base, tokenizer.json", ("Precompiled",), _METASPACE
    ),
    "CamemBERT": Parts("almanach/camembert-base, tokenizer.json", ("Precompiled",), _METASPACE),
    # Published with spm.model only: transformers makes the rest.
    "DeBERTa-v2": Parts(
        "transformers, DebertaV2Tokenizer", ("Replace", "NFC", "Strip"), ("Metaspace",)
    ),
    "DeBERTa-v3": Parts(
        "transformers, DebertaV2Tokenizer", ("Replace", "NFC", "Strip"), ("Metaspace",)
    ),
}


@dataclass(frozen=True)
class Family:
    """A family of encoders.

    Attributes:
        name: Its name in the documentation.
        model_type: Its name in `transformers`.
        tokenizer: Makes a tokenizer of its kind.
        settings: Keys of its configuration, as published models have them, besides their sizes.
    """

    name: str
    model_type: str
    tokenizer: Callable[[], PreTrainedTokenizerBase]
    settings: dict[str, Any] = field(default_factory=dict)

    def save(self, folder: Path, seed: int = 0) -> Path:
        """Save a random encoder, whose weights are large enough for distinct maps."""
        tokenizer = self.tokenizer()
        tokenizer.model_max_length = 128
        settings = {
            "vocab_size": len(tokenizer),
            "max_position_embeddings": POSITIONS,
            "num_hidden_layers": LAYERS,
            "num_attention_heads": HEADS,
            "hidden_size": SIZE,
            "intermediate_size": 2 * SIZE,
            "initializer_range": 0.2,
            **{
                f"{name}_token_id": getattr(tokenizer, f"{name}_token_id")
                for name in ("pad", "bos", "eos")
            },
            **self.settings,
        }
        if self.model_type == "distilbert":
            settings["hidden_dim"] = settings.pop("intermediate_size")
        config = AutoConfig.for_model(self.model_type, **settings)
        with torch.random.fork_rng():
            torch.manual_seed(seed)
            AutoModel.from_config(config).save_pretrained(folder)
        tokenizer.save_pretrained(folder)
        return folder


_DEBERTA = {
    "relative_attention": True,
    "pos_att_type": ["p2c", "c2p"],
    "type_vocab_size": 0,
    "position_biased_input": False,
    "norm_rel_ebd": "layer_norm",
    "share_att_key": True,
    "position_buckets": 256,
}

FAMILIES = {
    family.name: family
    for family in (
        Family("BERT", "bert", _bert),
        Family("RoBERTa", "roberta", _roberta, {"type_vocab_size": 1}),
        Family("DistilBERT", "distilbert", _distilbert),
        Family("ELECTRA", "electra", _bert, {"embedding_size": 32}),
        Family("ALBERT", "albert", _albert, {"embedding_size": 32}),
        Family("XLM-RoBERTa", "xlm-roberta", _xlm_roberta, {"type_vocab_size": 1}),
        Family("CamemBERT", "camembert", _camembert, {"type_vocab_size": 1}),
        Family("MPNet", "mpnet", _mpnet),
        Family("DeBERTa-v2", "deberta-v2", _deberta, _DEBERTA | {"conv_kernel_size": 3}),
        Family("DeBERTa-v3", "deberta-v2", _deberta, _DEBERTA),
        Family(
            "ModernBERT",
            "modernbert",
            _modernbert,
            {"local_attention": 2 * WINDOW, "global_attn_every_n_layers": 3},
        ),
    )
}
