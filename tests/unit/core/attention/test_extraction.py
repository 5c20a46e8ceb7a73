"""Extraction against transformers' own attentions of single, unpadded examples."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset, DatasetDict
from glue import TASKS
from tiny_models import save_classifier
from transformers import AutoModelForSequenceClassification, AutoTokenizer, FNetConfig, FNetModel

from darksecrets.core.attention import extraction
from darksecrets.core.attention.store import AttentionStore
from darksecrets.core.data.encoding import columns_of
from darksecrets.core.models import loading
from darksecrets.core.run.errors import InputError

# A weight is rounded to 11 significant bits, or to multiples of 2**-24 where it is tiny; the rest
# is room for float32 arithmetic in another order.
RELATIVE, ABSOLUTE = 2.0**-11 + 1e-4, 2.0**-24 + 1e-6

FIRST = [
    "the dogs bark",
    "dogs",
    "Unbelievable dogs don't bark . the dog",
    "the the the the",
    "bark",
]
SECOND = ["dogs bark", "the dog", "bark bark . . bark bark bark", "naive", "don't"]
SAMPLE = [13, 14, 10, 12]  # not all, and not in order


@pytest.fixture(scope="module")
def inputs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a data set of five pairs, idx from 10."""
    folder = tmp_path_factory.mktemp("inputs")
    columns = {"idx": range(10, 15), "sentence1": FIRST, "sentence2": SECOND, "label": [0] * 5}
    split = Dataset.from_dict(columns)
    DatasetDict(train=split, validation=split).save_to_disk(folder / "data")
    return folder


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("bert"), "bert", TASKS["MRPC"])


def run(
    model: Path, inputs: Path, output: Path, task: str = "MRPC", batch_size: int = 3
) -> AttentionStore:
    examples = extraction.read_sample(inputs / "data", SAMPLE)
    if task == "SST-2":
        del examples["sentence2"]
    extraction.extract_maps(model, examples, output, max_length=14, batch_size=batch_size)
    return AttentionStore.open(output)


def test_what_is_there_is_replaced_only_if_asked(bert, tmp_path):
    output = tmp_path / "store"
    extraction.extract(bert, {"sentence1": ["the dog"]}, output, max_length=14)
    texts = {"sentence1": ["the dogs bark .", "don't"]}
    with pytest.raises(InputError, match=r"store is already there.*overwrite=True"):
        extraction.extract(bert, texts, output, max_length=14)
    assert len(AttentionStore.open(output).idx) == 1
    extraction.extract(bert, texts, output, max_length=14, overwrite=True)
    assert len(AttentionStore.open(output).idx) == 2


PAIR = {"sentence1": ["the dogs bark .", "don't"], "sentence2": ["the dog", "dogs"]}


@pytest.mark.parametrize(
    "examples",
    [
        PAIR["sentence1"],
        tuple(PAIR["sentence1"]),
        iter(PAIR["sentence1"]),
        np.array(PAIR["sentence1"]),
        pd.Series(PAIR["sentence1"], index=[7, 3]),
        pd.DataFrame({"label": [0, 1], **PAIR}).drop(columns="sentence2"),
        Dataset.from_dict({"label": [0, 1], "sentence1": PAIR["sentence1"]}),
        Dataset.from_dict(PAIR)["sentence1"],
        {"sentence1": PAIR["sentence1"], "sentence2": None},
        list(zip(*PAIR.values(), strict=True)),
        [[*pair] for pair in zip(*PAIR.values(), strict=True)],
        pd.DataFrame(PAIR),
    ],
    ids=lambda examples: type(examples).__name__,
)
def test_examples_may_be_given_in_whatever_people_have(bert, examples, tmp_path):
    columns = columns_of(examples)
    pairs = "sentence2" in columns
    plain = {name: PAIR[name] for name in ("sentence1", "sentence2")[: 1 + pairs]}
    assert {name: list(texts) for name, texts in columns.items()} == plain
    extraction.extract(bert, columns, tmp_path / "given", max_length=14)
    extraction.extract(bert, plain, tmp_path / "plain", max_length=14)
    given, expected = (AttentionStore.open(tmp_path / name) for name in ("given", "plain"))
    for row in range(2):
        np.testing.assert_array_equal(given.maps(row), expected.maps(row))


