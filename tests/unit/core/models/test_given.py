"""A model is a folder, a name on the Hub, or a loaded model with its tokenizer."""

import numpy as np
import pytest
from glue import TASKS
from tiny_models import save_classifier
from transformers import AutoModel, AutoTokenizer

from darksecrets import AttentionStore, extract, inspect, observe, plot_map
from darksecrets.core.models import given
from darksecrets.core.run.errors import InputError

TEXTS = {"sentence1": ["the dog", "a dog barks ."]}
LENGTH = 14


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return save_classifier(tmp_path_factory.mktemp("bert"), "bert", TASKS["MRPC"])


@pytest.fixture(scope="module")
def loaded(folder):
    return AutoModel.from_pretrained(folder), AutoTokenizer.from_pretrained(folder)


def test_a_loaded_model_has_the_maps_of_its_folder(folder, loaded, tmp_path):
    model, tokenizer = loaded
    extract(folder, TEXTS, tmp_path / "a", max_length=LENGTH)
    extract(model, TEXTS, tmp_path / "b", tokenizer=tokenizer, max_length=LENGTH)
    first, second = (AttentionStore.open(tmp_path / name) for name in ("a", "b"))
    for row in range(2):
        np.testing.assert_array_equal(first.maps(row), second.maps(row))
        assert first.tokens(row) == second.tokens(row)


def test_a_name_that_is_no_folder_is_one_on_the_hub(folder, monkeypatch):
    asked = []
    monkeypatch.setattr(given, "fetch_encoder", lambda source, **_: asked.append(source) or folder)
    for name in ("bert-base-uncased", "google/bert_uncased_L-2", str(folder)):
        with given.model_folder(name, None, LENGTH) as found:
            assert found == folder
    assert asked == [
        {"source": "hub", "id": "bert-base-uncased", "revision": "main"},
        {"source": "hub", "id": "google/bert_uncased_L-2", "revision": "main"},
        {"source": "folder", "folder": str(folder)},
    ]


def test_what_is_no_model_is_named(folder, loaded, tmp_path):
    model, tokenizer = loaded
    for wrong, options, message in (
        (model, {}, r"BertModel has no tokenizer.*tokenizer=tokenizer"),
        (folder, {"tokenizer": tokenizer}, "has a tokenizer of its own"),
        (5, {}, "model is a int"),
        (tmp_path / "none", {}, "There is no folder .*none. Give the folder of a model"),
    ):
        with pytest.raises(InputError, match=message):
            extract(wrong, TEXTS, tmp_path / "store", max_length=LENGTH, **options)


def test_a_decoder_is_refused_as_a_run_refuses_it(tmp_path):
    decoder = save_classifier(tmp_path / "gpt2", "gpt2", TASKS["MRPC"])
    for call in (
        lambda: extract(decoder, TEXTS, tmp_path / "store", max_length=LENGTH),
        lambda: inspect("the dog", decoder, max_length=LENGTH),
    ):
        with pytest.raises(InputError, match=r"is a decoder .*not an encoder"):
            call()


def test_an_inspection_of_a_loaded_model_says_what_it_has_and_draws(loaded):
    model, tokenizer = loaded
    found = inspect(["the dog", "a dog barks ."], model, tokenizer=tokenizer, max_length=LENGTH)
    layers, heads = found.maps[0].shape[:2]
    assert f"2 examples of 4 to 7 tokens; maps: {layers} layers × {heads} heads" in repr(found)
    figure = found.plot_map(2, 1, example=1)
    (image,) = figure.axes[0].images
    np.testing.assert_array_equal(image.get_array(), found.maps[1][1, 0].astype(np.float32))
    assert [label.get_text() for label in figure.axes[0].get_yticklabels()] == found.tokens[1]
    assert figure._repr_png_().startswith(b"\x89PNG")
    assert len(found.show().axes[0].images) == layers * heads
    for layer, head, example in ((0, 1, 0), (1, heads + 1, 0), (1, 1, 2), (1, 1, -1)):
        with pytest.raises(InputError, match="they count from"):
            found.plot_map(layer, head, example)


def test_a_map_is_drawn_with_tokens_or_numbers():
    weights = np.eye(3)
    for tokens, written in ((["a", "b", "c"], ["a", "b", "c"]), ((), ["1", "2", "3"])):
        figure = plot_map(weights, tokens)
        assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == written
    with pytest.raises(InputError, match="2 tokens for a map of 3"):
        plot_map(weights, ["a", "b"])
    with pytest.raises(InputError, match=r"one map is \[query, key\]"):
        plot_map(np.ones((2, 3)))


def test_what_was_observed_says_its_shapes(loaded):
    model, tokenizer = loaded
    with observe(model, maps=True, hidden=True) as seen:
        assert repr(seen) == "Observation(no forward pass yet)"
        model(**tokenizer("the dog", return_tensors="pt"))
    heads, size = model.config.num_attention_heads, model.config.hidden_size
    assert f"maps: layers 1 to 2, [1, {heads}, 4, 4] each" in repr(seen)
    assert f"hidden: layers 0 to 2, [1, 4, {size}] each" in repr(seen)
