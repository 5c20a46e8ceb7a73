"""Every family of encoders, against `transformers` itself, one example at a time, unpadded."""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest
import torch
from datasets import Dataset, DatasetDict
from encoders import FAMILIES, HEADS, LAYERS, PAIRS, PUBLISHED, WINDOW
from glue import TASKS
from transformers import AutoModel, AutoModelForSequenceClassification, AutoTokenizer

from darksecrets.core.attention import extraction
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.data.batches import load_split
from darksecrets.core.data.encoding import encode
from darksecrets.core.interventions.disable import disable
from darksecrets.core.interventions.sweep import choose_backend
from darksecrets.core.models import loading, suitability, tokenizing
from darksecrets.core.models.reach import windows_of
from darksecrets.core.models.session import observe, trial_inputs
from darksecrets.core.run.errors import InputError
from darksecrets.paper.features.labels import FEATURES
from darksecrets.paper.features.tokens import describe_example

RTE = TASKS["RTE"]
TOGETHER = "[CLS] A [SEP] B [SEP]"
TWICE = "[CLS] A [SEP] [SEP] B [SEP]"
#: How published models of a family join two sentences, and whether they know two segments.
JOINED = {
    "BERT": (TOGETHER, True),
    "RoBERTa": (TWICE, False),
    "DistilBERT": (TOGETHER, False),
    "ELECTRA": (TOGETHER, True),
    "ALBERT": (TOGETHER, True),
    "XLM-RoBERTa": (TWICE, False),
    "CamemBERT": (TWICE, False),
    "MPNet": (TWICE, False),
    "DeBERTa-v2": (TOGETHER, False),
    "DeBERTa-v3": (TOGETHER, False),
    "ModernBERT": (TOGETHER, False),
}
OUT_OF_REACH = ("MPNet", "DeBERTa-v2", "DeBERTa-v3")


@pytest.fixture(scope="module", params=FAMILIES)
def family(request) -> str:
    return request.param