@pytest.mark.parametrize(
    ("examples", "message"),
    [
        ("the dog", r"examples are 'the dog'\. Give a list"),
        (b"the dog", r"examples are b'the dog'"),
        (None, r"examples are None"),
        ({"text": ["the dog"]}, r"columns are text\. Give lists of texts as sentence1"),
        ([("the dog", "a dog"), "dogs"], r"Example 1 is 'dogs', others are pairs"),
        ([("the dog", "a dog", "dogs")], r"Example 0 is .*'dogs'\), others are pairs"),
        (["the dog", None], r"sentence1\[1\] is None"),
        (pd.Series(["the dog", float("nan")]), r"sentence1\[1\] is nan"),
        ([{"sentence1": "the dog"}], r"sentence1\[0\] is \{"),
        ([1984], r"sentence1\[0\] is 1984"),
    ],
    ids=str,
)
def test_examples_that_are_no_texts_are_refused(bert, examples, message, tmp_path):
    with pytest.raises(InputError, match=message):
        extraction.extract(bert, examples, tmp_path / "store", max_length=14)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("numbers", [[1, 1], [1], [1, 2, 3]], ids=str)
def test_numbers_of_examples_are_one_for_each(bert, numbers, tmp_path):
    examples = {"sentence1": ["the dog", "a dog"], "idx": numbers}
    with pytest.raises(InputError, match="for 2 examples"):
        extraction.extract_maps(bert, examples, tmp_path / "store", max_length=14)
    assert not (tmp_path / "store").exists()


@pytest.mark.parametrize("task", ["MRPC", "SST-2"])
@pytest.mark.parametrize("family", ["bert", "roberta", "electra", "distilbert"])
def test_maps_are_the_classifiers_own(family, task, inputs, tmp_path):
    folder = save_classifier(tmp_path / "model", family, TASKS[task])
    store = run(folder, inputs, tmp_path / "store", task)
    assert sorted(store.idx) == sorted(SAMPLE)
    assert (store.layers, store.heads) == (2, 4)

    tokenizer = AutoTokenizer.from_pretrained(folder)
    model = AutoModelForSequenceClassification.from_pretrained(folder, attn_implementation="eager")
    model.eval()
    spread = 0.0
    for example, idx in enumerate(store.idx - 10):
        texts = [FIRST[idx]] if task == "SST-2" else [FIRST[idx], SECOND[idx]]
        encoded = tokenizer(*texts, truncation=True, max_length=14, return_tensors="pt")
        with torch.no_grad():
            expected = torch.cat(model(**encoded, output_attentions=True).attentions).numpy()
        assert store.tokens(example) == tokenizer.convert_ids_to_tokens(encoded["input_ids"][0])
        maps = store.maps(example)
        assert maps.dtype == np.float16
        np.testing.assert_allclose(maps, expected, rtol=RELATIVE, atol=ABSOLUTE)
        np.testing.assert_allclose(maps.sum(axis=-1, dtype=float), 1, atol=2.0**-10)
        spread = max(spread, expected.std())
    assert spread > 0.1  # heads are far from uniform, so the comparison is meaningful


@pytest.mark.parametrize("family", ["bert", "roberta", "electra"])
def test_random_weights_are_those_that_fine_tuning_from_normal_begins_with(
    family, inputs, tmp_path
):
    """The encoder of a classifier drawn with the same seed, run by transformers itself."""
    task = TASKS["MRPC"]
    folder = save_classifier(tmp_path / "model", family, task)
    examples = extraction.read_sample(inputs / "data", SAMPLE)
    draw = loading.Draw(seed=3, std=0.4)
    extraction.extract_maps(folder, examples, tmp_path / "store", max_length=14, draw=draw)
    store = AttentionStore.open(tmp_path / "store")
    model, _ = loading.load_classifier(folder, task, seed=9, attention="eager")
    loading.draw_from_normal(model, 3, 0.4)
    tokenizer = AutoTokenizer.from_pretrained(folder)
    for example, idx in enumerate(store.idx - 10):
        encoded = tokenizer(
            FIRST[idx], SECOND[idx], truncation=True, max_length=14, return_tensors="pt"
        )
        with torch.no_grad():
            expected = torch.cat(model(**encoded, output_attentions=True).attentions).numpy()
        np.testing.assert_allclose(store.maps(example), expected, rtol=RELATIVE, atol=ABSOLUTE)
    assert expected.std() > 0.05


