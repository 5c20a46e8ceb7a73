"""What a tokenizer leaves of texts, against counts by hand on whole and on cut texts."""

import logging

import pytest
import tokenizers
from tokenizers import models, normalizers, pre_tokenizers, processors
from transformers import PreTrainedTokenizerFast

from darksecrets.core.data import coverage
from darksecrets.core.data.encoding import encode
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError
from darksecrets.core.run.files import RESOURCES

TINY = RESOURCES / "tiny-bert"
SPECIAL = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]")
KNOWN = ("the", "cat", "dog", "was", "good", "bad", ".", "é", "##s")


def tokenizer(model, unknown="[UNK]", normalizer=None):
    """A tokenizer of BERT's kind for single texts and pairs."""
    backend = tokenizers.Tokenizer(model)
    backend.normalizer = normalizer
    backend.pre_tokenizer = pre_tokenizers.BertPreTokenizer()
    backend.post_processor = processors.TemplateProcessing(
        single="[CLS] $A [SEP]",
        pair="[CLS] $A [SEP] $B:1 [SEP]:1",
        special_tokens=[(name, SPECIAL.index(name)) for name in ("[CLS]", "[SEP]")],
    )
    return PreTrainedTokenizerFast(
        tokenizer_object=backend,
        unk_token=unknown,
        pad_token="[PAD]",
        cls_token="[CLS]",
        sep_token="[SEP]",
        mask_token="[MASK]",
    )


@pytest.fixture(scope="module")
def cased():
    """Knows a few words in lower case, and reads capitals as they are."""
    vocabulary = {piece: number for number, piece in enumerate((*SPECIAL, *KNOWN))}
    return tokenizer(models.WordPiece(vocabulary, unk_token="[UNK]"))


@pytest.fixture(scope="module")
def letters():
    """Byte pairs of a few letters, without an unknown token: other letters vanish."""
    pieces = (*SPECIAL, *"abcdefghijklmnopqrstuvwxyzMDCHEN.")
    vocabulary = {piece: number for number, piece in enumerate(pieces)}
    return tokenizer(models.BPE(vocabulary, []), unknown=None)


def measured(reader, *columns, max_length=128):
    encoded = reader(
        *map(list, columns), truncation="longest_first", max_length=max_length, padding=False
    )
    return coverage.measure(
        columns, encoded.encodings, reader.backend_tokenizer, reader.unk_token_id, max_length
    )


@pytest.mark.parametrize(
    ("text", "words", "unknown"),
    [
        ("the cat was good .", 5, ()),
        ("the cats was good .", 5, ()),
        ("The Cat WAS good .", 5, ("The", "Cat", "WAS")),
        ("the teapot was good!", 5, ("teapot", "!")),
        ("猫 was good .", 4, ("猫",)),
        ("é e\u0301", 2, ("e\u0301",)),
    ],
)
def test_unknown_words_are_counted(cased, text, words, unknown):
    found = measured(cased, [text])
    assert (found.words, found.unknown, found.shown) == (words, len(unknown), unknown)
    assert found.share_unknown == len(unknown) / words


def test_letters_that_vanish_are_unknown(letters):
    found = measured(letters, ["das MÄDCHEN", "ein hund ."])
    assert letters.tokenize("MÄDCHEN") == [*"MDCHEN"]
    assert (found.words, found.unknown, found.shown) == (5, 1, ("MÄDCHEN",))


def test_accents_that_a_tokenizer_takes_off_are_not_unknown():
    vocabulary = {piece: number for number, piece in enumerate((*SPECIAL, "cafe"))}
    plain = tokenizer(
        models.WordPiece(vocabulary, unk_token="[UNK]"),
        normalizer=normalizers.BertNormalizer(lowercase=True),
    )
    assert measured(plain, ["Café cafe\u0301 ca\u00adfe ca\u200dfe"]).unknown == 0


def test_byte_pieces_know_every_word():
    backend = pre_tokenizers.ByteLevel(add_prefix_space=False)
    pieces = [*SPECIAL, *sorted(backend.alphabet())]
    model = models.BPE({piece: number for number, piece in enumerate(pieces)}, [])
    reader = tokenizer(model)
    reader.backend_tokenizer.pre_tokenizer = backend
    assert measured(reader, ["Кошка 猫 MÄDCHEN 👍 e\u0301"]).unknown == 0


def test_words_beyond_the_cut_are_not_counted(cased):
    text = "the cat was good . " * 10 + "teapot"
    whole, cut = measured(cased, [text]), measured(cased, [text], max_length=12)
    assert (whole.cut, whole.words, whole.unknown) == (0, 51, 1)
    assert (cut.cut, cut.words, cut.unknown) == (1, 10, 0)


def test_both_texts_of_a_pair_are_counted(cased):
    found = measured(cased, ["the cat", "the dog"], ["a cat was", "the dog"])
    assert (found.words, found.unknown, found.shown) == (9, 1, ("a",))
    assert found.examples == 2


def test_shares_of_many_texts_are_those_of_all(cased):
    """Five hundred texts of three thousand are looked at."""
    texts = ["the cat was bad ." if n % 4 else "the teapot was bad ." for n in range(3001)]
    found = measured(cased, texts)
    every = sum("teapot" in text for text in texts) / (5 * len(texts))
    assert found.share_unknown == pytest.approx(every, abs=0.01)
    assert found.words < 2600


