"""Tokenizers that are refused, because they lose texts, and those that are not."""

import json

import encoders
import pytest
import tokenizers
import transformers
from tiny_models import SPECIAL

from darksecrets.core.data import encoding
from darksecrets.core.models import tokenizing
from darksecrets.core.run.errors import InputError


def small_config(pieces):
    """A configuration of a BERT with so many word pieces."""
    sizes = {"hidden_size": 16, "num_hidden_layers": 2, "num_attention_heads": 2}
    return transformers.BertConfig(**sizes, intermediate_size=32, vocab_size=pieces)


def test_tokenizers_that_cannot_be_used(tmp_path):
    with pytest.raises(InputError, match="has no tokenizer"):
        tokenizing.load_tokenizer(tmp_path)
    backend = tokenizers.Tokenizer(tokenizers.models.WordLevel({"the": 0, "<pad>": 1}, "the"))
    plain = transformers.PreTrainedTokenizerFast(tokenizer_object=backend, pad_token="<pad>")
    plain.save_pretrained(tmp_path)
    with pytest.raises(InputError, match=r"tokens \(None, None, '<pad>'\)"):
        tokenizing.load_tokenizer(tmp_path)
    (tmp_path / "tokenizer.json").write_text("{")
    with pytest.raises(InputError, match="cannot be loaded"):
        tokenizing.load_tokenizer(tmp_path)


CASED = ["The", "the", "Dog", "dog", "Paris", "May", "Ö", "ö", *"ABCDEFGHIJ", *"abcdefghij"]
"""Word pieces of which a tokenizer that reads lower case without accents can make a half."""


@pytest.mark.parametrize(
    ("settings", "right"),
    [
        (None, False),  # lower case is the default of BERT's tokenizer
        ({"do_lower_case": True}, False),
        ({"do_lower_case": False}, True),
    ],
    ids=["no settings", "lower case", "cased"],
)
def test_a_tokenizer_that_cannot_make_its_vocabulary_is_refused(settings, right, tmp_path):
    pieces = [*SPECIAL, *CASED]
    config = small_config(len(pieces))
    transformers.BertModel(config).save_pretrained(tmp_path)
    (tmp_path / "vocab.txt").write_text("\n".join(pieces), encoding="utf-8")
    if settings is not None:
        (tmp_path / "tokenizer_config.json").write_text(json.dumps(settings))
    if right:
        tokens = tokenizing.load_tokenizer(tmp_path).tokenize("The Dog")
        assert tokens == ["The", "Dog"]
    else:
        with pytest.raises(InputError, match=r'can never make \d+% .*"do_lower_case": false'):
            tokenizing.load_tokenizer(tmp_path)


_N = tokenizers.normalizers
CAPITALS = [f"\u2581{piece}" if len(piece) > 1 else piece for piece in CASED]
#: Normalizers of published tokenizers whose vocabularies have capitals and accents.
CASED_NORMALIZERS = {
    "XLM-R: SentencePiece's own": lambda: _N.Precompiled(encoders.charsmap()),
    "T5 and others that transformers converts": lambda: _N.Sequence(
        [_N.Precompiled(encoders.charsmap()), _N.Strip(left=False), _N.Replace(" ", "\u2581")]
    ),
    "Gemma: words are marked by the normalizer": lambda: _N.Replace(" ", "\u2581"),
    "Llama: the first word, too": lambda: _N.Sequence(
        [_N.Prepend("\u2581"), _N.Replace(" ", "\u2581")]
    ),
    "ModernBERT": _N.NFC,
    "RemBERT": lambda: _N.Sequence([_N.Replace("``", '"'), _N.NFKC()]),
}
UNCASED_NORMALIZERS = {
    "lower case": _N.Lowercase,
    "lower case before SentencePiece's own": lambda: _N.Sequence(
        [_N.Lowercase(), _N.Precompiled(encoders.charsmap())]
    ),
}


def unigrams(folder, normalizer):
    """A tokenizer of SentencePiece's kind whose vocabulary has capitals and accents."""
    pieces = [(piece, -1.0) for piece in (*SPECIAL, "\u2581", *CAPITALS)]
    backend = tokenizers.Tokenizer(tokenizers.models.Unigram(pieces, unk_id=1))
    backend.normalizer = normalizer
    backend.pre_tokenizer = tokenizers.pre_tokenizers.Metaspace()
    backend.decoder = tokenizers.decoders.Metaspace()
    backend.post_processor = tokenizers.processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B [SEP]",
        special_tokens=[(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")],
    )
    names = {"pad": "[PAD]", "unk": "[UNK]", "cls": "[CLS]", "sep": "[SEP]"}
    transformers.PreTrainedTokenizerFast(
        tokenizer_object=backend, **{f"{key}_token": name for key, name in names.items()}
    ).save_pretrained(folder)
    config = small_config(len(pieces))
    transformers.BertModel(config).save_pretrained(folder)


@pytest.mark.parametrize("name", CASED_NORMALIZERS)
def test_a_normalizer_that_keeps_capitals_is_accepted(name, tmp_path):
    unigrams(tmp_path, CASED_NORMALIZERS[name]())
    tokenizer = tokenizing.load_tokenizer(tmp_path)
    ids = tokenizer("The Dog Ö")["input_ids"]
    assert tokenizer.unk_token_id not in ids
    assert "Ö" in tokenizer.decode(ids)


@pytest.mark.parametrize("name", UNCASED_NORMALIZERS)
def test_a_normalizer_that_loses_the_capitals_of_a_vocabulary_is_refused(name, tmp_path):
    unigrams(tmp_path, UNCASED_NORMALIZERS[name]())
    with pytest.raises(InputError, match=r"can never make \d+% .* such as A, B"):
        tokenizing.load_tokenizer(tmp_path)


def test_pairs_need_a_template_of_their_own(tmp_path):
    unigrams(tmp_path, _N.NFC())
    encoding.check_pairs(tokenizing.load_tokenizer(tmp_path))
    file = tmp_path / "tokenizer.json"
    content = json.loads(file.read_text(encoding="utf-8"))
    for pair in ([], ["[CLS]", "A", "B", "[SEP]"], ["A", "[SEP]", "B", "[SEP]"]):
        content["post_processor"]["pair"] = [
            {"Sequence": {"id": each, "type_id": 0}}
            if each in "AB"
            else {"SpecialToken": {"id": each, "type_id": 0}}
            for each in pair or ["A", "B"]
        ]
        file.write_text(json.dumps(content), encoding="utf-8")
        tokenizer = tokenizing.load_tokenizer(tmp_path)
        with pytest.raises(
            InputError, match=r"of the pair 'a', 'a', not \[CLS\] a \[SEP\] a \[SEP\]"
        ):
            encoding.check_pairs(tokenizer)