def test_maps_do_not_depend_on_the_padding(bert, inputs, tmp_path):
    alone = run(bert, inputs, tmp_path / "alone", batch_size=1)
    together = run(bert, inputs, tmp_path / "together", batch_size=4)
    pd.testing.assert_frame_equal(alone.table, together.table)
    assert len(set(alone.lengths)) > 1
    for example in range(alone.examples):
        np.testing.assert_allclose(
            alone.maps(example), together.maps(example), rtol=2.0**-10, atol=2.0**-24
        )


def test_the_longest_examples_come_first_then_the_smallest_idx(inputs, tmp_path):
    bert = save_classifier(tmp_path / "model", "bert", TASKS["SST-2"])
    store = run(bert, inputs, tmp_path / "store", "SST-2")
    # With [CLS] and [SEP]: "bark" 3; "the dog ##s bark" and "the the the the" 6; the last is cut.
    assert store.idx.tolist() == [12, 10, 13, 14]
    assert store.lengths.tolist() == [14, 6, 6, 3]


def test_a_sample_of_other_data(inputs):
    with pytest.raises(InputError, match=r"lacks 1 of 2 sampled examples, such as idx 99"):
        extraction.read_sample(inputs / "data", [10, 99])


def test_a_checkpoint_without_attention(bert, inputs, tmp_path):
    folder = tmp_path / "model"
    shutil.copytree(bert, folder)
    config = FNetConfig(
        vocab_size=40, hidden_size=8, num_hidden_layers=2, intermediate_size=8, type_vocab_size=2
    )
    config.num_attention_heads = 4
    FNetModel(config).save_pretrained(folder)
    with pytest.raises(InputError, match=r"FNetModel returned attention of the shapes none"):
        run(folder, inputs, tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_attention_to_padding(bert, inputs, tmp_path, monkeypatch):
    """A model that ignores the mask."""
    load = extraction.load_encoder

    def load_blind(*args: object) -> torch.nn.Module:
        model = load(*args)
        forward = model.forward
        model.forward = lambda **kwargs: forward(**kwargs | {"attention_mask": None})
        return model

    monkeypatch.setattr(extraction, "load_encoder", load_blind)
    # The first batch has the examples 12, 10 and 13, and 12 is as long as the batch.
    with pytest.raises(InputError, match=r"Example idx 10: the model attends to padding"):
        run(bert, inputs, tmp_path / "store")
    assert list(tmp_path.iterdir()) == []


def test_overlapped_copies_give_the_same_store(bert, inputs, tmp_path, monkeypatch):
    run(bert, inputs, tmp_path / "plain", batch_size=1)
    monkeypatch.setattr(extraction, "copy_to_host", extraction.copy_while_computing)
    run(bert, inputs, tmp_path / "overlapped", batch_size=1)
    names = ("plain", "overlapped")
    plain, overlapped = ((tmp_path / name / "maps.npy").read_bytes() for name in names)
    assert plain == overlapped


def test_models_that_an_interrupted_job_has_done_are_not_run_again(
    bert, inputs, tmp_path, monkeypatch
):
    other = save_classifier(tmp_path / "other", "distilbert", TASKS["MRPC"])
    models = {"pretrained": bert, "finetuned/seed-1": other, "random/seed-7": bert}
    examples = extraction.read_sample(inputs / "data", SAMPLE)
    options = {"max_length": 14, "batch_size": 3}
    extract_maps, called = extraction.extract_maps, []

    def interrupted(folder: Path, *arguments: Any, **more: Any) -> dict[str, Any]:
        called.append(folder)
        if folder == other and called.count(other) == 1:
            raise KeyboardInterrupt
        return extract_maps(folder, *arguments, **more)

    monkeypatch.setattr(extraction, "extract_maps", interrupted)
    output = tmp_path / "stores"
    with pytest.raises(KeyboardInterrupt):
        extraction.extract_models(models, examples, output, std=0.02, **options)
    assert not output.exists()
    details = extraction.extract_models(models, examples, output, std=0.02, **options)
    assert called == [bert, other, other, bert]
    assert details["pretrained"] is None
    for name, folder in models.items():
        draw = loading.Draw(7, 0.02) if name == "random/seed-7" else None
        extract_maps(folder, examples, tmp_path / name, draw=draw, **options)
        for file in ("maps.npy", "examples.parquet", "store.json"):
            assert (output / name / file).read_bytes() == (tmp_path / name / file).read_bytes()
    assert not [path for path in tmp_path.rglob(".*") if path.is_dir()]
