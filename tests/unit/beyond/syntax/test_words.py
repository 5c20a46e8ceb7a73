"""Word maps, and what words attend to most, against loops over what transformers computes."""

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
import torch
from encoders import FAMILIES
from shipped_sentences import draw_sentences

from darksecrets.beyond.syntax.measure import words
from darksecrets.beyond.syntax.measure.guesses import NONE, guesses
from darksecrets.beyond.syntax.measure.running import Measured, measure
from darksecrets.core.attention import pieces
from darksecrets.core.data.sentences import Sentence
from darksecrets.core.models.hooks import observe
from darksecrets.core.models.loading import load_encoder
from darksecrets.core.models.reach import windows_of
from darksecrets.core.models.reading import Reading
from darksecrets.core.models.tokenizing import load_tokenizer
from darksecrets.core.run.errors import InputError

SENTENCES = sorted(draw_sentences(40, 3), key=len)[:12]
SETTINGS = {"max_length": 64, "batch_size": 5}


@pytest.fixture(scope="module", params=["BERT", "ModernBERT", "ALBERT", "DeBERTa-v2"])
def folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    saved: Path = FAMILIES[request.param].save(tmp_path_factory.mktemp("syntax") / "model")
    return saved


@pytest.fixture(scope="module")
def found(folder: Path) -> Measured:
    return measure(Reading(folder, **SETTINGS), SENTENCES)


def test_guesses_are_those_of_loops_over_pieces(folder, found):
    tokenizer, model = load_tokenizer(folder), load_encoder(folder)
    read = [each.sentence for each in found.read]
    assert read == [sentence for sentence in SENTENCES if sentence in read]
    assert len(read) > 3
    for sentence, guess in zip(read, found.guesses, strict=True):
        encoded = tokenizer(sentence.text, return_offsets_mapping=True)
        with torch.inference_mode(), observe(model, maps=True) as seen:
            model(**{name: torch.tensor([encoded[name]]) for name in tokenizer.model_input_names})
        spans = encoded["offset_mapping"]
        pieces = [
            [n for n, (a, b) in enumerate(spans) if a < end and b > start and b > a]
            for start, end in zip(sentence.starts, sentence.ends, strict=True)
        ]
        together = np.array([[bool({*q} & {*key}) for key in pieces] for q in pieces])
        for layer, maps in seen.maps.items():
            for head, weights in enumerate(maps[0].double().numpy()):
                of_words = np.array(
                    [
                        [np.mean([weights[q, key].sum() for q in query]) for key in pieces]
                        for query in pieces
                    ]
                )
                of_words[together] = -1
                for direction, values in enumerate((of_words, of_words.T)):
                    best = values.max(axis=1)
                    own = values[np.arange(len(values)), guess[:, layer - 1, head, direction]]
                    np.testing.assert_allclose(own, best, rtol=0, atol=1e-6)


def test_a_batch_changes_no_guess(folder, found):
    read = [each.sentence for each in found.read]
    alone = measure(Reading(folder, 64, 1), read[:3])
    for one, other in zip(alone.guesses, found.guesses, strict=False):
        assert (one == other).mean() > 0.99, "rounding may decide a tie"


def test_sentences_beyond_the_reach_of_local_attention_are_left_out(folder, found):
    tokenizer, model = load_tokenizer(folder), load_encoder(folder)
    windows = [window for window in windows_of(model, 32) if window is not None]
    longest = min(windows) + 1 if windows else 64
    kept = [s for s in SENTENCES if len(tokenizer(s.text)["input_ids"]) <= longest]
    assert [each.sentence for each in found.read] == kept
    assert (len(kept) < len(SENTENCES)) == bool(windows)


def test_pieces_are_found_by_their_place():
    """*Don't*: two words, of which the tokenizer makes one piece; a word of two pieces."""
    text = "Don't sleepwalk"
    sentence = Sentence("1", 0, text, ("Do", "n't", "sleepwalk"), (0, 2, 6), (2, 5, 15), *[()] * 3)  # type: ignore[arg-type]
    row = {
        "starts": np.array([0, 0, 6, 11, 0]),
        "ends": np.array([0, 5, 11, 15, 0]),
        "segments": np.zeros(5, dtype=int),
        "special": np.array([True, False, False, False, True]),
    }
    belongs = pieces.pieces_of_words(sentence, row)
    expected = [[0, 0, 0], [1, 1, 0], [0, 0, 1], [0, 0, 1], [0, 0, 0]]
    np.testing.assert_array_equal(belongs, np.array(expected, dtype=bool))


def test_words_that_share_all_pieces_have_no_guess():
    maps = torch.rand(1, 1, 1, 2, 2)
    apart = torch.zeros(1, 2, 2, dtype=torch.bool)
    assert (guesses(words.WordMaps([0], maps, apart)) == NONE).all()


def test_sentences_that_the_model_cannot_read_whole_are_left_out(folder):
    tokenizer = load_tokenizer(folder)
    length = {s.name: len(tokenizer(s.text)["input_ids"]) for s in SENTENCES}
    limit = max(8, sorted(length.values())[len(length) // 2])
    aligned = pieces.align(SENTENCES, tokenizer, limit)
    kept = [number for number, s in enumerate(SENTENCES) if length[s.name] <= limit]
    assert sorted(aligned.numbers) == kept
    assert len(kept) < len(SENTENCES)
    wide = replace(SENTENCES[0], text=SENTENCES[0].text + " " * 3, ends=(*SENTENCES[0].ends,))
    assert pieces.align([wide], tokenizer, 64).numbers == [0]
    with pytest.raises(InputError, match="none of which the model can read whole"):
        pieces.align([max(SENTENCES, key=len)], tokenizer, 8)