@pytest.fixture(scope="module")
def folder(family: str, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return FAMILIES[family].save(tmp_path_factory.mktemp("encoder"))


@pytest.fixture(scope="module")
def dataset(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("data") / "RTE"
    rows = Dataset.from_dict({"idx": [3, 1, 0, 2], **PAIRS, "label": [0, 1, 1, 0]})
    DatasetDict(train=rows, validation=rows).save_to_disk(folder)
    return folder


def inputs_of(family: str, folder: Path, first: str, second: str) -> dict[str, torch.Tensor]:
    """The model's inputs for a pair, put together from the ids of each sentence."""
    tokenizer = AutoTokenizer.from_pretrained(folder)
    (a, b) = (tokenizer(text, add_special_tokens=False)["input_ids"] for text in (first, second))
    cls, sep = tokenizer.cls_token_id, tokenizer.sep_token_id
    joined, segments = JOINED[family]
    ids = [cls, *a, sep, *([sep] if joined == TWICE else []), *b, sep]
    given = {"input_ids": torch.tensor([ids])}
    if segments:
        given["token_type_ids"] = torch.tensor([[0] * (len(a) + 2) + [1] * (len(b) + 1)])
    return given


def types_of(part: dict[str, Any] | None) -> tuple[str, ...]:
    """The types that a part of a tokenizer's file consists of."""
    if part is None:
        return ()
    if part["type"] != "Sequence":
        return (part["type"],)
    (inner,) = [entry for entry in part.values() if isinstance(entry, list)]
    return tuple(each["type"] for each in inner)


def test_tokenizers_are_made_of_what_published_ones_are(family, folder):
    """The check of vocabularies lets all of these through (`load_tokenizer`)."""
    tokenizing.load_tokenizer(folder)
    content = json.loads((folder / "tokenizer.json").read_text(encoding="utf-8"))
    published = PUBLISHED[family]
    assert types_of(content["normalizer"]) == published.normalizer
    assert types_of(content["pre_tokenizer"]) == published.before
    assert content["post_processor"]["type"] in (published.after, "RobertaProcessing")


def test_pairs_are_joined_as_the_family_was_trained(family, folder):
    encoded = encode(PAIRS, tokenizing.load_tokenizer(folder), 128, layout=True)
    _, segments = JOINED[family]
    assert ("token_type_ids" in encoded) == segments
    for row, pair in enumerate(zip(*PAIRS.values(), strict=True)):
        expected = inputs_of(family, folder, *pair)
        for name, ids in expected.items():
            assert encoded[name][row] == ids[0].tolist()
        special = [bool(one) for one in encoded["special_tokens_mask"][row]]
        tokenizer = AutoTokenizer.from_pretrained(folder)
        ends = {tokenizer.cls_token_id, tokenizer.sep_token_id}
        assert special == [one in ends for one in encoded["input_ids"][row]]


def words_of(text: str, marked: int) -> list[dict[str, Any]]:
    """Words between spaces, one of which is a noun."""
    words, start = [], 0
    for number, word in enumerate(text.split()):
        start = text.index(word, start)
        tag = "NN" if number == marked else "DT"
        words.append({"text": word, "start": start, "end": start + len(word), "tag": tag})
        words[-1] |= {"dep": "dep", "head": 0, "antecedent": None}
        start += len(word)
    return words


def test_words_are_found_in_every_tokenizers_text(folder):
    """The word pieces of each word spell it, and [CLS] and [SEP] are the special tokens."""
    encoded = encode(PAIRS, tokenizing.load_tokenizer(folder), 128, layout=True)
    for row, texts in enumerate(zip(*PAIRS.values(), strict=True)):
        special = np.array(encoded["special_tokens_mask"][row], dtype=bool)
        spans, segments = (np.array(encoded[name][row]) for name in ("offset_mapping", "segments"))
        for marked, words in enumerate(zip(*(text.split() for text in texts), strict=False)):
            annotated = [words_of(text, marked) for text in texts]
            found = describe_example(0, annotated, spans, segments, special, Counter()).features
            for sentence, (text, word) in enumerate(zip(texts, words, strict=True)):
                pieces = np.flatnonzero(found[:, FEATURES.index("noun")] & (segments == sentence))
                start, end = spans[pieces, 0].min(), spans[pieces, 1].max()
                assert text[start:end].strip() == word
            assert np.flatnonzero(found[:, FEATURES.index("[CLS]")]).tolist() == [0]
            assert found[1:, FEATURES.index("[SEP]")].tolist() == special[1:].tolist()


def test_maps_are_those_of_transformers(family, folder, tmp_path):
    """Stored in half precision: the tolerance is half a unit in the last place below 1."""
    examples = {"idx": [3, 1, 0, 2], **PAIRS}
    extraction.extract_maps(folder, examples, tmp_path / "store", batch_size=4)
    store = AttentionStore.open(tmp_path / "store")
    model = AutoModel.from_pretrained(folder, attn_implementation="eager").eval()
    assert len(set(store.lengths.tolist())) > 2, "examples were padded"
    for example, idx in enumerate(store.idx.tolist()):
        row = examples["idx"].index(idx)
        given = inputs_of(family, folder, PAIRS["sentence1"][row], PAIRS["sentence2"][row])
        with torch.inference_mode():
            maps = model(**given, output_attentions=True).attentions
        expected = torch.stack(maps, dim=1)[0].numpy()
        np.testing.assert_allclose(store.maps(example), expected, rtol=0, atol=2.6e-4)
        assert expected.std() > 0.01, "the test would see a difference"
    longest = int(store.lengths[0])
    assert longest > WINDOW + 1
    assert store.windows == ((None, WINDOW, WINDOW) if family == "ModernBERT" else ())


def test_outputs_are_those_of_transformers(family, folder, dataset):
    model, _ = loading.load_classifier(folder, RTE, seed=1)
    split = load_split(dataset, "validation", tokenizing.load_tokenizer(folder), RTE, 128)
    with torch.inference_mode():
        found = model(**split.batch([0, 1, 2, 3])).logits
    own = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager")
    own.load_state_dict(model.state_dict())
    own.eval()
    for row, pair in enumerate(zip(*PAIRS.values(), strict=True)):
        with torch.inference_mode():
            expected = own(**inputs_of(family, folder, *pair)).logits[0]
        torch.testing.assert_close(found[row], expected, rtol=1e-4, atol=1e-5)
    assert found.std(dim=0).min() > 1e-3, "the test would see a difference"


# --- Disabling --------------------------------------------------------------------------------


def by_hand(
    model: AutoModelForSequenceClassification, given: dict[str, torch.Tensor], layer: int
) -> tuple[torch.Tensor, list[npt.NDArray[np.float32]]]:
    """Outputs of the model on one text with a layer disabled, and its maps."""
    with torch.inference_mode(), disable(model, {layer: "all"}), observe(model, maps=True) as seen:
        logits = model(**given).logits[0]
    return logits, [maps[0].numpy() for maps in seen.maps.values()]


@pytest.mark.parametrize("layer", [1, 2, 3])
def test_a_disabled_layer_is_uniform_over_what_a_row_reaches(family, folder, dataset, layer):
    """In padded batches of the sweep's backend as in a text of its own."""
    model, _ = loading.load_classifier(folder, RTE, seed=1)
    if family in OUT_OF_REACH:
        with pytest.raises(InputError, match="cannot be reached"), disable(model, {layer: "all"}):
            pass
        return
    split = load_split(dataset, "validation", tokenizing.load_tokenizer(folder), RTE, 128)
    from darksecrets.core.interventions.disable import Disable

    every = frozenset(range(1, HEADS + 1))
    backend = choose_backend(model, split, [None, Disable({layer: every})])
    with torch.inference_mode():
        found = backend.logits([0, 1, 2, 3], np.ones((2, 4), dtype=bool))[1]
    for row, pair in enumerate(zip(*PAIRS.values(), strict=True)):
        expected, maps = by_hand(model, inputs_of(family, folder, *pair), layer)
        np.testing.assert_allclose(found[row], expected, rtol=1e-4, atol=1e-5)
        length = maps[layer - 1].shape[-1]
        for query in range(length):
            window = WINDOW if family == "ModernBERT" and layer > 1 else length
            near = [key for key in range(length) if abs(key - query) <= window]
            of_row = np.zeros(length)
            of_row[near] = 1 / len(near)
            np.testing.assert_allclose(
                maps[layer - 1][:, query], np.tile(of_row, (HEADS, 1)), atol=1e-7
            )


@pytest.mark.parametrize("mode", ["uniform", "zero"])
def test_rows_at_padding_that_reach_no_word_give_numbers(tmp_path, mode):
    model = loading.load_encoder(FAMILIES["ModernBERT"].save(tmp_path))
    batch = trial_inputs(model, 4 + 2 * WINDOW)
    alone = {name: rows[1:, :4] for name, rows in batch.items()}
    with torch.inference_mode(), disable(model, dict.fromkeys((1, 2, 3), "all"), mode):
        found, expected = model(**batch)[0], model(**alone)[0]
    assert found.isfinite().all()
    torch.testing.assert_close(found[1, :4], expected[0], rtol=1e-5, atol=1e-5)


# --- Reach ------------------------------------------------------------------------------------


def test_the_window_shows_in_texts_that_are_longer(tmp_path):
    model = loading.load_encoder(FAMILIES["ModernBERT"].save(tmp_path))
    assert windows_of(model, WINDOW + 1) == (None,) * LAYERS
    assert windows_of(model, WINDOW + 2) == windows_of(model, 128) == (None, WINDOW, WINDOW)


def test_attention_to_earlier_words_only_is_no_window(tmp_path):
    from transformers import GPT2Config, GPT2Model

    model = GPT2Model(GPT2Config(n_layer=1, n_head=2, n_embd=8, vocab_size=9, n_positions=32))
    with pytest.raises(InputError, match="in layer 1, queries attend neither"):
        windows_of(model.eval(), 8)


# --- Checks before any job --------------------------------------------------------------------


LEARNED = {"BERT": 160, "DistilBERT": 160, "ELECTRA": 160, "ALBERT": 160} | dict.fromkeys(
    ("RoBERTa", "XLM-RoBERTa", "CamemBERT", "MPNet"), 158
)


def test_texts_longer_than_the_positions_are_refused(family, folder):
    """RoBERTa's positions begin after that of padding, which is 1; others here have no limit."""
    suitability.check_configuration(folder, LEARNED.get(family, 512))
    model = AutoModel.from_pretrained(folder)
    if family in LEARNED:
        longest = LEARNED[family]
        with torch.inference_mode():
            model(torch.full((1, longest), 5))
        with pytest.raises((IndexError, RuntimeError)), torch.inference_mode():
            model(torch.full((1, longest + 1), 5))
        with pytest.raises(
            InputError, match=f"takes at most {longest} tokens, .* is {longest + 1}"
        ):
            suitability.check_configuration(folder, longest + 1)


def test_every_family_gives_maps_of_real_tokens(family, folder):
    suitability.check_maps(loading.load_encoder(folder), folder, 12)


def test_a_tokenizer_that_does_not_frame_a_text_is_refused(tmp_path):
    """As GPT-2's with its one special token in all three roles."""
    tokenizer = FAMILIES["BERT"].tokenizer()
    FAMILIES["BERT"].save(tmp_path)
    tokenizer.backend_tokenizer.post_processor = None
    from tokenizers import processors

    tokenizer.backend_tokenizer.post_processor = processors.TemplateProcessing(
        single="$A", pair="$A $B", special_tokens=[]
    )
    tokenizer.save_pretrained(tmp_path)
    file = tmp_path / "tokenizer_config.json"
    file.write_text(file.read_text().replace("BertTokenizer", "PreTrainedTokenizerFast"))
    with pytest.raises(InputError, match=r"without \[CLS\] before and \[SEP\] after it"):
        tokenizing.load_tokenizer(tmp_path)
