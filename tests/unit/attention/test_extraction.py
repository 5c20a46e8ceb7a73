"""Extraction against transformers' own attentions of single, unpadded examples."""

from __future__ import annotations

import shutil
import weakref
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from datasets import Dataset, DatasetDict
from glue import TASKS
from safetensors.torch import load_file, save_file
from tiny_models import save_classifier
from transformers import AutoModelForSequenceClassification, AutoTokenizer, FNetConfig, FNetModel

from darksecrets.attention import extraction
from darksecrets.attention.store import AttentionStore
from darksecrets.models import devices, loading
from darksecrets.run.errors import InputError

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
    """A folder with a data set of five pairs, idx from 10, and a sample of four."""
    folder = tmp_path_factory.mktemp("inputs")
    columns = {"idx": range(10, 15), "sentence1": FIRST, "sentence2": SECOND, "label": [0] * 5}
    split = Dataset.from_dict(columns)
    DatasetDict(train=split, validation=split).save_to_disk(folder / "data")
    pd.DataFrame({"idx": SAMPLE}).to_csv(folder / "sample.csv", index=False)
    return folder


@pytest.fixture(scope="module")
def bert(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return save_classifier(tmp_path_factory.mktemp("bert"), "bert", TASKS["MRPC"])


def run(
    model: Path, inputs: Path, output: Path, task: str = "MRPC", batch_size: int = 3
) -> AttentionStore:
    examples = extraction.read_sample(inputs / "data", inputs / "sample.csv")
    if task == "SST-2":
        del examples["sentence2"]
    extraction.extract(model, examples, output, max_length=14, batch_size=batch_size)
    return AttentionStore.open(output)


@pytest.mark.parametrize("task", ["MRPC", "SST-2"])
@pytest.mark.parametrize("family", ["bert", "roberta", "electra", "distilbert"])
def test_maps_are_the_classifiers_own(family: str, task: str, inputs: Path, tmp_path: Path) -> None:
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
    family: str, inputs: Path, tmp_path: Path
) -> None:
    """The encoder of a classifier drawn with the same seed, run by transformers itself."""
    task = TASKS["MRPC"]
    folder = save_classifier(tmp_path / "model", family, task)
    examples = extraction.read_sample(inputs / "data", inputs / "sample.csv")
    draw = loading.Draw(seed=3, std=0.4)
    extraction.extract(folder, examples, tmp_path / "store", max_length=14, draw=draw)
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


def test_maps_do_not_depend_on_the_padding(bert: Path, inputs: Path, tmp_path: Path) -> None:
    alone = run(bert, inputs, tmp_path / "alone", batch_size=1)
    together = run(bert, inputs, tmp_path / "together", batch_size=4)
    pd.testing.assert_frame_equal(alone.table, together.table)
    assert len(set(alone.lengths)) > 1
    for example in range(alone.examples):
        np.testing.assert_allclose(
            alone.maps(example), together.maps(example), rtol=2.0**-10, atol=2.0**-24
        )


def test_the_longest_examples_come_first_then_the_smallest_idx(
    inputs: Path, tmp_path: Path
) -> None:
    bert = save_classifier(tmp_path / "model", "bert", TASKS["SST-2"])
    store = run(bert, inputs, tmp_path / "store", "SST-2")
    # With [CLS] and [SEP]: "bark" 3; "the dog ##s bark" and "the the the the" 6; the last is cut.
    assert store.idx.tolist() == [12, 10, 13, 14]
    assert store.lengths.tolist() == [14, 6, 6, 3]


def test_layout_points_at_the_text(bert: Path, inputs: Path, tmp_path: Path) -> None:
    store = run(bert, inputs, tmp_path / "store")
    example = int(np.flatnonzero(store.idx == 10)[0])
    assert " ".join(store.tokens(example)) == "[CLS] the dog ##s bark [SEP] dog ##s bark [SEP]"
    assert store.segments(example).tolist() == [0] * 6 + [1] * 4
    assert np.flatnonzero(store.special(example)).tolist() == [0, 5, 9]
    texts = ("the dogs bark", "dogs bark")
    found = [
        texts[segment][start:end]
        for segment, (start, end) in zip(
            store.segments(example), store.offsets(example), strict=True
        )
    ]
    assert found == ["", "the", "dog", "s", "bark", "", "dog", "s", "bark", ""]


def test_a_sample_of_other_data(bert: Path, inputs: Path, tmp_path: Path) -> None:
    shutil.copytree(inputs, tmp_path / "inputs")
    pd.DataFrame({"idx": [10, 99]}).to_csv(tmp_path / "inputs" / "sample.csv", index=False)
    with pytest.raises(InputError, match=r"names 1 examples, such as idx 99"):
        run(bert, tmp_path / "inputs", tmp_path / "store")


