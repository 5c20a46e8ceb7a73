"""The function `inspect` against transformers' own outputs and plain loops; the choice of maps."""

import logging
from types import SimpleNamespace

import numpy as np
import pytest
import torch
from encoders import FAMILIES, HEADS, LAYERS, SENTENCES, WINDOW
from tiny_models import save_classifier
from transformers import AutoModel, AutoTokenizer

import darksecrets
from darksecrets.core.run.errors import InputError
from darksecrets.pages.inspect import measuring
from darksecrets.pages.inspect.tables import EXAMPLES
from darksecrets.paper.features.measures import TABLES
from darksecrets.paper.patterns.network.classifier import save, untrained
from darksecrets.paper.patterns.tables import PATTERN_MAPS

TEXT = ["the dog barks .", "the unbelievable dogs don't bark . the dog", "bark ."]
PAIRS = [["the dog barks .", "the dogs bark ."], ["bark .", "the naive dog ."]]


@pytest.fixture(scope="module")
def model(tmp_path_factory):
    task = SimpleNamespace(labels=("no", "yes"))
    return save_classifier(tmp_path_factory.mktemp("model"), "bert", task)


@pytest.fixture(scope="module")
def classifier(tmp_path_factory):
    torch.manual_seed(0)
    folder = tmp_path_factory.mktemp("patterns") / "classifier"
    save(untrained(1.5), folder)
    return folder


@pytest.mark.parametrize("text", [TEXT, PAIRS], ids=["sentences", "pairs"])
def test_maps_and_measures_are_those_of_transformers_in_the_order_of_the_text(
    text, model, classifier
):
    seen = darksecrets.inspect(text, model, classifier=classifier, max_length=64)
    tokenizer = AutoTokenizer.from_pretrained(model)
    encoder = AutoModel.from_pretrained(model, attn_implementation="eager").eval()
    previous, entropy = [], []
    for number, example in enumerate(text):
        sentences = [example] if isinstance(example, str) else example
        inputs = tokenizer(*sentences, return_tensors="pt")
        with torch.no_grad():
            found = encoder(**inputs, output_attentions=True).attentions
        expected = torch.stack(found)[:, 0].double().numpy()
        assert np.allclose(seen.maps[number], expected, atol=1e-3)
        assert seen.tokens[number] == tokenizer.convert_ids_to_tokens(inputs["input_ids"][0])
        one = seen.maps[number].astype(np.float64)[1, 2]  # layer 2, head 3
        length = len(one)
        previous.append(sum(one[i, i - 1] for i in range(1, length)) / length)
        entropy.append(-sum(w * np.log(w) for row in one for w in row if w > 0) / length)
    statistics = seen.measures["head_statistics"].set_index(["statistic", "layer", "head"])
    values = statistics["value"]
    assert values["previous", 2, 3] == pytest.approx(np.mean(previous), abs=1e-6)
    assert values["entropy", 2, 3] == pytest.approx(np.mean(entropy), abs=2e-4)


def test_a_look_with_local_attention_knows_its_reach(classifier, tmp_path):
    """All layers but the first of this ModernBERT reach `WINDOW` tokens in both directions."""
    folder = FAMILIES["ModernBERT"].save(tmp_path / "model")
    text = [f"{SENTENCES[0]} {SENTENCES[1]}", SENTENCES[2]]
    seen = darksecrets.inspect(text, folder, classifier=classifier, max_length=128)
    encoder = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    tokenizer = AutoTokenizer.from_pretrained(folder)
    values = []
    for number, example in enumerate(text):
        with torch.no_grad():
            given = tokenizer(example, return_tensors="pt")
            expected = encoder(**given, output_attentions=True).attentions
        maps = torch.stack(expected)[:, 0].double().numpy()
        assert np.allclose(seen.maps[number], maps, atol=1e-3)
        length = maps.shape[-1]
        reach = [sum(abs(i - j) <= WINDOW for j in range(length)) for i in range(length)]
        values.append((np.log(length), np.mean(np.log(reach))))
    assert values[0][0] > values[0][1], "the first example is longer than a window"
    statistics = seen.measures["head_statistics"].set_index(["statistic", "layer", "head"])
    statistics = statistics["value"].sort_index()
    for layer, greatest in enumerate((0, 1, 1), 1):
        found = statistics["greatest entropy", layer]
        assert found.to_numpy() == pytest.approx(np.mean([one[greatest] for one in values]))
        assert (statistics["entropy", layer] <= found + 1e-3).all()
    assert len(seen.patterns) == 2 * LAYERS * HEADS


def test_tables_are_as_declared_and_say_what_is_unknown(model, classifier, tmp_path):
    seen = darksecrets.inspect(TEXT, model, classifier=classifier, max_length=64)
    EXAMPLES.write(seen.examples, tmp_path / "examples.csv")
    assert EXAMPLES.read(tmp_path / "examples.csv")["sentence1"].tolist() == TEXT
    PATTERN_MAPS.write(seen.patterns, tmp_path / "patterns.parquet")
    by_example = [0] * 8 + [1] * 8 + [2] * 8
    assert seen.patterns["idx"].tolist() == by_example
    for name, table in seen.measures.items():
        TABLES[name].write(table, tmp_path / f"{name}.csv")
    assert set(seen.measures["stripes"]["feature"]) == {"[CLS]", "[SEP]"}
    assert "punctuation" not in set(seen.measures["head_statistics"]["statistic"])
    assert seen.measures["token_pairs"].empty
    assert seen.measures["equal_words"].empty
    assert {"token_pairs", "equal_words", "equal_word_controls"} <= set(seen.left_out)
    assert "no pipeline" in seen.left_out["token_pairs"]
    assert darksecrets.inspect(TEXT, model, classifier=None, max_length=64).patterns is None


def test_a_parser_tells_words(model, test_data):
    seen = darksecrets.inspect(PAIRS, model, max_length=64, pipeline=str(test_data / "en_ewt"))
    assert {"noun", "punctuation"} <= set(seen.measures["stripes"]["feature"])
    assert "punctuation" in set(seen.measures["head_statistics"]["statistic"])
    assert seen.measures["equal_words"]["examples"].eq(1).all()  # the dog, the dogs
    assert set(seen.left_out) == {"framenet_heads, framenet_controls"}
    assert "equal_words" in measuring.left_out([("one sentence",)])


def test_what_is_cut_off_is_said(model, caplog):
    with caplog.at_level(logging.WARNING):
        seen = darksecrets.inspect(TEXT, model, max_length=8)
    assert seen.examples["tokens"].tolist() == [7, 8, 4]
    whole = len(AutoTokenizer.from_pretrained(model)(TEXT[1])["input_ids"])
    assert seen.examples["cut"].tolist() == [0, whole - 8, 0]
    assert f"example 2: {whole - 8} of its {whole} tokens are cut off" in caplog.text
    assert "example 1" not in caplog.text
    with pytest.raises(InputError, match=r"max_length is 65\. Set it to 64 or less"):
        darksecrets.inspect(TEXT, model, max_length=65)


def test_text_without_tokens_is_refused(model):
    with pytest.raises(InputError, match="example 2: the model's tokenizer finds no token"):
        darksecrets.inspect(["bark .", "\u200b"], model, max_length=64)
