"""States of words and examples against loops over what transformers computes."""

from pathlib import Path

import numpy as np
import pytest
import torch
from encoders import FAMILIES
from shipped_sentences import draw_sentences

from darksecrets.beyond.layers import declared
from darksecrets.beyond.layers.measure import states
from darksecrets.beyond.layers.measure.properties import (
    PLACES,
    example_properties,
    word_properties,
    word_types,
)
from darksecrets.core.attention.pieces import pieces_of_words
from darksecrets.core.data.conllu_files import read
from darksecrets.core.data.sentences import ROOT
from darksecrets.core.models.loading import load_encoder
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError

SENTENCES = draw_sentences(9, 3)


@pytest.fixture(scope="module", params=["BERT", "RoBERTa", "ALBERT"])
def reading(request, tmp_path_factory) -> Reading:
    folder: Path = FAMILIES[request.param].save(tmp_path_factory.mktemp("layers") / "model")
    return Reading(folder, 64, 4)


def hidden_of(reading: Reading, *texts: str):
    """The tokens of one input, and its states [layer, token, size]."""
    tokenizer, model = load_tokenizer(reading.folder), load_encoder(reading.folder)
    encoded = tokenizer(*texts, return_tensors="pt", return_offsets_mapping=True)
    offsets = encoded.pop("offset_mapping")[0].numpy()
    with torch.inference_mode():
        hidden = model(**encoded, output_hidden_states=True).hidden_states
    return encoded, offsets, torch.stack(hidden)[:, 0].numpy()


def test_a_word_has_the_mean_of_its_pieces_in_every_layer(reading, tmp_path):
    found = states.word_states(reading, SENTENCES, tmp_path / "states.npy")
    assert found.sentences == list(range(len(SENTENCES)))
    for number, sentence in enumerate(SENTENCES):
        _, offsets, hidden = hidden_of(reading, sentence.text)
        row = {
            "starts": offsets[:, 0],
            "ends": offsets[:, 1],
            "segments": np.zeros(len(offsets), dtype=int),
            "special": offsets[:, 0] == offsets[:, 1],
        }
        belongs = pieces_of_words(sentence, row)
        for word in range(len(sentence)):
            own = found.states[:, found.starts[number] + word].astype(np.float32)
            expected = hidden[:, belongs[:, word]].mean(axis=1)
            np.testing.assert_allclose(own, expected, rtol=1e-2, atol=5e-3)


def test_sentences_that_are_too_long_are_left_out_and_their_words(reading, tmp_path):
    length = [len(hidden_of(reading, one.text)[1]) for one in SENTENCES]
    limit = sorted(length)[5]
    short = Reading(reading.folder, limit, 4)
    found = states.word_states(short, SENTENCES, tmp_path / "states.npy")
    kept = [number for number in range(len(SENTENCES)) if length[number] <= limit]
    assert found.sentences == kept
    words = [len(SENTENCES[number]) for number in kept]
    assert np.diff(found.starts).tolist() == words
    assert len(word_types(found, SENTENCES)) == sum(words) == found.states.shape[1]


@pytest.mark.parametrize("factor", [1e6, float("nan")])
def test_states_that_half_precision_cannot_hold_are_refused(reading, tmp_path, monkeypatch, factor):
    load = Reading.load

    def load_large(reading: Reading):
        model = load(reading)
        for module in model.modules():
            if isinstance(module, torch.nn.LayerNorm):
                module.weight.data *= factor
        return model

    monkeypatch.setattr(Reading, "load", load_large)
    with pytest.raises(InputError, match="a hidden state is beyond ±65,504"):
        states.word_states(reading, SENTENCES, tmp_path / "states.npy")
    with pytest.raises(InputError, match="Leave the analysis `layers` out"):
        states.example_states(reading, {"sentence1": ["The dog barks."]}, 0)


def test_examples_keep_their_order_and_tokens_their_sentence(reading):
    first = ["The dog barks.", "A very long sentence about nothing in particular.", "No."]
    second = ["It was loud.", "Yes.", "A dog is a dog, of course."]
    found = states.example_states(reading, {"sentence1": first, "sentence2": second}, 0)
    for number, texts in enumerate(zip(first, second, strict=True)):
        encoded, _, hidden = hidden_of(reading, *texts)
        np.testing.assert_allclose(found.first[:, number], hidden[:, 0], rtol=1e-2, atol=5e-3)
        ids = encoded["input_ids"][0].tolist()
        segments = load_tokenizer(reading.folder)(*texts).sequence_ids()
        own = found.example == number
        assert 0 < own.sum() <= states.TOKENS
        for token in np.flatnonzero(own):
            same = [
                place
                for place in range(len(ids))
                if np.allclose(found.tokens[:, token], hidden[:, place], rtol=1e-2, atol=5e-3)
            ]
            assert any(
                ids[place] == found.piece[token] and segments[place] == found.segment[token]
                for place in same
            )


def test_examples_of_one_sentence_have_no_sentence_of_the_pair(reading):
    texts = ["The dog barks.", "No."]
    found = states.example_states(reading, {"sentence1": texts}, 0)
    names = [one.name for one in example_properties(found, np.array([0, 1]), ("no", "yes"))]
    assert names == [declared.LABEL]


def test_labels_of_words_are_those_of_the_treebank(reading, tmp_path):
    found = states.word_states(reading, SENTENCES, tmp_path / "states.npy")
    properties = {one.name: one for one in word_properties(found, SENTENCES)}
    words = [(number, place) for number, one in enumerate(SENTENCES) for place in range(len(one))]
    for name, one in properties.items():
        for item, label in zip(one.items.tolist(), one.labels.tolist(), strict=True):
            number, place = words[item]
            sentence, said = SENTENCES[number], one.classes[label]
            head = sentence.heads[place]
            if name == declared.POSITION:
                assert int(said) == place + 1
            elif name == declared.DISTANCE:
                assert int(said) == max(-4, min(4, head - place))
            elif name == declared.RELATION:
                assert said == sentence.labels[place]
            elif name == declared.NUMBER:
                assert (said == "Plur") == (sentence.tags[place] in ("NNS", "NNPS"))
    assert len(properties[declared.DISTANCE].items) == len(words) - len(SENTENCES)
    assert len(properties[declared.POSITION].items) == sum(
        min(len(one), PLACES) for one in SENTENCES
    )
    relation = properties[declared.RELATION]
    for item, other in zip(relation.items.tolist(), relation.others.tolist(), strict=True):
        number, place = words[item]
        assert words[other] == (number, SENTENCES[number].heads[place])
        assert SENTENCES[number].heads[place] != ROOT
    features = relation.features(1)
    both = (relation.items, relation.others)
    own, other = (found.states[1][rows].astype(np.float32) for rows in both)
    np.testing.assert_array_equal(features, np.concatenate([own, other, own * other], axis=1))


def test_features_of_universal_dependencies_are_read_from_their_column(tmp_path):
    path = tmp_path / "one.conllu"
    rows = [
        "1\tDogs\tdog\tNOUN\tNNS\tNumber=Plur\t2\tnsubj\t_\t_",
        "2\tbarked\tbark\tVERB\tVBD\tTense=Past|VerbForm=Fin\t0\troot\t_\t_",
        "3\t.\t.\tPUNCT\t.\t_\t2\tpunct\t_\t_",
    ]
    path.write_text("\n".join(rows) + "\n\n", encoding="utf-8")
    (sentence,) = read(path)
    assert sentence.features == ("Number=Plur", "Tense=Past|VerbForm=Fin", "")