def test_a_checkpoint_without_all_layers(bert: Path, inputs: Path, tmp_path: Path) -> None:
    folder = tmp_path / "model"
    shutil.copytree(bert, folder)
    weights = load_file(folder / "model.safetensors")
    kept = {name: tensor for name, tensor in weights.items() if "layer.1." not in name}
    assert 0 < len(kept) < len(weights)
    save_file(kept, folder / "model.safetensors", metadata={"format": "pt"})
    with pytest.raises(InputError, match=r"lacks 16 parameters of the encoder"):
        run(folder, inputs, tmp_path / "store")
    assert [path.name for path in tmp_path.iterdir()] == ["model"]


def test_a_checkpoint_without_attention(bert: Path, inputs: Path, tmp_path: Path) -> None:
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


def test_attention_to_padding(
    bert: Path, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
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


@pytest.mark.parametrize(
    ("examples", "batch_size", "expected"),
    [(5, 2, [[0, 1], [2, 3], [4]]), (2, 2, [[0, 1]]), (1, 4, [[0]])],
)
def test_batches(examples: int, batch_size: int, expected: list[list[int]]) -> None:
    assert [list(batch) for batch in extraction.batches_of(examples, batch_size)] == expected


def test_on_a_cpu_batches_are_those_of_the_configuration(bert: Path) -> None:
    model = extraction.load_encoder(bert)
    batches = extraction.batches_of(5, 2)
    assert extraction.batches_for(model, batches, [14, 10, 6, 6, 3]) == batches


def test_a_gpus_batches_hold_more_of_the_shorter_examples(
    bert: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Two layers of four heads: a map of L tokens takes 2 * 8 * L**2 bytes on the host."""

    class OnGpu:
        device = torch.device("cuda")
        config = extraction.load_encoder(bert).config

    lengths = [20, 20, 20, 10, 10, 10, 10, 10, 10, 10]
    seen = []

    def batch_size(device: torch.device, bytes_each: int, *, cpu: int, gpu: int) -> int:
        seen.append((bytes_each, gpu))
        return min(gpu, 5)

    monkeypatch.setattr(devices, "batch_size", batch_size)
    monkeypatch.setattr(extraction, "MAX_HOST_BYTES", 2 * 2 * 8 * 20**2)
    run = [range(2, 4), range(4, 6), range(6, 8), range(8, 10)]  # a later chunk
    found = extraction.batches_for(OnGpu(), run, lengths)
    assert found == [range(2, 4), range(4, 9), range(9, 10)]
    assert [most for _, most in seen] == [2, 8, 8]
    # Of an example of 20 tokens: as it is computed, and all maps in float32 and twice in float16.
    assert seen[0][0] == devices.sequence_bytes(OnGpu.config, 20) + 8 * 20**2 * (4 + 2 + 2)
    assert extraction.batches_for(OnGpu(), [], lengths) == []


@pytest.mark.parametrize("sizes", [[4, 4, 4, 4, 4], [2, 5, 3, 7, 1], [3], []])
def test_maps_arrive_in_order_while_the_next_are_computed(sizes: list[int]) -> None:
    """On a CPU, copying takes the same steps as on a GPU, one after the other."""
    asked: list[int] = []

    def computed() -> Iterator[torch.Tensor]:
        for number, size in enumerate(sizes):
            asked.append(number)
            yield torch.full((size, 2, 3), number, dtype=torch.float16)

    buffers = set()
    arrived = extraction.copy_while_computing(computed(), torch.device("cpu"))
    for number, maps in enumerate(arrived):
        assert asked == list(range(min(number + 2, len(sizes))))
        assert maps.shape == (sizes[number], 2, 3)
        assert (maps == number).all()
        buffers.add(maps.ctypes.data)
    assert asked == list(range(len(sizes)))
    if len(set(sizes)) == 1:
        assert len(buffers) == min(2, len(sizes))  # used in turns


def test_overlapped_copies_give_the_same_store(
    bert: Path, inputs: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(bert, inputs, tmp_path / "plain", batch_size=1)
    monkeypatch.setattr(extraction, "on_host", extraction.copy_while_computing)
    run(bert, inputs, tmp_path / "overlapped", batch_size=1)
    names = ("plain", "overlapped")
    plain, overlapped = ((tmp_path / name / "maps.npy").read_bytes() for name in names)
    assert plain == overlapped


def test_a_cpu_holds_one_batch_at_a_time(bert: Path, inputs: Path, tmp_path: Path) -> None:
    alive: list[weakref.ref[torch.Tensor]] = []
    compute = extraction.attention_maps

    def counted(*arguments: object) -> torch.Tensor:
        assert all(maps() is None for maps in alive), "an earlier batch is still in memory"
        maps = compute(*arguments)
        alive.append(weakref.ref(maps))
        return maps

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(extraction, "attention_maps", counted)
        run(bert, inputs, tmp_path / "store", batch_size=1)
    assert len(alive) == len(SAMPLE)


def test_extraction_says_how_it_was_done(bert: Path, inputs: Path, tmp_path: Path) -> None:
    examples = extraction.read_sample(inputs / "data", inputs / "sample.csv")
    details = extraction.extract(bert, examples, tmp_path / "store", max_length=14, batch_size=3)
    assert details == {"device": "cpu", "batches": 2, "batch_size": 3}