def test_different_texts_that_become_the_same_are_counted(cased):
    texts = [f"the cat was good . {'the dog was bad . ' * 5} {n}" for n in range(20)]
    assert (measured(cased, texts).seen, measured(cased, texts).texts) == (1, 20)
    known = [f"the cat was {word} ." for word in ("good", "bad", "the")]
    assert (measured(cased, known).seen, measured(cased, known).texts) == (3, 3)


SEVERAL = ["the dog was bad .", "the cat was good .", "the dog was good .", "the cat was bad ."]


@pytest.mark.parametrize(
    ("texts", "message"),
    [
        (["The Cat WAS good .", "The Dog WAS bad ."], r"not know 60% .*'The', 'Cat', 'WAS'.*lower"),
        (["Кошка сидела на ковре ."] * 3, r"not know 80% .*'Кошка'.*language and script"),
        (["猫坐在垫子上。"], r"not know 100% .*'猫'"),
        (["MKTAYIAKQR", "the MKVLAAGIVG"], r"not know 67%"),
    ],
)
def test_texts_of_which_nearly_nothing_is_known_are_refused(cased, texts, message):
    with pytest.raises(InputError, match=message):
        encode({"sentence1": texts}, cased, 128, where="reviews, train")
    assert encode({"sentence1": texts}, cased, 128, tolerant=True)["input_ids"]


def test_texts_that_are_all_cut_to_the_same_are_refused(cased):
    texts = ["the cat was good . " * 9 + text for text in SEVERAL]
    with pytest.raises(InputError, match=r"4 different texts become 1 .* 100% .*max_length"):
        encode({"sentence1": texts}, cased, 16)
    assert encode({"sentence1": texts}, cased, 128)["input_ids"]


@pytest.mark.parametrize(
    "texts",
    [
        SEVERAL,
        ["the cat was good ."] * 5,
        [*SEVERAL * 24, "the teapot was bad .", "é " * 500],
        ["good"],
        ["the cat was good . " * 9],
    ],
    ids=["known", "all equal", "1 % unknown, one long text", "a word", "one text that is cut"],
)
def test_texts_that_are_right_pass_without_a_word(cased, texts, caplog):
    with caplog.at_level(logging.WARNING):
        encode({"sentence1": texts}, cased, 64 if len(texts) > 1 else 128)
    assert not caplog.messages


def test_what_is_cut_or_unknown_is_said(cased, caplog):
    texts = [*SEVERAL * 13, "the teapot was bad .", "the cat was teal .", *["the cat . " * 20] * 6]
    with caplog.at_level(logging.WARNING):
        encode({"sentence1": texts}, cased, 40, where="reviews, train")
    cut, *others = caplog.messages
    assert cut == (
        "reviews, train: 10% of 60 texts are cut after 40 tokens (`fine_tuning.max_length`)."
    )
    assert not others, "fewer than 5 % of the words are unknown"
    caplog.clear()
    with caplog.at_level(logging.WARNING):
        encode({"sentence1": [*SEVERAL, "the teapot was teal ."]}, cased, 40, where="texts")
    assert caplog.messages == ["texts: 8% of the words are unknown, such as 'teapot', 'teal'."]


@pytest.mark.parametrize("text", ["\u0301", "Ä", "\ufffd"])
def test_a_text_without_a_word_piece_is_refused(letters, text):
    for columns in ({"sentence1": ["ein hund", text]}, {"sentence1": ["a"], "sentence2": [text]}):
        with pytest.raises(InputError, match="makes no word piece of"):
            encode(columns, letters, 128, where="mine, validation")


def test_special_tokens_in_letters_are_said_and_are_special(caplog):
    reader = load_tokenizer(TINY)
    texts = {
        "pair": {"sentence1": ["the dog ran ."], "sentence2": ["a teacher sings ."]},
        "typed": {"sentence1": ["the dog ran . [SEP] a teacher sings ."]},
        "masked": {"sentence1": ["the [MASK] ran . a teacher sings ."]},
    }
    with caplog.at_level(logging.WARNING):
        found = {name: encode(columns, reader, 128, layout=True) for name, columns in texts.items()}
    assert found["typed"]["input_ids"] == found["pair"]["input_ids"]
    for name in ("special_tokens_mask",):
        assert found["typed"][name] == found["pair"][name]
    special = found["typed"]["special_tokens_mask"][0]
    assert [span == (0, 0) for span in found["typed"]["offset_mapping"][0]] == [
        bool(flag) for flag in special
    ]
    assert sum(found["masked"]["special_tokens_mask"][0]) == 2, "a mask stands for a word"
    assert [said.count("special tokens in letters") for said in caplog.messages] == [1, 1]


def test_a_tokenizer_read_without_transformers_measures_the_same(tmp_path):
    reader = load_tokenizer(TINY)
    reader.save_pretrained(tmp_path)
    columns = (["the dog ran xyzzy .", "猫 " * 90], ["a cat [SEP] .", "the cat sat ."])
    own = measured(reader, *columns, max_length=64)
    assert coverage.measure_with(tmp_path, columns, 64) == own
    assert own.cut == 1
    assert own.typed == 1
    assert own.unknown > 50
